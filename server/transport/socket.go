package transport

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"syscall"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
)

// Buffers of a socket. Linux charges about 2.3 kB for a packet of 1200 bytes
// and grants twice what is asked for, so that 2 MiB hold some 1800 packets:
// more than three viewers let go at one turn of their loops (512 each), as a key
// frame on a fast path makes them. A deeper queue would only hide a device that
// stands still. What comes in is feedback, keys and messages; 1 MiB lets the
// reader be kept from the processor for 80 ms while a viewer sends 100 Mbit/s.
const (
	sendBufferBytes    = 2 << 20
	receiveBufferBytes = 1 << 20
)

// familyMux shares one UDP port among all peers: one socket for IPv4 and one
// for IPv6, each bound to the given address or to all. pion's own
// MultiUDPMuxDefault binds to the addresses of the moment and so misses an
// interface that comes later, such as a tunnel's; this one lists them anew
// whenever a peer gathers.
type familyMux struct {
	v4, v6 *family // nil where the machine or the address lacks the family
}

// family is the mux of one socket.
type family struct {
	*ice.UDPMuxDefault
	local netip.AddrPort
}

// listenMux opens the sockets for addr.
func listenMux(addr string, collected *streams, log *slog.Logger) (*familyMux, error) {
	want, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on UDP address %q: write it like :7433 or 192.168.1.5:7433: %w", addr, err)
	}
	host, _ := netip.AddrFromSlice(want.IP)
	host = host.Unmap()
	m := &familyMux{}
	if host.Is4() || !host.IsValid() || host.IsUnspecified() {
		m.v4, err = listenFamily("udp4", host, want.Port, collected, log)
		if err != nil && (host.Is4() || !unsupportedFamily(err)) {
			return nil, listenError(addr, err)
		}
	}
	if m.v4 != nil {
		want.Port = int(m.v4.local.Port())
	}
	if !host.Is4() {
		m.v6, err = listenFamily("udp6", host, want.Port, collected, log)
		if err != nil && (m.v4 == nil || !unsupportedFamily(err)) {
			_ = m.Close()
			return nil, listenError(addr, err)
		}
	}
	return m, nil
}

// unsupportedFamily says whether err only means that this machine does not
// have the address family.
func unsupportedFamily(err error) bool {
	return errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EADDRNOTAVAIL) ||
		errors.Is(err, syscall.EPROTONOSUPPORT)
}

// listenError tells the user what to do.
func listenError(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen on UDP %s: the port is in use, perhaps by another nearglass; "+
			"stop that program or choose another port: %w", addr, err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen on UDP %s: not allowed; choose a port above 1023: %w", addr, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("listen on UDP %s: no interface of this machine has that address: %w", addr, err)
	}
	return fmt.Errorf("listen on UDP %s: %w", addr, err)
}

func listenFamily(network string, host netip.Addr, port int, collected *streams, log *slog.Logger) (*family, error) {
	bind := &net.UDPAddr{Port: port}
	if host.IsValid() && !host.IsUnspecified() {
		bind.IP, bind.Zone = host.AsSlice(), host.Zone()
	}
	conn, err := net.ListenUDP(network, bind)
	if err != nil {
		return nil, err
	}
	sizeBuffers(conn, log)
	sock, err := newSocket(conn, bestSendMode(), collected)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	log.Debug("UDP socket open", "address", conn.LocalAddr(), "sends", sock.mode)
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	mux := ice.NewUDPMuxDefault(ice.UDPMuxParams{Logger: pionLogs{log}.NewLogger("mux"), UDPConn: sock})
	return &family{mux, netip.AddrPortFrom(local.Addr().Unmap(), local.Port())}, nil
}

// sizeBuffers asks for the buffers that a host needs, and says where the kernel
// gave less: then packets of a burst are lost before they leave.
func sizeBuffers(conn *net.UDPConn, log *slog.Logger) {
	if err := errors.Join(conn.SetReadBuffer(receiveBufferBytes), conn.SetWriteBuffer(sendBufferBytes)); err != nil {
		log.Info("sizing the UDP socket's buffers failed", "error", err)
		return
	}
	send, receive, err := bufferSizes(conn)
	if err != nil {
		log.Debug("reading the UDP socket's buffer sizes failed", "error", err)
		return
	}
	if send < sendBufferBytes || receive < receiveBufferBytes {
		log.Info("the system allows the UDP socket less buffer than asked for; on Linux net.core.wmem_max and rmem_max raise it",
			"send", send, "sendAsked", sendBufferBytes, "receive", receive, "receiveAsked", receiveBufferBytes)
	}
}

// socket passes packets between pion and one UDP socket. RTP waits in a batch
// until its peer flushes; all else leaves at once. A read error on UDP concerns
// one earlier packet (Windows reports an ICMP answer that way), while pion's mux
// would stop for good, so only the end of the socket is passed on.
type socket struct {
	*net.UDPConn
	raw       syscall.RawConn
	v4        bool
	mode      sendMode
	collected *streams
}

// newSocket wraps a socket; collected says what goes into batches.
func newSocket(conn *net.UDPConn, mode sendMode, collected *streams) (*socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	local := conn.LocalAddr().(*net.UDPAddr)
	return &socket{UDPConn: conn, raw: raw, v4: local.IP.To4() != nil, mode: mode, collected: collected}, nil
}

// ReadFromAddrPort reads one datagram.
func (s *socket) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	for {
		n, from, err := s.ReadFromUDPAddrPort(b)
		var timeout net.Error
		if err == nil || errors.Is(err, net.ErrClosed) || errors.As(err, &timeout) && timeout.Timeout() {
			return n, from, err
		}
	}
}

// WriteToAddrPort sends one datagram, or has its batch keep it until the flush.
func (s *socket) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	if batch := s.collected.find(b); batch != nil {
		batch.add(s, b, to)
		return len(b), nil
	}
	return s.WriteToUDPAddrPort(b, to)
}

var _ ice.AddrPortReaderWriter = (*socket)(nil)

func (m *familyMux) families() []*family {
	var fs []*family
	for _, f := range []*family{m.v4, m.v6} {
		if f != nil {
			fs = append(fs, f)
		}
	}
	return fs
}

func (m *familyMux) addr() net.Addr {
	return net.UDPAddrFromAddrPort(m.families()[0].local)
}

func (m *familyMux) networkTypes() []webrtc.NetworkType {
	var types []webrtc.NetworkType
	if m.v4 != nil {
		types = append(types, webrtc.NetworkTypeUDP4)
	}
	if m.v6 != nil {
		types = append(types, webrtc.NetworkTypeUDP6)
	}
	return types
}

// GetConn implements ice.UDPMux: the connection of one peer in one family.
func (m *familyMux) GetConn(ufrag string, addr net.Addr) (net.PacketConn, error) {
	f := m.v6
	if udp, ok := addr.(*net.UDPAddr); ok && udp.IP.To4() != nil {
		f = m.v4
	}
	if f == nil {
		return nil, fmt.Errorf("no socket for %v", addr)
	}
	return f.GetConn(ufrag, addr)
}

// RemoveConnByUfrag implements ice.UDPMux.
func (m *familyMux) RemoveConnByUfrag(ufrag string) {
	for _, f := range m.families() {
		f.RemoveConnByUfrag(ufrag)
	}
}

// GetListenAddresses implements ice.UDPMux: every address at which this
// machine can be reached now.
func (m *familyMux) GetListenAddresses() []net.Addr {
	var addrs []net.Addr
	for _, f := range m.families() {
		if !f.local.Addr().IsUnspecified() {
			addrs = append(addrs, net.UDPAddrFromAddrPort(f.local))
			continue
		}
		for _, ip := range interfaceAddrs() {
			if ip.Is4() == f.local.Addr().Is4() {
				addrs = append(addrs, net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, f.local.Port())))
			}
		}
	}
	return addrs
}

// interfaceAddrs lists the addresses of all interfaces that are up, without
// IPv6 link-local ones: browsers can neither offer nor use their zone.
func interfaceAddrs() []netip.Addr {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var ips []netip.Addr
	for _, i := range interfaces {
		addrs, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 {
			continue
		}
		for _, a := range addrs {
			prefix, ok := a.(*net.IPNet)
			if !ok {
				continue
			}
			ip, ok := netip.AddrFromSlice(prefix.IP)
			if ip = ip.Unmap(); ok && !(ip.Is6() && ip.IsLinkLocalUnicast()) && !ip.IsMulticast() {
				ips = append(ips, ip)
			}
		}
	}
	return ips
}

// Close closes the sockets.
func (m *familyMux) Close() error {
	var errs []error
	for _, f := range m.families() {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
