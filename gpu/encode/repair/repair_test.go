package repair

import (
	"math/rand/v2"
	"testing"
	"time"
)

// randomly loses that share.
func randomly(share float64) func(time.Duration, *rand.Rand) bool {
	return func(_ time.Duration, rng *rand.Rand) bool { return rng.Float64() < share }
}

// between loses all in a span of time, again and again.
func between(from, length, every time.Duration) func(time.Duration, *rand.Rand) bool {
	return func(at time.Duration, _ *rand.Rand) bool {
		return at > from && (at-from)%every < length
	}
}

func never(time.Duration, *rand.Rand) bool { return false }

// halfRate is a source of 30 pictures a second.
func halfRate(at time.Duration) bool { return (at+frameTime/2)/frameTime%2 == 1 }

// stalls is of a page that gets no time after a loss, for most of a second.
func stalls(at time.Duration) time.Duration {
	if in := (at - time.Second) % (2 * time.Second); in > 50*time.Millisecond && in < 900*time.Millisecond {
		return 900*time.Millisecond - in
	}
	return 0
}

// until ends a loss, so that what comes after can be held to be right.
func until(end time.Duration, lose func(time.Duration, *rand.Rand) bool) func(time.Duration, *rand.Rand) bool {
	return func(at time.Duration, rng *rand.Rand) bool { return at < end && lose(at, rng) }
}

const (
	lossLength = 8 * time.Second
	calm       = 2 * time.Second
)

func TestScenarios(t *testing.T) {
	for name, c := range map[string]struct {
		conditions
		keys, repairs [2]int // least and most
		longest       time.Duration
	}{
		"no loss":                     {conditions{oneWay: 10 * time.Millisecond, lose: never}, [2]int{1, 1}, [2]int{0, 0}, 40 * time.Millisecond},
		"no loss, far away":           {conditions{oneWay: 150 * time.Millisecond, lose: never}, [2]int{1, 1}, [2]int{0, 0}, 40 * time.Millisecond},
		"slow reports":                {conditions{oneWay: 10 * time.Millisecond, lose: never, report: 250 * time.Millisecond}, [2]int{1, 1}, [2]int{0, 0}, 40 * time.Millisecond},
		"1 %":                         {conditions{oneWay: 10 * time.Millisecond, lose: randomly(.01)}, [2]int{1, 1}, [2]int{0, 8}, 150 * time.Millisecond},
		"5 %":                         {conditions{oneWay: 10 * time.Millisecond, lose: randomly(.05)}, [2]int{1, 1}, [2]int{1, 60}, 300 * time.Millisecond},
		"2 %, far":                    {conditions{oneWay: 40 * time.Millisecond, lose: randomly(.02)}, [2]int{1, 1}, [2]int{0, 8}, 250 * time.Millisecond},
		"2 %, very far":               {conditions{oneWay: 100 * time.Millisecond, lose: randomly(.02)}, [2]int{1, 1}, [2]int{0, 8}, 450 * time.Millisecond},
		"3 pictures in a row":         {conditions{oneWay: 10 * time.Millisecond, lose: between(time.Second, 50*time.Millisecond, time.Second)}, [2]int{1, 1}, [2]int{4, 9}, 130 * time.Millisecond},
		"10 pictures in a row":        {conditions{oneWay: 10 * time.Millisecond, lose: between(time.Second, 166*time.Millisecond, time.Second)}, [2]int{1, 1}, [2]int{6, 16}, 240 * time.Millisecond},
		"300 ms outages":              {conditions{oneWay: 10 * time.Millisecond, lose: between(time.Second, 300*time.Millisecond, 2*time.Second)}, [2]int{1, 1}, [2]int{3, 16}, 340 * time.Millisecond},
		"an outage of a second":       {conditions{oneWay: 10 * time.Millisecond, lose: between(time.Second, time.Second, time.Hour)}, [2]int{1, 1}, [2]int{3, 9}, 1500 * time.Millisecond},
		"no resends":                  {conditions{oneWay: 10 * time.Millisecond, lose: randomly(.01), noResend: true}, [2]int{1, 1}, [2]int{10, 60}, 300 * time.Millisecond},
		"confirmations get lost":      {conditions{oneWay: 10 * time.Millisecond, lose: randomly(.02), mute: randomly(.3)}, [2]int{1, 2}, [2]int{0, 40}, 400 * time.Millisecond},
		"no word for a second":        {conditions{oneWay: 10 * time.Millisecond, lose: never, mute: between(time.Second, time.Second, 3*time.Second)}, [2]int{1, 1}, [2]int{1, 16}, 500 * time.Millisecond},
		"half of each repair is lost": {conditions{oneWay: 10 * time.Millisecond, lose: between(time.Second, 100*time.Millisecond, time.Second), repairs: .5}, [2]int{1, 1}, [2]int{7, 20}, 350 * time.Millisecond},
		"most of each repair is lost": {conditions{oneWay: 10 * time.Millisecond, lose: between(time.Second, 100*time.Millisecond, time.Second), repairs: .8}, [2]int{1, 2}, [2]int{7, 20}, 1100 * time.Millisecond},
		// It asks for all that is only late, which libwebrtc learns not to.
		"out of order, 2 %": {conditions{oneWay: 10 * time.Millisecond, lose: randomly(.02), jitter: 8 * time.Millisecond}, [2]int{1, 1}, [2]int{0, 160}, 150 * time.Millisecond},
		"all twice, 2 %":    {conditions{oneWay: 10 * time.Millisecond, lose: randomly(.02), twice: true}, [2]int{1, 1}, [2]int{0, 8}, 200 * time.Millisecond},
		"a viewer that stalls after losses": {conditions{oneWay: 10 * time.Millisecond, lose: between(time.Second, 100*time.Millisecond, 2*time.Second), noResend: true, stalls: stalls},
			[2]int{2, 8}, [2]int{3, 16}, 300 * time.Millisecond},
		// The newest picture that the viewer is known to have is farther back than any
		// reference: what is not sent again in time costs a key frame. Half as many
		// pictures a second reach twice as far back, and gain nothing by it.
		"2 %, 300 ms":                      {conditions{oneWay: 150 * time.Millisecond, lose: randomly(.02)}, [2]int{1, 2}, [2]int{0, 0}, 400 * time.Millisecond},
		"2 %, 300 ms, 30 a second":         {conditions{oneWay: 150 * time.Millisecond, lose: randomly(.02), still: halfRate}, [2]int{1, 1}, [2]int{0, 4}, 400 * time.Millisecond},
		"10 in a row, 300 ms":              {conditions{oneWay: 150 * time.Millisecond, lose: between(time.Second, 166*time.Millisecond, 2*time.Second)}, [2]int{1, 2}, [2]int{0, 0}, 550 * time.Millisecond},
		"10 in a row, 300 ms, 30 a second": {conditions{oneWay: 150 * time.Millisecond, lose: between(time.Second, 166*time.Millisecond, 2*time.Second), still: halfRate}, [2]int{1, 1}, [2]int{2, 8}, 600 * time.Millisecond},
		"still, and 20 %": {conditions{oneWay: 10 * time.Millisecond, lose: randomly(.2), still: func(at time.Duration) bool { return at%(700*time.Millisecond) > frameTime }},
			[2]int{1, 3}, [2]int{1, 60}, 2 * time.Second},
		"a viewer that ignores references": {conditions{oneWay: 10 * time.Millisecond, lose: between(time.Second, 200*time.Millisecond, time.Second), noResend: true, ignores: true},
			[2]int{3, 6}, [2]int{2, 2}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			c.length = lossLength + calm
			c.lose = until(lossLength, c.lose)
			m := run(t, c.conditions, 1)
			if n := len(m.keys); n < c.keys[0] || n > c.keys[1] {
				t.Errorf("%d key frames at %v, want %v", n, m.keys, c.keys)
			}
			if n := len(m.repairs); n < c.repairs[0] || n > c.repairs[1] {
				t.Errorf("%d repairs, want %v", n, c.repairs)
			}
			if m.longest > c.longest {
				t.Errorf("%v without a new picture", m.longest)
			}
			if m.k.Broken() != c.ignores {
				t.Errorf("the viewer is taken for one that ignores references: %v", m.k.Broken())
			}
			if !c.ignores {
				m.right()
			}
			t.Logf("%d pictures, %d repairs, %d key frames, longest %v, %+v", len(m.frames), len(m.repairs), len(m.keys), m.longest, m.k.Counts())
		})
	}
}

// TestNothingCanBeSentAgain: a packet that is asked for costs a repair at once.
func TestNothingCanBeSentAgain(t *testing.T) {
	k := New(Config{References: references, Interval: frameTime, NoResend: true})
	at := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond) }
	for f := uint64(1); f <= 3; f++ {
		k.Coded(f, f-1, 4000)
		k.Left(at(int(f)), f)
	}
	k.Shown(at(10), 1)
	k.Missing(at(11), 2, 1100)
	if k.Resend(at(11), 2) {
		t.Error("it is sent again")
	}
	if o := k.Decide(at(11)); o != (Order{Kind: Reference, Newest: 1}) {
		t.Errorf("%+v", o)
	}
}

// TestSilence: when the viewer says nothing for too long, the next picture refers to what
// it is known to have, nothing is coded after that, and that leaves again and again
// until a word comes.
func TestSilence(t *testing.T) {
	at := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond) }
	k, frame, ordered, left, repeats := New(Config{References: references, Interval: frameTime}), uint64(0), 0, 0, []int(nil)
	k.SetRTT(40 * time.Millisecond)
	var o Order
	for ms := range 1000 {
		if ms%17 == 0 && !(o.Hold && o.Kind == None) {
			frame++
			reference := frame - 1
			if o.Kind == Reference {
				reference, left = o.Newest, ms
			}
			k.Coded(frame, reference, 4000)
			k.Left(at(ms), frame)
			o = Order{}
		}
		if shown := frame - 3; ms%17 == 5 && frame > 3 && ms < 500 {
			k.Shown(at(ms), shown)
		}
		if ms == 900 {
			k.Shown(at(ms), frame)
		}
		if now := k.Decide(at(ms)); now.Kind != None {
			o, ordered = now, ms
		} else if o.Kind == None {
			o = now
		}
		if a := k.Repeat(at(ms)); a.Frame > 0 {
			k.Repeated(at(ms), 10*time.Millisecond)
			repeats = append(repeats, ms)
		}
		if hold := ordered > 0 && ms < 900; hold != o.Hold {
			t.Fatalf("at %d ms, ordered at %d and left at %d: %+v", ms, ordered, left, o)
		}
	}
	if ordered < 530 || ordered > 620 || k.Counts() != (Counts{Repairs: 1}) {
		t.Errorf("ordered at %d ms: %+v", ordered, k.Counts())
	}
	if n := len(repeats); n < 8 || n > 14 || repeats[0] > left+10 || repeats[n-1] >= 900 {
		t.Errorf("left at %d, repeated at %v ms", left, repeats)
	}
}

// right says that the viewer has the newest picture that can have come.
func (m *model) right() {
	m.t.Helper()
	behind := uint64(m.c.oneWay/frameTime) + 4
	if m.newest+behind < uint64(len(m.frames)) {
		m.t.Errorf("of %d pictures the newest that the viewer has is %d", len(m.frames), m.newest)
	}
}

// Whatever happens on the way: a repair refers only to what the viewer has, there
// is one in a round trip, and when the loss is over the picture is right again.
func TestAnyConditions(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 40 {
		c := conditions{oneWay: time.Duration(1+rng.IntN(130)) * time.Millisecond, length: lossLength + calm + time.Second,
			noResend: rng.IntN(4) == 0, report: time.Duration(50+rng.IntN(200)) * time.Millisecond, lies: rng.IntN(8) == 0}
		share, burst := rng.Float64()*rng.Float64()*.3, time.Duration(rng.IntN(600))*time.Millisecond
		single, all := randomly(share), between(time.Second, burst, time.Second+time.Duration(rng.IntN(2000))*time.Millisecond)
		c.lose = until(lossLength, func(at time.Duration, rng *rand.Rand) bool { return single(at, rng) || all(at, rng) })
		if rng.IntN(3) == 0 {
			c.mute = until(lossLength, randomly(rng.Float64()*.5))
		}
		c.twice = rng.IntN(5) == 0
		if rng.IntN(3) == 0 {
			c.repairs, c.jitter = rng.Float64(), time.Duration(rng.IntN(30))*time.Millisecond
		}
		if rng.IntN(3) == 0 {
			every := time.Duration(50+rng.IntN(1500)) * time.Millisecond
			c.still = func(at time.Duration) bool { return at%every > 3*frameTime }
		}
		m := run(t, c, uint64(i))
		if !c.lies {
			m.right()
		}
		if t.Failed() {
			t.Fatalf("run %d: %+v, %.3f, bursts of %v", i, c, share, burst)
		}
	}
}

// FuzzKeeper: no order of events breaks it, whatever the viewer says.
func FuzzKeeper(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 200, 100, 50})
	f.Fuzz(func(t *testing.T, script []byte) {
		k := New(Config{References: 4, Interval: frameTime})
		now, frame, newest := epoch, uint64(0), uint64(0)
		for i := 0; i+1 < len(script); i += 2 {
			now = now.Add(time.Duration(script[i]>>3) * 4 * time.Millisecond)
			which := frame - min(frame, uint64(script[i+1]%24))
			switch script[i] & 7 {
			case 0, 1:
				frame++
				reference := frame - 1
				if newest > 0 {
					reference, newest = newest, 0
				}
				if script[i+1] == 255 {
					reference = 0
				}
				k.Coded(frame, reference, int(script[i+1])*100)
			case 2:
				k.Left(now, which)
			case 3:
				k.Missing(now, which, int(script[i+1])*10)
				k.Resend(now, which)
			case 4:
				k.Arrived(now, which)
			case 5:
				k.Shown(now, which)
			case 6:
				k.Dropped(which)
			case 7:
				if script[i+1] == 0 {
					k.Resumed()
				}
				k.SetRTT(time.Duration(script[i+1]) * time.Millisecond)
			}
			if o := k.Decide(now); o.Kind == Reference {
				if newest = o.Newest; newest == 0 || newest > frame || frame+1-newest > 4 {
					t.Fatalf("picture %d is to refer to %d", frame+1, newest)
				}
			}
			if a := k.Repeat(now); a.Frame > frame || a.Frame > 0 && (a.Share <= 0 || a.Share > 1 || k.Repeat(now) != (Again{})) {
				t.Fatalf("%+v is to be repeated, of %d pictures", a, frame)
			}
			if at := k.Deadline(now); !at.IsZero() && !at.After(now) {
				t.Fatalf("the deadline passed %v ago", now.Sub(at))
			}
		}
	})
}
