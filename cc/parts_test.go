package cc

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// meet gives a queue the first packets of trains, 16 ms apart.
func meet(q *queue, delays ...time.Duration) {
	for _, d := range delays {
		q.add(&sample{at: virtualStart.Add(time.Duration(q.n) * 16 * ms), first: d}, 0)
	}
}

// TestStandingQueue: the least that trains found is the queue that stands, over
// the least delay ever; fewer than three trains say nothing.
func TestStandingQueue(t *testing.T) {
	var q queue
	meet(&q, 40*ms, 40*ms)
	if _, _, ok := q.least(recently); ok {
		t.Error("two trains are enough")
	}
	for range 20 {
		meet(&q, 40*ms, 70*ms, 55*ms)
	}
	if got, _, ok := q.least(recently); !ok || got != 0 {
		t.Errorf("a queue of %v stands where some find none", got)
	}
	for range 8 {
		meet(&q, 70*ms, 55*ms, 60*ms)
	}
	if got, _, ok := q.least(recently); !ok || got != 15*ms {
		t.Errorf("a queue of %v stands, want 15ms", got)
	}
	if got := q.noise(); got < 5*ms || got > 15*ms {
		t.Errorf("noise %v", got)
	}
}

// TestBaseForgets: a route that became longer is no queue for ever, unless
// another flow is known to fill it.
func TestBaseForgets(t *testing.T) {
	for _, held := range []bool{false, true} {
		var q queue
		q.observe(virtualStart, 10*ms)
		q.filled = held
		for at := time.Duration(0); at < 3*baseHalf; at += 100 * ms {
			q.observe(virtualStart.Add(at), 30*ms)
		}
		if want := map[bool]time.Duration{false: 30 * ms, true: 10 * ms}[held]; q.base != want {
			t.Errorf("held %v: base %v", held, q.base)
		}
	}
}

// TestVirtualQueue: packets at twice the rate leave a queue of half their time,
// it drains with time, and feedback is replayed from what it showed.
func TestVirtualQueue(t *testing.T) {
	const carries = 10 * rate.Mbps // 1 ms a packet
	var h history
	var v virtualQueue
	for i := range 20 {
		p, _ := h.add(sentAt(uint64(i+1), 1, time.Duration(i)*ms/2).Sent)
		p.first = i == 0
		v.send(p, carries)
	}
	end := virtualStart.Add(19 * ms / 2)
	if got, want := v.now(end), 20*ms-19*ms/2; got != want {
		t.Errorf("queue %v, want %v", got, want)
	}
	if got := v.now(end.Add(4 * ms)); got != 20*ms-19*ms/2-4*ms {
		t.Errorf("4 ms later %v", got)
	}
	if got := v.now(end.Add(time.Second)); got != 0 || v.head != 0 {
		t.Errorf("a second later %v; the first packet met %v", got, v.head)
	}
	// The tenth met 30 ms: ten more came, each 1 ms long and 0.5 ms later.
	v.sync(&h, h.get(10), 30*ms, carries)
	if got, want := v.now(end), 30*ms+10*ms-10*ms/2; got != want {
		t.Errorf("replayed %v, want %v", got, want)
	}
}

// TestShareFallsAndRises: in proportion, and by a fixed amount.
func TestShareFallsAndRises(t *testing.T) {
	s, now := newShare(), virtualStart
	judge := func(d time.Duration, occupied bool) {
		for end := now.Add(d); now.Before(end); {
			now = now.Add(10 * ms)
			s.judge(now, occupied, 10*rate.Mbps)
		}
	}
	judge(sharePause, true)
	if s.value != 1 {
		t.Errorf("share %.2f just after the capacity became known", s.value)
	}
	judge(100*ms, true)
	if s.value > shareFall+0.03 || s.value < shareFall-0.03 {
		t.Errorf("share %.3f after 100 ms, want %v", s.value, shareFall)
	}
	judge(10*time.Second, true)
	if s.value != leastShare {
		t.Errorf("share %.3f in the end, want %v", s.value, leastShare)
	}
	judge(time.Second, false)
	if want := leastShare + shareRise; s.value < want-0.01 || s.value > want+0.01 {
		t.Errorf("share %.3f after a second alone, want %.2f", s.value, want)
	}
	judge(10*time.Second, false)
	if s.value != 1 {
		t.Errorf("share %.3f at last", s.value)
	}
}

// TestSizes: headers and resends are no part of what the encoder may make.
func TestSizes(t *testing.T) {
	const wire, interval = 12 * rate.Mbps, time.Second / 60
	var s sizes
	// 25,000 bytes a picture are 21 packets of 1218 bytes on the wire.
	full := usualPacket + ipOverheadBytes
	headers := (25_000/full + 1) * (rtpOverheadBytes + ipOverheadBytes)
	near(t, "the encoder's part", s.encoder(wire, interval), wire.Scale(1-float64(headers)/25_000), 0.001)
	near(t, "the payload's part", s.carried(wire), wire.Scale(float64(usualPacket)/float64(full)), 0.001)
	before := s.encoder(wire, interval)
	for i := range 100 { // 100 resends at once are more than a share of all
		p := sentAt(uint64(i), 1, 0)
		p.Resend = true
		s.send(p)
	}
	if got := s.encoder(wire, interval); got >= before || got < before.Scale(1-mostResends-0.01) {
		t.Errorf("%v beside resends, %v without", got, before)
	}
	s.send(sentAt(200, 1, 20*resendMemory))
	near(t, "long after resends", s.encoder(wire, interval), before, 0.02)
}

// TestProbePlan: only an estimate that limits and that nothing confirmed of late
// is probed, and never where a train would be lost or tell nothing.
func TestProbePlan(t *testing.T) {
	for _, c := range []struct {
		name  string
		state string
		age   time.Duration
		rate  rate.Rate
		off   Part
		want  bool
	}{
		{"stale", "steady", probeAfter, 8 * rate.Mbps, 0, true},
		{"fresh", "steady", probeAfter - ms, 8 * rate.Mbps, 0, false},
		{"no limit", "steady", probeAfter, defaultMax * 2, 0, false},
		{"policer", "lossy", probeAfter, 8 * rate.Mbps, 0, false},
		{"queue", "draining", probeAfter, 8 * rate.Mbps, 0, false},
		{"full queue", "competing", contendAfter, 8 * rate.Mbps, 0, true},
		{"full queue, fresh", "competing", contendAfter - ms, 8 * rate.Mbps, 0, false},
		{"switched off", "steady", probeAfter, 8 * rate.Mbps, Probes, false},
	} {
		k := New(Config{Off: c.off})
		k.cap.rate, k.cap.at = c.rate, virtualStart
		p := k.prober.plan(virtualStart.Add(c.age), k, c.state)
		if (p.ID != 0) != c.want {
			t.Errorf("%s: planned %+v", c.name, p)
		}
		if c.want && (p.Rate <= c.rate || p.Bytes < leastProbe || p.Bytes > mostProbe) {
			t.Errorf("%s: planned %+v at %v", c.name, p, c.rate)
		}
		k.update.Probe = p
		if again := k.prober.plan(virtualStart.Add(c.age+contendAfter/2), k, c.state); again != p && c.want {
			t.Errorf("%s: another train %+v at once", c.name, again)
		}
	}
}

// TestMemoryExpires: what is old, from the future or nothing is not tried.
func TestMemoryExpires(t *testing.T) {
	for _, c := range []struct {
		name string
		age  time.Duration
		rate rate.Rate
		off  Part
		want bool
	}{
		{"a minute old", time.Minute, 20 * rate.Mbps, 0, true},
		{"just in time", memoryAge, 20 * rate.Mbps, 0, true},
		{"too old", memoryAge + ms, 20 * rate.Mbps, 0, false},
		{"of the future", -ms, 20 * rate.Mbps, 0, false},
		{"nothing", time.Minute, 0, 0, false},
		{"switched off", time.Minute, 20 * rate.Mbps, Recall, false},
	} {
		k := New(Config{Off: c.off, Memory: Memory{Capacity: c.rate, At: virtualStart.Add(-c.age)}})
		u := k.OnTick(virtualStart)
		if (u.Probe.ID != 0) != c.want {
			t.Errorf("%s: %+v", c.name, u.Probe)
		}
		if u.Target != defaultStart {
			t.Errorf("%s: trusted blindly with %v", c.name, u.Target)
		}
		if m := k.Memory(virtualStart); m != (Memory{}) {
			t.Errorf("%s: remembers %+v before it knows anything", c.name, m)
		}
	}
}

// TestHistory: sequence numbers have to rise, and only the newest packets are
// remembered.
func TestHistory(t *testing.T) {
	var h history
	for _, s := range []struct {
		sequence uint64
		size     int
		ok       bool
	}{{5, 1, true}, {5, 1, false}, {4, 1, false}, {6, 0, false}, {6, -1, false}, {9, 1, true}, {8, 1, false}} {
		if _, ok := h.add(Sent{Sequence: s.sequence, SizeBytes: s.size}); ok != s.ok {
			t.Errorf("%+v: %v", s, ok)
		}
	}
	for sequence, known := range map[uint64]bool{4: false, 5: true, 7: false, 9: true, 10: false, 5 + historySize: false} {
		if got := h.get(sequence) != nil; got != known {
			t.Errorf("%d is remembered: %v", sequence, got)
		}
	}
	h.add(Sent{Sequence: 5 + historySize, SizeBytes: 1})
	if h.get(5) != nil || h.get(9) == nil {
		t.Error("a packet of before is taken for the one in its place")
	}
	h.add(Sent{Sequence: 1 << 40, SizeBytes: 1})
	if h.get(9) != nil || h.get(1<<40) == nil {
		t.Error("a jump leaves older packets")
	}
}

// TestDelivered: bytes over the time in which they arrived.
func TestDelivered(t *testing.T) {
	var d delivered
	for i := range 40 {
		for range 5 {
			d.arrive(sentAt(0, 1, 0), time.Duration(i)*25*ms) // 5 packets in 25 ms: 2 Mbit/s
		}
		if d.close(); i == 0 && d.rate() != 0 {
			t.Errorf("one feedback shows %v", d.rate())
		}
	}
	near(t, "delivered", d.rate(), 2*rate.Mbps, 0.001)
}
