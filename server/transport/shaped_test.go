package transport

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"nearglass/cc/sim"
)

// shaped is a viewer's socket behind a simulated link on the clock's time: what
// arrives is handed on when the link has carried it. What the viewer sends takes
// no time.
type shaped struct {
	*net.UDPConn
	ready chan datagram
	done  chan struct{}
	ended sync.Once

	mu      sync.Mutex
	link    *sim.Link
	held    map[uint64]datagram // on the way
	next    uint64
	woken   chan struct{} // signalled when something is on the way
	carried []carried
	late    time.Duration // by how much a packet was handed on after it was due, at most
}

type datagram struct {
	bytes []byte
	from  netip.AddrPort
}

// carried is one RTP packet that came over the link.
type carried struct {
	at    time.Time
	bytes int // on the wire
	found time.Duration
}

// ipBytes are UDP's and IPv4's headers.
const ipBytes = 8 + 20

func newShaped(conn *net.UDPConn, c sim.LinkConfig, seed uint64) *shaped {
	s := &shaped{
		UDPConn: conn, link: sim.NewLink(c, seed), held: map[uint64]datagram{},
		ready: make(chan datagram, 4096), done: make(chan struct{}), woken: make(chan struct{}, 1),
	}
	go s.read()
	go s.carry()
	return s
}

// read puts what comes in on the link.
func (s *shaped) read() {
	for b := make([]byte, 1500); ; {
		n, from, err := s.ReadFromUDPAddrPort(b)
		if err != nil {
			s.end()
			return
		}
		s.mu.Lock()
		s.next++
		if !s.link.Send(time.Now(), sim.Packet{Size: n + ipBytes, ID: s.next}) {
			s.held[s.next] = datagram{append([]byte(nil), b[:n]...), from}
		}
		s.mu.Unlock()
		select {
		case s.woken <- struct{}{}:
		default:
		}
	}
}

// carry hands on what has arrived.
func (s *shaped) carry() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if next := s.arrive(time.Now()); !next.IsZero() {
			timer.Reset(max(0, time.Until(next)))
		}
		select {
		case <-s.done:
			return
		case <-s.woken:
		case <-timer.C:
		}
	}
}

// arrive hands on what has arrived by now and says when it is to be called again.
func (s *shaped) arrive(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		d, ok := s.link.Receive(now)
		if !ok {
			return s.link.Next()
		}
		s.late = max(s.late, now.Sub(d.At))
		b := s.held[d.ID]
		delete(s.held, d.ID)
		if _, isRTP := rtpSSRC(b.bytes); isRTP {
			s.carried = append(s.carried, carried{now, d.Size, d.Found})
		}
		select {
		case s.ready <- b:
		default: // a viewer that stands still loses packets
		}
	}
}

// passed gives the RTP packets that came over the link so far.
func (s *shaped) passed() []carried {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]carried(nil), s.carried...)
}

// lateness is the longest that a packet had to wait for the processor.
func (s *shaped) lateness() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late
}

// ReadFromAddrPort reads what the link has carried.
func (s *shaped) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	select {
	case d := <-s.ready:
		return copy(b, d.bytes), d.from, nil
	case <-s.done:
		return 0, netip.AddrPort{}, io.EOF // which pion takes for the end without a word
	}
}

// WriteToAddrPort sends at once.
func (s *shaped) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return s.WriteToUDPAddrPort(b, to)
}

// Close ends the link with the socket.
func (s *shaped) Close() error {
	s.end()
	return s.UDPConn.Close()
}

func (s *shaped) end() { s.ended.Do(func() { close(s.done) }) }
