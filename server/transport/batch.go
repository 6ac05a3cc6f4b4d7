package transport

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a batch. 64 datagrams are the most that UDP_SEGMENT cuts one send
// into on kernels before 6.9 (UDP_MAX_SEGMENTS), and beyond that a longer batch
// gains nothing: the system call is already a sixtieth of a packet's cost.
const (
	batchPackets   = 64
	batchSlotBytes = 1500
	batchBytes     = batchPackets * batchSlotBytes
)

// batchWait is how long a batch waits for its Flush before the next Write sends
// it: the loop's shortest tick, so that a forgotten Flush costs one tick and no
// packet.
const batchWait = time.Millisecond

// sendMode is how a system takes several datagrams at once.
type sendMode uint8

const (
	sendEach     sendMode = iota // one system call for each
	sendMany                     // sendmmsg: one system call for all
	sendSegments                 // UDP_SEGMENT: one trip through the stack for each run of equal sizes
)

// String names the mode for logs.
func (m sendMode) String() string {
	return [...]string{"one by one", "sendmmsg", "UDP_SEGMENT"}[m]
}

// waiting is one packet of a batch.
type waiting struct {
	to         netip.AddrPort
	start, end int // of its bytes in the batch's buffer
}

func (w waiting) size() int { return w.end - w.start }

// batch collects the RTP packets of one peer until they leave together. Several
// peers share a socket and each has its own batch, so that no peer waits for
// another and a run of packets to one address stays whole.
type batch struct {
	mu      sync.Mutex
	flushed bool    // somebody flushes; before that nothing waits
	socket  *socket // that the packets wait for
	packets []waiting
	bytes   []byte
	now     time.Time // of the Write in progress
	since   time.Time // when the oldest packet came
	lost    int       // since the last Flush
	err     error     // why the first of them was lost
	sender  sender
}

func (b *batch) init() {
	b.packets = make([]waiting, 0, batchPackets)
	b.bytes = make([]byte, 0, batchBytes)
	b.sender.init()
}

// begin tells the time of the Write that follows, and sends what has waited for
// too long.
func (b *batch) begin(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now
	if len(b.packets) > 0 && now.Sub(b.since) >= batchWait {
		b.send()
	}
}

// add takes one packet for a socket.
func (b *batch) add(s *socket, packet []byte, to netip.AddrPort) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.packets) > 0 && (b.socket != s || len(b.packets) == batchPackets) {
		b.send()
	}
	if len(b.packets) == 0 {
		b.socket, b.since = s, b.now
	}
	start := len(b.bytes)
	b.bytes = append(b.bytes, packet...)
	b.packets = append(b.packets, waiting{to, start, len(b.bytes)})
	if !b.flushed {
		b.send()
	}
}

// flush sends all, and says how many packets were lost since the last flush.
func (b *batch) flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flushed = true
	b.send()
	lost, err := b.lost, b.err
	b.lost, b.err = 0, nil
	if lost == 0 {
		return nil
	}
	return fmt.Errorf("send packets: %d did not leave: %w", lost, err)
}

// send empties the batch. A packet that cannot be sent is lost: the network
// would lose it as well, and to wait here would hold up the loop.
func (b *batch) send() {
	if len(b.packets) == 0 {
		return
	}
	lost, err := b.sender.send(b.socket, b.packets, b.bytes)
	b.lost += lost
	if b.err == nil {
		b.err = err
	}
	b.packets, b.bytes = b.packets[:0], b.bytes[:0]
}

// sendOneByOne is the way that every system has. It may wait where the socket's
// buffer is full.
func sendOneByOne(s *socket, packets []waiting, bytes []byte) (lost int, err error) {
	for _, p := range packets {
		if _, e := s.WriteToUDPAddrPort(bytes[p.start:p.end], p.to); e != nil {
			lost++
			if err == nil {
				err = e
			}
		}
	}
	return lost, err
}

// streams finds the batch that collects an SSRC's packets. RTP of the SSRCs
// named here comes from Peer.Write alone; all else that pion writes, STUN, DTLS
// and RTCP, passes by the batches and leaves at once.
type streams struct {
	mu     sync.Mutex // held to change the map
	bySSRC atomic.Pointer[map[uint32]*batch]
}

// find returns nil for what is not to be collected.
func (s *streams) find(packet []byte) *batch {
	ssrc, ok := rtpSSRC(packet)
	all := s.bySSRC.Load()
	if !ok || all == nil || len(packet) > batchSlotBytes {
		return nil
	}
	return (*all)[ssrc]
}

// rtpSSRC reads the SSRC of an RTP packet; false for all else that shares the
// port: STUN and DTLS (RFC 7983, 7) and RTCP (RFC 5761, 4).
func rtpSSRC(b []byte) (uint32, bool) {
	if len(b) < 12 || b[0]>>6 != 2 || b[1] >= 192 && b[1] <= 223 {
		return 0, false
	}
	return binary.BigEndian.Uint32(b[8:]), true
}

// collect has b collect the packets of the SSRCs; zero names none.
func (s *streams) collect(b *batch, ssrcs ...uint32) {
	s.change(func(all map[uint32]*batch) {
		for _, ssrc := range ssrcs {
			if ssrc != 0 {
				all[ssrc] = b
			}
		}
	})
}

// release has nothing collected by b any more.
func (s *streams) release(b *batch) {
	s.change(func(all map[uint32]*batch) {
		maps.DeleteFunc(all, func(_ uint32, of *batch) bool { return of == b })
	})
}

// change replaces the map, which readers use without a lock.
func (s *streams) change(f func(map[uint32]*batch)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := make(map[uint32]*batch)
	if all := s.bySSRC.Load(); all != nil {
		next = maps.Clone(*all)
	}
	f(next)
	s.bySSRC.Store(&next)
}
