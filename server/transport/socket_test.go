package transport

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
)

func TestListenSaysWhatToDo(t *testing.T) {
	e := listen(t)
	_, err := Listen(Config{Addr: e.Addr().String()})
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "choose another port") {
		t.Errorf("port in use: %v", err)
	}
	// The same on every interface, where only one family is taken.
	_, err = Listen(Config{Addr: fmt.Sprintf(":%d", e.Addr().(*net.UDPAddr).Port)})
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("port in use on every interface: %v", err)
	}
	for _, addr := range []string{"7433", ":port", "192.0.2.7:0", "[::1"} {
		if e, err := Listen(Config{Addr: addr}); err == nil {
			t.Errorf("listening on %q succeeded", addr)
			check(t, e.Close())
		}
	}
}

// TestEveryInterface listens as a host does and wants each address of the
// machine offered, and a viewer to connect through the shared port.
func TestEveryInterface(t *testing.T) {
	e, err := Listen(Config{Addr: ":0"})
	check(t, err)
	t.Cleanup(func() { check(t, e.Close()) })
	offered := map[netip.AddrPort]bool{}
	for _, a := range e.mux.GetListenAddresses() {
		offered[a.(*net.UDPAddr).AddrPort()] = true
	}
	port := uint16(e.Addr().(*net.UDPAddr).Port)
	for _, ip := range interfaceAddrs() {
		if ip.Is6() && e.mux.v6 == nil {
			continue
		}
		if !offered[netip.AddrPortFrom(ip, port)] {
			t.Errorf("%v is not offered", ip)
		}
	}
	p := must[*Peer](t)(e.NewPeer(PeerConfig{}))
	v := newViewer(t, viewerConfig{})
	answer := v.negotiate(p, nil)
	waitEvent(t, p, Connected)
	if !strings.Contains(answer, fmt.Sprintf(" 127.0.0.1 %d typ host", port)) {
		t.Errorf("no loopback candidate in\n%s", answer)
	}
}

func TestSocketOutlivesReadErrors(t *testing.T) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(t, err)
	s := must[*socket](t)(newSocket(conn, sendEach, nil))
	read := make(chan error, 1)
	go func() {
		_, _, err := s.ReadFromAddrPort(make([]byte, 10))
		read <- err
	}()
	check(t, s.Close())
	if err := receive(t, read, "end of reading"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read: %v", err)
	}
}
