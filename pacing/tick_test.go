package pacing

import (
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// windowsTick is how coarse timers are on Windows without timeBeginPeriod: 64
// interrupts a second.
const windowsTick = time.Second / 64

// bottleneck is a link that carries one packet after the other.
type bottleneck struct {
	rate  rate.Rate
	busy  time.Time     // until then with what has been sent
	worst time.Duration // queue that a packet met
	bytes int           // sent
}

func (b *bottleneck) send(now time.Time, sizeBytes int) {
	if b.busy.Before(now) {
		b.busy = now
	}
	b.worst = max(b.worst, b.busy.Sub(now))
	b.busy = b.busy.Add(b.rate.Duration(sizeBytes))
	b.bytes += sizeBytes
}

// desk is a session's loop in virtual time: a source of equal pictures at 60 a
// second, the pacer, and the bottleneck behind it.
type desk struct {
	source, pace, link rate.Rate
	tick               time.Duration // the loop wakes at its multiples only; 0: exactly
	drain              int           // packets a wake-up
}

// wake is when the loop runs again that wants to run at t.
func (d *desk) wake(t time.Time) time.Time {
	if d.tick == 0 {
		return t
	}
	return start.Add((t.Sub(start) + d.tick - 1) / d.tick * d.tick)
}

// result is what a run of a desk shows.
type result struct {
	packets int
	passed  rate.Rate
	worst   time.Duration // the link's queue, after the first second
	delay   time.Duration // from a picture's making to its last packet's leaving, p95
}

// run goes on for span. Like the session's loop it takes no picture while
// three frame intervals wait.
func (d *desk) run(span time.Duration) (r result) {
	const interval = time.Second / 60
	p := New(Config{Pace: d.pace, NoTailGuard: true})
	link := bottleneck{rate: d.link}
	each := d.source.Bytes(interval) / 1200
	var delays []time.Duration
	next, now := start, start
	for number := uint64(1); now.Before(start.Add(span)); {
		for !next.After(now) {
			if p.QueueDelay() < 3*interval {
				picture := frame(number, Video, each, 1200)
				picture[each-1].Captured = next
				enqueue(p, now, picture)
			}
			if number++; number == 60 {
				link.worst = 0 // by now the pacer has felt the tick
			}
			next = next.Add(interval)
		}
		for range d.drain {
			pkt, ok := p.Next(now)
			if !ok {
				break
			}
			link.send(now, pkt.sizeBytes())
			r.packets++
			if pkt.Marker {
				delays = append(delays, now.Sub(pkt.Captured))
			}
		}
		at := next
		if due := p.Deadline(); !due.IsZero() && due.Before(at) {
			at = due
		}
		if now = now.Add(1); at.After(now) {
			now = at
		}
		now = d.wake(now)
	}
	slices.Sort(delays)
	r.passed, r.worst, r.delay = rate.Of(link.bytes, span), link.worst, delays[len(delays)*95/100]
	return r
}

// TestCoarseTick forces the coarse tick on the loop: all that fell due in it
// leaves, and no more. So the rate is kept, the link's queue grows by what one
// tick gathered, and a picture is at most a tick later. With one packet a
// wake-up the same loop is capped.
func TestCoarseTick(t *testing.T) {
	const span = 10 * time.Second
	for _, d := range []desk{
		{source: 20 * rate.Mbps, pace: 25 * rate.Mbps, link: 22 * rate.Mbps},
		{source: 50 * rate.Mbps, pace: 55 * rate.Mbps, link: 52 * rate.Mbps},
		{source: 50 * rate.Mbps, pace: 100 * rate.Mbps, link: 52 * rate.Mbps},
		{source: 50 * rate.Mbps, pace: 60 * rate.Mbps, link: 400 * rate.Mbps},
	} {
		d.drain = 512
		exact := d.run(span)
		d.tick = windowsTick
		coarse := d.run(span)
		if coarse.passed < d.source.Scale(0.97) {
			t.Errorf("%+v: %v pass", d, coarse.passed)
		}
		if coarse.worst > exact.worst+windowsTick || coarse.delay > exact.delay+windowsTick {
			t.Errorf("%+v: %+v, without the tick %+v", d, coarse, exact)
		}
		d.drain = 1
		if capped := d.run(span); capped.packets != 640 || capped.passed > 20*rate.Mbps {
			t.Errorf("%+v: %+v with one packet a wake-up, want 64 a second", d, capped)
		}
	}
}
