package transport

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nearglass/cc"
	"nearglass/pacing"
)

// receiver is a UDP socket that a test sends to.
type receiver struct {
	t    testing.TB
	conn *net.UDPConn
	addr netip.AddrPort
}

func newReceiver(t testing.TB, network string) *receiver {
	t.Helper()
	ip := net.IPv4(127, 0, 0, 1)
	if network == "udp6" {
		ip = net.IPv6loopback
	}
	conn, err := net.ListenUDP(network, &net.UDPAddr{IP: ip})
	if err != nil {
		t.Skipf("no %s on this machine: %v", network, err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &receiver{t, conn, conn.LocalAddr().(*net.UDPAddr).AddrPort()}
}

// packet makes a packet of sizeBytes that begins with its number.
func packet(number, sizeBytes int) []byte {
	b := make([]byte, sizeBytes)
	binary.BigEndian.PutUint32(b, uint32(number))
	return b
}

// wants reads the packets with these numbers, in order, and no more than them.
func (r *receiver) wants(sizes map[int]int, numbers ...int) {
	r.t.Helper()
	b := make([]byte, 70_000)
	for _, number := range numbers {
		if err := r.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			r.t.Fatal(err)
		}
		n, err := r.conn.Read(b)
		if err != nil {
			r.t.Fatalf("packet %d: %v", number, err)
		}
		if got := int(binary.BigEndian.Uint32(b)); got != number || n != sizes[number] {
			r.t.Fatalf("packet %d of %d bytes came, want %d of %d", got, n, number, sizes[number])
		}
	}
	r.empty()
}

// empty wants nothing to have come. Loopback delivers before the send returns.
func (r *receiver) empty() {
	r.t.Helper()
	if err := r.conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		r.t.Fatal(err)
	}
	if n, err := r.conn.Read(make([]byte, 2000)); err == nil {
		r.t.Fatalf("a packet of %d bytes came, want none", n)
	}
}

func newTestSocket(t testing.TB, network string, mode sendMode) *socket {
	t.Helper()
	s, err := newSocket(newReceiver(t, network).conn, mode, &streams{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newTestBatch is a batch whose owner flushes.
func newTestBatch() *batch {
	b := &batch{flushed: true}
	b.init()
	return b
}

// modes are those that this system has.
func modes() []sendMode {
	return []sendMode{sendEach, sendMany, sendSegments}[:bestSendMode()+1]
}

// TestEveryPacketArrives sends to two addresses what a loop writes: a first
// packet with more header than the rest, full ones, a short last one.
func TestEveryPacketArrives(t *testing.T) {
	for _, network := range []string{"udp4", "udp6"} {
		for _, mode := range modes() {
			t.Run(fmt.Sprintf("%s %v", network, mode), func(t *testing.T) {
				s := newTestSocket(t, network, mode)
				one, other := newReceiver(t, network), newReceiver(t, network)
				b := newTestBatch()
				sizes := map[int]int{}
				var toOne, toOther []int
				for i := range 60 {
					sizes[i] = 1184
					switch {
					case i%20 == 0:
						sizes[i] = 1196
					case i%20 == 19:
						sizes[i] = 333
					}
					to := one
					if i >= 20 && i < 30 || i%25 == 0 {
						to, toOther = other, append(toOther, i)
					} else {
						toOne = append(toOne, i)
					}
					b.add(s, packet(i, sizes[i]), to.addr)
				}
				one.empty()
				if err := b.flush(); err != nil {
					t.Fatal(err)
				}
				one.wants(sizes, toOne...)
				other.wants(sizes, toOther...)
			})
		}
	}
}

func numbers(from, to int) []int {
	var list []int
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// TestNothingWaitsForever: a full batch leaves, an old one leaves with the next
// Write, one for another socket leaves, and nothing waits before the first Flush.
func TestNothingWaitsForever(t *testing.T) {
	s, r := newTestSocket(t, "udp4", bestSendMode()), newReceiver(t, "udp4")
	sizes := map[int]int{}
	for i := range 200 {
		sizes[i] = 100
	}
	now := time.Unix(1e9, 0)
	b := newTestBatch()
	b.begin(now)
	for i := range batchPackets + 1 {
		b.add(s, packet(i, 100), r.addr)
	}
	r.wants(sizes, numbers(0, batchPackets)...)
	b.begin(now.Add(batchWait - 1))
	r.empty()
	b.begin(now.Add(batchWait))
	r.wants(sizes, batchPackets)

	b.add(s, packet(100, 100), r.addr)
	b.add(newTestSocket(t, "udp4", sendEach), packet(101, 100), r.addr)
	r.wants(sizes, 100)
	check(t, b.flush())
	r.wants(sizes, 101)

	b.flushed = false
	b.add(s, packet(102, 100), r.addr)
	r.wants(sizes, 102)
	check(t, b.flush())
	b.add(s, packet(103, 100), r.addr)
	r.empty()
	check(t, b.flush())
	r.wants(sizes, 103)
}

func TestLostPacketsAreCounted(t *testing.T) {
	s, r := newTestSocket(t, "udp4", bestSendMode()), newReceiver(t, "udp4")
	b := newTestBatch()
	for i := range 3 {
		b.add(s, packet(i, 100+i), r.addr)
	}
	b.add(s, packet(3, 100), netip.MustParseAddrPort("[::1]:9"))
	if err := b.flush(); err == nil || !strings.Contains(err.Error(), "1 did not leave") {
		t.Errorf("flush to an address of the other family: %v", err)
	}
	r.wants(map[int]int{0: 100, 1: 101, 2: 102}, 0, 1, 2)
	for i := range 3 {
		b.add(s, packet(i, 100), r.addr)
	}
	check(t, s.Close())
	if err := b.flush(); err == nil || !strings.Contains(err.Error(), "3 did not leave") {
		t.Errorf("flush on a closed socket: %v", err)
	}
	if err := b.flush(); err != nil {
		t.Errorf("the same losses told twice: %v", err)
	}
}

func TestOnlyRTPWaits(t *testing.T) {
	rtp := func(pt byte) []byte {
		return []byte{0x90, pt, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0xbe, 0xde}
	}
	var all streams
	b := newTestBatch()
	if all.find(rtp(102)) != nil {
		t.Error("a packet is collected before anybody asked")
	}
	all.collect(b, 9, 0)
	for _, c := range []struct {
		name   string
		packet []byte
		want   *batch
	}{
		{"video", rtp(102), b},
		{"video with marker", rtp(102 | 0x80), b},
		{"sender report", rtp(200), nil},
		{"feedback", rtp(205), nil},
		{"another stream", append(rtp(102)[:11], 8, 0, 0), nil},
		{"STUN", make([]byte, 20), nil},
		{"DTLS", append([]byte{22, 254, 253}, make([]byte, 20)...), nil},
		{"short", rtp(102)[:11], nil},
		{"larger than a slot", append(rtp(102), make([]byte, batchSlotBytes)...), nil},
	} {
		if got := all.find(c.packet); got != c.want {
			t.Errorf("%s: collected %v", c.name, got != nil)
		}
	}
	if all.bySSRC.Load() == nil || (*all.bySSRC.Load())[0] != nil {
		t.Error("SSRC zero is collected")
	}
	all.release(b)
	if all.find(rtp(102)) != nil {
		t.Error("a packet is collected for a peer that left")
	}
}

// TestFlush goes through the real stack: what is written waits for Flush, while
// a sender report does not.
func TestFlush(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{})
	v.connect(p)
	check(t, p.Flush())
	write := func(seq uint16) {
		t.Helper()
		pkt := pacing.Packet{Class: pacing.Video, Seq: seq, Captured: time.Now(), Body: []byte{0x41, 1}}
		must[cc.Sent](t)(p.Write(time.Now(), &pkt))
	}
	write(1)
	waits := func() int {
		p.batch.mu.Lock()
		defer p.batch.mu.Unlock()
		return len(p.batch.packets)
	}
	if waits() != 1 {
		t.Fatalf("%d packets wait, want 1", waits())
	}
	check(t, p.SenderReport(time.Now()))
	if waits() != 1 {
		t.Errorf("%d packets wait after a report, want 1", waits())
	}
	check(t, p.Flush())
	if got := receive(t, v.packets, "packet"); got.SequenceNumber != 1 {
		t.Errorf("packet %d", got.SequenceNumber)
	}
	write(2)
	check(t, p.Close())
	if waits() != 0 {
		t.Error("a packet was left behind")
	}
}
