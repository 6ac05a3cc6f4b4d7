package pacing

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// drainAt counts what leaves at one instant.
func drainAt(p *Pacer, now time.Time) (packets int) {
	for {
		if _, ok := p.Next(now); !ok {
			return packets
		}
		packets++
	}
}

// TestBurstWindow: after any idleness the window's worth leaves at once, and
// a late wake-up while packets wait brings what fell due in it.
func TestBurstWindow(t *testing.T) {
	const pace = 96 * rate.Mbps // ten packets a millisecond
	ms := time.Millisecond
	for _, c := range []struct {
		name         string
		window, idle time.Duration
		late         time.Duration // from the pictures' coming to the first Next
		want         int
	}{
		{"default", 5 * ms, time.Hour, 0, 51},
		{"shorter idleness", 5 * ms, 3 * ms, 0, 31},
		{"none", 0, time.Hour, 0, 5}, // MinBurstBytes, and the packet that overdraws them
		{"a frame", 16 * ms, time.Hour, 0, 161},
		{"negative", -ms, time.Hour, 0, 5},
		{"beyond the bound", time.Hour, time.Hour, 0, 1001},
		{"woken late", 5 * ms, time.Hour, 10 * ms, 151},
		{"woken very late", 5 * ms, time.Hour, time.Hour, 201},
		{"woken very late with a long window", 50 * ms, time.Hour, time.Hour, 501},
	} {
		p := New(Config{Pace: pace, NoTailGuard: true})
		enqueue(p, start, frame(1, KeyFrame, 2000, 1200))
		now := walk(t, p, start, start.Add(time.Second))[1999].at // saved nothing: debt of one packet
		p.SetBurst(now, c.window)
		now = now.Add(pace.Duration(1200) + c.idle)
		enqueue(p, now, frame(2, Video, 2000, 1200))
		if got := drainAt(p, now.Add(c.late)); got != c.want {
			t.Errorf("%s: %d packets at once, want %d", c.name, got, c.want)
		}
	}
}

// TestLatenessIsNotSaved: once what was due has left, the rest of the time that
// the timer was late counts no more than other idleness.
func TestLatenessIsNotSaved(t *testing.T) {
	p := New(Config{Pace: 96 * rate.Mbps, NoTailGuard: true})
	enqueue(p, start, frame(1, KeyFrame, 60, 1200))
	drainAt(p, start)
	now := start.Add(15 * time.Millisecond)
	if n := drainAt(p, now); n != 9 {
		t.Errorf("%d packets were left", n)
	}
	enqueue(p, now, frame(2, Video, 1000, 1200))
	if n := drainAt(p, now); n != 51 {
		t.Errorf("%d packets at once after a late wake-up that had little to do", n)
	}
}

// TestBurstOfAFrame: on a path that takes bursts, a window of a frame interval
// lets each picture go at once, though the pace is little above the rate.
func TestBurstOfAFrame(t *testing.T) {
	const interval = time.Second / 60
	p := New(Config{Pace: 55 * rate.Mbps, NoTailGuard: true})
	p.SetBurst(start, interval)
	now := start
	for number := range uint64(600) {
		enqueue(p, now, frame(number+1, Video, 80+int(number%2)*12, 1200))
		if drainAt(p, now); number > 10 && !p.Empty() {
			t.Fatalf("picture %d waits %v", number, p.QueueDelay())
		}
		now = now.Add(interval)
	}
}

func TestOneHiccupIsNoCoarseTimer(t *testing.T) {
	p := New(Config{Pace: 96 * rate.Mbps, NoTailGuard: true})
	enqueue(p, start, frame(1, KeyFrame, 4000, 1200))
	walk(t, p, start, start.Add(50*time.Millisecond))
	drainAt(p, start.Add(65*time.Millisecond))
	if p.grain.size > time.Millisecond/10 {
		t.Errorf("one late wake-up reads as a grain of %v", p.grain.size)
	}
	for now := start.Add(80 * time.Millisecond); now.Before(start.Add(200 * time.Millisecond)); now = now.Add(windowsTick) {
		drainAt(p, now)
	}
	if p.grain.size < windowsTick-time.Millisecond || p.grain.size > windowsTick {
		t.Errorf("a tick of %v reads as %v", windowsTick, p.grain.size)
	}
	walk(t, p, start.Add(200*time.Millisecond), start.Add(time.Second))
	if p.grain.size > time.Millisecond {
		t.Errorf("a timer that is fine again reads as %v", p.grain.size)
	}
}

// TestRateChangeKeepsWhatIsDue: what fell due at the old pace is a number of
// bytes; a faster pace does not multiply it.
func TestRateChangeKeepsWhatIsDue(t *testing.T) {
	for _, c := range []struct {
		before, after rate.Rate
		want          int
	}{
		{12 * rate.Mbps, 12 * rate.Mbps, 13}, {12 * rate.Mbps, 120 * rate.Mbps, 13},
		{12 * rate.Mbps, 6 * rate.Mbps, 13}, {12 * rate.Mbps, rate.Mbps, 5}, {0, 12 * rate.Mbps, 7},
	} {
		p := New(Config{Pace: 12 * rate.Mbps, NoTailGuard: true})
		enqueue(p, start, frame(1, KeyFrame, 2000, 1200))
		drainAt(p, start)
		p.SetRates(start, c.before, 0)
		now := p.free
		if c.before == 0 {
			now = now.Add(time.Hour)
		}
		now = now.Add(10 * time.Millisecond)
		p.SetRates(now, c.after, 0)
		if got := drainAt(p, now); got != c.want {
			t.Errorf("%+v: %d packets", c, got)
		}
	}
}

// TestPaddingDoesNotAnswerForOldBursts: the padding rate fills up again soon
// after a burst above it.
func TestPaddingDoesNotAnswerForOldBursts(t *testing.T) {
	p := New(Config{Pace: 50 * rate.Mbps, Pad: 100 * rate.Kbps, NoTailGuard: true})
	enqueue(p, start, frame(1, KeyFrame, 4000, 1200))
	out := walk(t, p, start, start.Add(5*time.Second))
	i := 4000
	if wait := out[i].at.Sub(out[i-1].at); out[i].Class != Padding || wait > maxPadDebt {
		t.Errorf("the first padding came %v after the burst", wait)
	}
}
