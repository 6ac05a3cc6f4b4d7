package cc

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

const ms = time.Millisecond

// wirePacket is a packet of 1250 bytes on the wire: 1 ms at 10 Mbit/s.
const wirePacket = 1250

// sentAt makes a packet of a picture, sent at a time.
func sentAt(sequence, frame uint64, at time.Duration) *packet {
	return &packet{
		Sent:      Sent{Sequence: sequence, Frame: frame, At: virtualStart.Add(at), SizeBytes: wirePacket - ipOverheadBytes},
		wireBytes: wirePacket, first: true,
	}
}

// spaced makes a train of n packets, sent and received at these intervals.
func spaced(at time.Duration, n int, sent, received time.Duration) sample {
	var t train
	for i := range n {
		d := time.Duration(i)
		t.add(sentAt(uint64(i), 1, at+d*sent), at+d*received)
	}
	s, _ := t.close()
	return s
}

func TestTrainGaugesTheBottleneck(t *testing.T) {
	for _, c := range []struct {
		name           string
		n              int
		sent, received time.Duration
		gauges, spread bool
		rate           rate.Rate
	}{
		{"spread to 10 Mbit/s", 10, ms / 4, ms, true, true, 10 * rate.Mbps},
		{"spread to 2 Mbit/s", 10, ms, 5 * ms, true, true, 2 * rate.Mbps},
		{"let through as it was", 10, ms, ms, true, false, 10 * rate.Mbps},
		{"compressed by WiFi", 10, ms, 0, true, false, 0},
		{"one packet", 1, 0, 0, false, false, 0},
	} {
		s := spaced(0, c.n, c.sent, c.received)
		if s.gauges() != c.gauges || s.spread() != c.spread {
			t.Errorf("%s: gauges %v, spread %v", c.name, s.gauges(), s.spread())
		}
		if got := rate.Of(s.bytes, s.received); got != c.rate {
			t.Errorf("%s: shows %v, want %v", c.name, got, c.rate)
		}
	}
}

// TestTrainsAreToldApart: a new picture, a probe and a pause each end a train; a
// resend within it does not.
func TestTrainsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *packet)
		apart  bool
	}{
		{"same picture", func(*packet) {}, false},
		{"next picture", func(p *packet) { p.Frame++ }, true},
		{"resend", func(p *packet) { p.Frame, p.Resend = 0, true }, false},
		{"probe", func(p *packet) { p.Probe = 1 }, true},
		{"pause", func(p *packet) { p.At = p.At.Add(trainGap) }, true},
	} {
		var x train
		x.add(sentAt(1, 1, 0), 0)
		p := sentAt(2, 1, ms)
		c.change(p)
		if _, apart := x.add(p, ms); apart != c.apart {
			t.Errorf("%s: apart is %v", c.name, apart)
		}
	}
}

// TestLostPacketsTookTheirTime: what was lost behind the bottleneck took its
// time there; what a full queue refused did not.
func TestLostPacketsTookTheirTime(t *testing.T) {
	for _, refused := range []bool{false, true} {
		var x train
		x.add(sentAt(1, 1, 0), 0)
		x.miss(sentAt(2, 1, 0), refused)
		x.add(sentAt(3, 1, 0), 2*ms)
		s, _ := x.close()
		want := 2 * wirePacket
		if refused {
			want = wirePacket
		}
		if s.bytes != want || s.packets != 2 {
			t.Errorf("refused %v: %d bytes, %d packets", refused, s.bytes, s.packets)
		}
	}
}

// TestTailOfATrain: the last packets by themselves show a path that shrinks
// while a train is under way.
func TestTailOfATrain(t *testing.T) {
	var c capacity
	for i := range 8 {
		c.add(spaced(time.Duration(i)*16*ms, 10, ms/4, ms))
		c.update(1, false, false)
	}
	near(t, "before", c.rate, 10*rate.Mbps, 0.05)
	var x train
	at, arrived := 8*16*ms, 8*16*ms
	for i := range 9 {
		x.add(sentAt(uint64(i), 1, at+time.Duration(i)*ms/4), arrived)
		if i < 5 {
			arrived += ms
		} else {
			arrived += 5 * ms // 2 Mbit/s
		}
	}
	s, _ := x.close()
	if s.tailBytes != tailPackets*wirePacket || s.tail != tailPackets*5*ms {
		t.Fatalf("the tail is %d bytes in %v", s.tailBytes, s.tail)
	}
	c.add(s)
	c.update(1, false, false)
	near(t, "after", c.rate, 2*rate.Mbps, 0.05)
}

// feed gives trains to an estimate, one a picture.
func feed(c *capacity, n int, make func(i int, at time.Duration) sample) {
	for i := range n {
		c.add(make(i, time.Duration(c.n)*16*ms))
		c.update(1, false, false)
	}
}

func even(sent, received time.Duration) func(int, time.Duration) sample {
	return func(_ int, at time.Duration) sample { return spaced(at, 10, sent, received) }
}

// TestCapacityFollowsTrains: trains that the path spread say what it carries,
// others only that it carries at least so much.
func TestCapacityFollowsTrains(t *testing.T) {
	const grainDoubt = 0.05
	for _, c := range []struct {
		name           string
		sent, received time.Duration
		want           rate.Rate
	}{
		{"holds", ms / 4, ms, 10 * rate.Mbps},
		{"fell", ms / 4, 4 * ms, 2500 * rate.Kbps},
		{"rose", ms / 8, ms / 2, 20 * rate.Mbps},
		{"paced below it", 3 * ms / 2, 3 * ms / 2, 10 * rate.Mbps},
		{"paced above it, not spread", ms / 2, ms / 2, 20 * rate.Mbps},
		{"compressed", 2 * ms, 0, 10 * rate.Mbps},
	} {
		var x capacity
		feed(&x, 20, even(ms/4, ms))
		feed(&x, 12, even(c.sent, c.received))
		near(t, c.name, x.rate, c.want, grainDoubt)
	}
}

// TestOneLateTrainIsChance: on a path that is not perfectly even, a single train
// that came slowly changes little; two of them do.
func TestOneLateTrainIsChance(t *testing.T) {
	var x capacity
	feed(&x, 24, func(i int, at time.Duration) sample {
		return spaced(at, 10, ms/4, ms+time.Duration(i%2)*ms*35/100) // 10 and 7.4 Mbit/s
	})
	if x.noise <= steadiness || x.rough {
		t.Fatalf("noise %.3f, rough %v", x.noise, x.rough)
	}
	feed(&x, 1, even(ms/4, 3*ms))
	if x.rate < 5*rate.Mbps {
		t.Errorf("one slow train: %v", x.rate)
	}
	feed(&x, 1, even(ms/4, 3*ms))
	near(t, "two slow trains", x.rate, 10*rate.Mbps/3, 0.15)
}

// TestRoughTrainsAreSummed: half of the trains come at 20 and half at 9 Mbit/s,
// too short for a sudden fall; all together took what their bytes took.
func TestRoughTrainsAreSummed(t *testing.T) {
	x := capacity{rough: true, noise: 2 * roughness}
	feed(&x, capacitySamples, func(i int, at time.Duration) sample {
		return spaced(at, 4, ms/8, ms/2+time.Duration(i%2)*ms*6/10)
	})
	if !x.rough {
		t.Fatalf("passes for calm now: noise %.2f", x.noise)
	}
	near(t, "the sum", x.rate, rate.Of(2*wirePacket, ms/2+ms*11/10), 0.1)
}
