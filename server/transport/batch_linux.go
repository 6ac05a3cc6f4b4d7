package transport

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bounds of one send that UDP_SEGMENT cuts (kernel, net/ipv4/udp.c): so many
// segments, and so many bytes that the whole is a valid IPv6 datagram.
const (
	maxSegments     = 64
	maxSegmentBytes = 0xffff - 40 - 8
)

// plainRemembered is how many addresses a sender remembers as reached by an
// interface that cannot cut segments. A viewer has one or two.
const plainRemembered = 4

// segmentSize is the control message that asks for UDP_SEGMENT. It is laid out
// as the kernel's cmsghdr with its data, rounded up to a word.
type segmentSize struct {
	header unix.Cmsghdr
	bytes  uint16
	_      [6]byte
}

// sender sends a batch by sendmmsg, whose messages are runs of packets where
// the path takes UDP_SEGMENT and single packets elsewhere. Everything that the
// kernel reads has its place here, so that nothing is allocated.
type sender struct {
	// sendmmsg is the system call; tests put another in its place.
	sendmmsg func(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno)
	// attempt is one call of it, as RawConn wants it.
	attempt func(fd uintptr) bool
	todo    []unix.Mmsghdr // that attempt sends
	done    int            // how many left
	errno   syscall.Errno  // why none did

	messages [batchPackets]unix.Mmsghdr
	counts   [batchPackets]int // packets in each message
	vectors  [batchPackets]unix.Iovec
	names    [batchPackets]unix.RawSockaddrInet6 // has room for IPv4's
	sizes    [batchPackets]segmentSize

	plain []netip.AddrPort // where UDP_SEGMENT failed
}

func (s *sender) init() {
	s.sendmmsg = sendmmsg
	s.attempt = func(fd uintptr) bool {
		s.done, s.errno = s.sendmmsg(fd, s.todo)
		return true // never wait for room in the socket's buffer
	}
}

// sendmmsg never waits, and so the scheduler is not told of it: it would take
// the loop's processor away when a long batch is on its way, and the loop would
// queue for another while packets are due.
func sendmmsg(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(unsafe.SliceData(messages))),
		uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// send sends packets in order and counts those that were lost.
func (s *sender) send(to *socket, packets []waiting, bytes []byte) (lost int, err error) {
	if to.mode == sendEach || slices.ContainsFunc(packets, to.leavesToNet) {
		return sendOneByOne(to, packets, bytes)
	}
	for len(packets) > 0 {
		gone, dropped, e := s.try(to, packets, bytes)
		packets = packets[gone:]
		lost += dropped
		if err == nil {
			err = e
		}
	}
	return lost, err
}

// leavesToNet says whether a packet's address needs the net package: one with a
// zone, whose number only that knows, or one that the socket cannot reach, for
// which it has the right error. Browsers offer neither.
func (s *socket) leavesToNet(p waiting) bool {
	addr := p.to.Addr()
	return s.v4 && !addr.Is4() && !addr.Is4In6() || addr.Zone() != ""
}

// try sends the packets until one call fails, and says how many are done with,
// the lost ones among them. sendmmsg reports an error only of its first message.
func (s *sender) try(to *socket, packets []waiting, bytes []byte) (gone, lost int, err error) {
	count := s.prepare(to, packets, bytes)
	for i := 0; i < count; {
		s.todo, s.done, s.errno = s.messages[i:count], 0, 0
		if err := to.raw.Write(s.attempt); err != nil { // the socket was closed
			return len(packets), len(packets) - gone, err
		}
		switch {
		case s.errno == unix.EINTR:
		case s.errno == 0 && s.done > 0:
			for range s.done {
				gone += s.counts[i]
				i++
			}
		case s.errno == 0, s.errno == unix.EAGAIN:
			// The device stands still with a full buffer. What comes late
			// is of no use, and the loop must not wait.
			return len(packets), len(packets) - gone, unix.EAGAIN
		case s.counts[i] > 1 && refusesSegments(s.errno):
			s.avoidSegments(packets[gone].to)
			return gone, 0, nil // the rest goes again, packet by packet
		default:
			return gone + s.counts[i], s.counts[i], s.errno
		}
	}
	return gone, 0, nil
}

// refusesSegments says whether an error may mean that this path cannot cut
// segments: no checksum offload or IPsec on the way (EIO), segments larger than
// the path's MTU (EINVAL, EMSGSIZE), or a protocol that knows none.
func refusesSegments(errno syscall.Errno) bool {
	switch errno {
	case unix.EIO, unix.EINVAL, unix.EMSGSIZE, unix.EOPNOTSUPP, unix.ENOPROTOOPT:
		return true
	}
	return false
}

// avoidSegments remembers an address as one to send single packets to.
func (s *sender) avoidSegments(to netip.AddrPort) {
	if len(s.plain) == plainRemembered {
		s.plain = slices.Delete(s.plain, 0, 1)
	}
	s.plain = append(s.plain, to)
}

// prepare lays the packets out as messages and returns how many those are.
func (s *sender) prepare(to *socket, packets []waiting, bytes []byte) int {
	count := 0
	for len(packets) > 0 {
		n := 1
		if to.mode == sendSegments && !slices.Contains(s.plain, packets[0].to) {
			n = segmentRun(packets)
		}
		s.message(count, to, packets[:n], bytes)
		s.counts[count] = n
		packets = packets[n:]
		count++
	}
	return count
}

// segmentRun says how many packets from the first on can leave as one: to one
// address and of one size, the last perhaps shorter.
func segmentRun(packets []waiting) int {
	first := packets[0]
	n := 1
	for n < min(len(packets), maxSegments) {
		p := packets[n]
		if p.to != first.to || p.size() > first.size() || p.end-first.start > maxSegmentBytes {
			break
		}
		n++
		if p.size() < first.size() {
			break
		}
	}
	return n
}

// message fills the message i with a run of packets.
func (s *sender) message(i int, to *socket, run []waiting, bytes []byte) {
	first, last := run[0], run[len(run)-1]
	vector := &s.vectors[i]
	vector.Base = &bytes[first.start]
	vector.SetLen(last.end - first.start)
	h := &s.messages[i].Hdr
	*h = unix.Msghdr{Name: (*byte)(unsafe.Pointer(&s.names[i])), Iov: vector}
	h.Namelen = setName(&s.names[i], first.to, to.v4)
	h.SetIovlen(1)
	if len(run) == 1 {
		return
	}
	size := &s.sizes[i]
	size.header = unix.Cmsghdr{Level: unix.SOL_UDP, Type: unix.UDP_SEGMENT}
	size.header.SetLen(unix.CmsgLen(2))
	size.bytes = uint16(first.size())
	h.Control = (*byte)(unsafe.Pointer(size))
	h.SetControllen(unix.CmsgSpace(2))
}

// setName writes an address as the kernel reads it and returns its length.
func setName(name *unix.RawSockaddrInet6, to netip.AddrPort, v4 bool) uint32 {
	port := [2]byte{byte(to.Port() >> 8), byte(to.Port())}
	if v4 {
		n := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		*n = unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: to.Addr().Unmap().As4()}
		*(*[2]byte)(unsafe.Pointer(&n.Port)) = port
		return unix.SizeofSockaddrInet4
	}
	*name = unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: to.Addr().As16()}
	*(*[2]byte)(unsafe.Pointer(&name.Port)) = port
	return unix.SizeofSockaddrInet6
}

// bestSendMode says how this system takes several datagrams. It is found out by
// doing it, over loopback: an old kernel takes UDP_SEGMENT without a word and
// sends one large datagram.
var bestSendMode = sync.OnceValue(func() sendMode {
	for _, mode := range []sendMode{sendSegments, sendMany} {
		if sendsInMode(mode) == nil {
			return mode
		}
	}
	return sendEach
})

// probeTime is how long a probe of loopback waits for its packets. They are
// there when the send returns.
const probeTime = 100 * time.Millisecond

// sendsInMode sends two packets over loopback in one go and wants two back.
func sendsInMode(mode sendMode) error {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	s, err := newSocket(conn, mode, nil)
	if err != nil {
		return err
	}
	var b batch
	b.init()
	b.flushed = true
	for range 2 {
		b.add(s, make([]byte, 8), conn.LocalAddr().(*net.UDPAddr).AddrPort())
	}
	if err := b.flush(); err != nil {
		return err
	}
	if len(b.sender.plain) > 0 {
		return errors.ErrUnsupported
	}
	if err := conn.SetReadDeadline(time.Now().Add(probeTime)); err != nil {
		return err
	}
	for range 2 {
		if n, err := conn.Read(make([]byte, 100)); err != nil || n != 8 {
			return errors.Join(errors.ErrUnsupported, err)
		}
	}
	return nil
}
