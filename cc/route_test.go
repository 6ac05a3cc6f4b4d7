package cc

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// switchedRoad is a road on which packets take another path after 6 s: its rate,
// its delay each way, and how long after the switch the controller is told.
type switchedRoad struct {
	before, after           rate.Rate
	delayBefore, delayAfter time.Duration
	hint                    time.Duration // below zero: never
	relayed                 bool
	memory                  rate.Rate
}

const switchAt = 6 * time.Second

func (s switchedRoad) drive() *road {
	r := &road{delay: s.delayBefore, limit: 2 * time.Second}
	r.rate = func(at time.Duration) rate.Rate {
		if at < switchAt {
			return s.before
		}
		return s.after
	}
	r.drive(Config{}, switchAt)
	r.delay = s.delayAfter
	if s.hint >= 0 {
		r.on(switchAt + s.hint)
		now := virtualStart.Add(r.at)
		m := Memory{Capacity: s.memory, At: now.Add(-time.Minute)}
		r.u = r.c.RouteChanged(now, m, s.relayed)
	}
	return r.on(switchAt + 12*time.Second)
}

// used is what got through of the new path, as a share, from one second after
// the switch until another.
func (s switchedRoad) used(r *road, until time.Duration) float64 {
	return float64(r.passed(switchAt+time.Second, switchAt+until)) / float64(s.after)
}

// TestRouteChanged: a controller that is told of another path uses it soon, and
// lets no queue stand on it. One that is not told finds its way too, more slowly
// to a longer path: it takes the longer delay for a queue.
func TestRouteChanged(t *testing.T) {
	const direct, relay = 5 * time.Millisecond, 45 * time.Millisecond
	for name, s := range map[string]switchedRoad{
		"direct to a narrow relay":      {20 * rate.Mbps, 3 * rate.Mbps, direct, relay, 700 * time.Millisecond, true, 0},
		"direct to a wide relay":        {20 * rate.Mbps, 15 * rate.Mbps, direct, relay, 700 * time.Millisecond, true, 0},
		"to a relay, told at once":      {20 * rate.Mbps, 3 * rate.Mbps, direct, relay, 0, true, 0},
		"to a relay that is remembered": {20 * rate.Mbps, 10 * rate.Mbps, direct, relay, 300 * time.Millisecond, true, 10 * rate.Mbps},
		"relay to direct":               {3 * rate.Mbps, 20 * rate.Mbps, relay, direct, 700 * time.Millisecond, false, 0},
		"relay to direct, remembered":   {3 * rate.Mbps, 20 * rate.Mbps, relay, direct, 700 * time.Millisecond, false, 20 * rate.Mbps},
		"same path after all":           {8 * rate.Mbps, 8 * rate.Mbps, direct, direct, 700 * time.Millisecond, false, 0},
	} {
		r := s.drive()
		told, queue := s.used(r, 6*time.Second), r.queue(switchAt+3*time.Second)
		t.Logf("%s: uses %.0f %% within 6 s, queue %s", name, 100*told, queue.Round(time.Millisecond))
		if told < 0.7 {
			t.Errorf("%s: uses %.0f %% of the new path", name, 100*told)
		}
		if queue > 20*time.Millisecond {
			t.Errorf("%s: a queue of %s stands", name, queue)
		}
		s.hint = -1
		if untold := s.used(s.drive(), 6*time.Second); untold > told+0.1 {
			t.Errorf("%s: being told costs: %.0f against %.0f %%", name, 100*told, 100*untold)
		} else {
			t.Logf("   untold %.0f %%", 100*untold)
		}
	}
}

// TestRelayedStartIsCareful: half the start, and what arrives of an old path is
// no measure of the new one.
func TestRelayedStartIsCareful(t *testing.T) {
	if got := New(Config{Relayed: true}).OnTick(virtualStart).Target; got != defaultStart/2 {
		t.Errorf("starts with %v", got)
	}
	if got := New(Config{Relayed: true, Min: 800 * rate.Kbps}).OnTick(virtualStart).Target; got != 800*rate.Kbps {
		t.Errorf("starts below the least: %v", got)
	}
	c := New(Config{})
	now := virtualStart
	c.OnTick(now)
	var acks []Ack
	for i := range uint64(20) {
		c.OnSent(now, Sent{Sequence: i, SizeBytes: 1190, At: now, Frame: 1 + i/10})
		acks = append(acks, Ack{Sequence: i, Arrived: time.Duration(i) * time.Millisecond})
	}
	u := c.RouteChanged(now, Memory{}, true)
	now = now.Add(50 * time.Millisecond)
	if got := c.OnFeedback(now, acks); got != u || c.cap.rate != 0 {
		t.Errorf("packets of the old path gauged the new one: %+v, %v", got, c.cap.rate)
	}
	if d := c.Deadline(); !d.IsZero() {
		t.Errorf("what was answered for is waited for until %s", d)
	}
	m := Memory{Capacity: 4 * rate.Mbps, At: now}
	first, second := c.RouteChanged(now, m, false).Probe, c.RouteChanged(now, m, false).Probe
	if first.ID == 0 || first.Rate != 5*rate.Mbps || second.ID == first.ID {
		t.Errorf("what is remembered is probed with %+v, then %+v", first, second)
	}
}

// TestRouteWithSmallPictures: where each picture is one packet, a train of its
// own gauges the new path, and again when the first one is lost.
func TestRouteWithSmallPictures(t *testing.T) {
	for _, lost := range []bool{false, true} {
		c := New(Config{})
		now := virtualStart
		c.OnTick(now)
		u := c.RouteChanged(now, Memory{}, true)
		probe, sequence, trains := uint32(0), uint64(0), 0
		for range 40 { // reports, each of three pictures and perhaps a train
			var acks []Ack
			send := func(size int, frame uint64, probe uint32, every time.Duration, gone bool) {
				c.OnSent(now, Sent{Sequence: sequence, SizeBytes: size, At: now, Frame: frame, Probe: probe})
				arrived := now.Sub(virtualStart) + 40*time.Millisecond
				acks = append(acks, Ack{Sequence: sequence, Arrived: arrived.Truncate(arrivalGrain), Lost: gone})
				now = now.Add(every)
				sequence++
			}
			for range 3 {
				send(800, sequence, 0, time.Second/60, false)
			}
			if p := u.Probe; p.ID != probe && p.ID != 0 {
				probe = p.ID
				trains++
				for range p.Bytes / 1190 {
					send(1190, 0, probe, 2*time.Millisecond, lost && trains == 1)
				}
			}
			now = now.Add(10 * time.Millisecond)
			u = c.OnFeedback(now, acks)
		}
		if want := map[bool]int{false: 1, true: 2}[lost]; trains < want {
			t.Errorf("first train lost %t: %d trains", lost, trains)
		}
		if u.State == "starting" || c.cap.rate <= 0 {
			t.Errorf("first train lost %t: after 2 s still %q", lost, u.State)
		}
	}
}
