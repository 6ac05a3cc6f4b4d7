package pacing

import (
	"math/rand/v2"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// echoPacer has sent a hundred packets of ten pictures, numbered from 1.
func echoPacer(t *testing.T, echo bool) *Pacer {
	t.Helper()
	p := New(Config{Pace: 50 * rate.Mbps, FirstSeq: 1, Echo: echo, NoTailGuard: true, CacheAge: time.Minute})
	for n := range uint64(10) {
		enqueue(p, start, frame(n+1, Video, 10, 1000))
	}
	if out := walk(t, p, start, start.Add(time.Second)); len(out) != 100 {
		t.Fatalf("%d packets left", len(out))
	}
	return p
}

// TestEcho: a packet that is asked for leaves twice where another was asked for shortly
// before, unless many are asked for at once, or the first copy arrived.
func TestEcho(t *testing.T) {
	for name, c := range map[string]struct {
		echo    bool
		before  time.Duration // another is asked for, so long before; 0: none
		asked   int
		arrives bool // before the second copy would leave
		want    int  // packets that leave
	}{
		"on a clean path":            {true, 0, 1, false, 1},
		"on a lossy path":            {true, 500 * time.Millisecond, 1, false, 2},
		"three at once":              {true, 500 * time.Millisecond, 3, false, 6},
		"a burst":                    {true, 500 * time.Millisecond, mostSingle + 1, false, mostSingle + 1},
		"a path that lost something": {true, lossMemory + time.Millisecond, 1, false, 1},
		"it arrives":                 {true, 500 * time.Millisecond, 1, true, 1},
		"it is not wanted":           {false, 500 * time.Millisecond, 1, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, now := echoPacer(t, c.echo), start.Add(2*time.Second)
			if c.before > 0 {
				p.Resend(now, []uint16{99})
				walk(t, p, now, now.Add(c.before))
				now = now.Add(c.before)
			}
			var seqs []uint16
			for i := range c.asked {
				seqs = append(seqs, uint16(1+i))
			}
			p.Resend(now, seqs)
			out := walk(t, p, now, now.Add(echoAfter/2))
			if c.arrives {
				p.Acked(seqs...)
			}
			out = append(out, walk(t, p, now.Add(echoAfter/2), now.Add(time.Second))...)
			if len(out) != c.want {
				t.Errorf("%d packets left, want %d", len(out), c.want)
			}
			first := map[uint16]time.Time{}
			for _, s := range out {
				if before, again := first[s.Seq]; again && s.at.Sub(before) < echoAfter {
					t.Errorf("the second copy of %d left %v after the first", s.Seq, s.at.Sub(before))
				}
				first[s.Seq] = s.at
			}
		})
	}
}

// TestEchoIsBounded: whatever is asked for, no more leaves without having been asked for
// than with it, and all of it within the budget of resends.
func TestEchoIsBounded(t *testing.T) {
	const pace = 10 * rate.Mbps
	rng := rand.New(rand.NewPCG(3, 4))
	p, now, number, asked, resent := New(Config{Pace: pace, Echo: true, NoTailGuard: true}), start, uint64(0), 0, 0
	for now.Sub(start) < 20*time.Second {
		number++
		enqueue(p, now, frame(number, Video, 10, 1000))
		for _, s := range walk(t, p, now, now.Add(time.Second/60)) {
			if s.Class == Resend {
				resent += s.sizeBytes()
			}
		}
		now = now.Add(time.Second / 60)
		if share := float64(now.Sub(start)) / float64(20*time.Second); rng.Float64() < share {
			var seqs []uint16
			for range 1 + rng.IntN(mostSingle) {
				seqs = append(seqs, p.seq-uint16(1+rng.IntN(100)))
			}
			asked += p.Resend(now, seqs) * 1002
		}
	}
	if budget := (pace / 2).Bytes(20*time.Second + resendBurst); resent > 2*asked || resent > budget || resent < asked {
		t.Errorf("%d bytes were sent again, %d were asked for, the budget is %d", resent, asked, budget)
	}
}

// TestResendLost: what a report shows to be lost leaves again, once, and only where it
// is a few packets.
func TestResendLost(t *testing.T) {
	p, now := echoPacer(t, false), start.Add(2*time.Second)
	p.Acked(7)
	count := func(seqs ...uint16) int {
		p.ResendLost(now, seqs)
		n := len(walk(t, p, now, now.Add(50*time.Millisecond)))
		now = now.Add(50 * time.Millisecond)
		return n
	}
	if n := count(5, 6, 7); n != 2 {
		t.Errorf("%d packets left, want 5 and 6", n)
	}
	if n := count(5, 6); n != 0 {
		t.Errorf("%d packets left once more", n)
	}
	if n := count(11, 12, 13, 14, 15); n != 0 {
		t.Errorf("%d packets of a burst left", n)
	}
	if n := p.Resend(now, []uint16{5}); n != 1 {
		t.Error("what is asked for does not leave")
	}
}

// TestResendPicture: what the receiver may lack of a picture leaves once more.
func TestResendPicture(t *testing.T) {
	p, now := echoPacer(t, true), start.Add(2*time.Second)
	p.Acked(11, 12, 13)
	p.ResendPicture(now, 2)
	out := walk(t, p, now, now.Add(time.Second))
	if len(out) != 7 {
		t.Fatalf("%d packets left, want 7", len(out))
	}
	for _, s := range out {
		if s.Frame != 2 || s.Class != Resend {
			t.Errorf("%s of picture %d left", s.Class, s.Frame)
		}
	}
}
