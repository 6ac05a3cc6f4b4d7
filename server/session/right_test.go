package session

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/pacing"
)

// What a path may lose. All but the first two leave resends alone.
type losing = func(at time.Duration, pkt *pacing.Packet, r *rand.Rand) bool

func bursts(length, every time.Duration) losing {
	return func(at time.Duration, _ *pacing.Packet, _ *rand.Rand) bool { return at > every && at%every < length }
}

func share(of float64) losing {
	return func(_ time.Duration, _ *pacing.Packet, r *rand.Rand) bool { return r.Float64() < of }
}

// farther loses that share of the packets of repairs: pictures that refer to another
// one than that before.
func farther(of float64) losing {
	return func(_ time.Duration, pkt *pacing.Packet, r *rand.Rand) bool {
		return pkt.Class == pacing.Video && pkt.DependsOn+1 != pkt.Frame && r.Float64() < of
	}
}

func resends(at time.Duration, pkt *pacing.Packet, r *rand.Rand) bool {
	return pkt.Class == pacing.Resend
}

// media loses that share of what is sent for the first time.
func media(of float64) losing {
	return func(_ time.Duration, pkt *pacing.Packet, r *rand.Rand) bool {
		return pkt.Class != pacing.Resend && r.Float64() < of
	}
}

// either loses what one of them does.
func either(list ...losing) losing {
	return func(at time.Duration, pkt *pacing.Packet, r *rand.Rand) bool {
		return slices.ContainsFunc(list, func(l losing) bool { return l(at, pkt, r) })
	}
}

// near is a path of a home, and far one to another country.
var (
	near = sim.LinkConfig{Delay: 5 * time.Millisecond}
	far  = sim.LinkConfig{Delay: 40 * time.Millisecond}
)

// TestStreamStaysRight: whatever the path does to pictures, repairs and words, and
// whatever else happens meanwhile, no viewer decodes a picture without what it refers
// to, in the end each shows the newest one, and key frames come only where no
// reference is left.
func TestStreamStaysRight(t *testing.T) {
	hard := bursts(90*time.Millisecond, 700*time.Millisecond)
	silent := func(at time.Duration, _ *rand.Rand) bool { return at > time.Second && at%(2*time.Second) < time.Second }
	half := func(_ time.Duration, r *rand.Rand) bool { return r.Float64() < 0.5 }
	for name, c := range map[string]struct {
		play
		keys    [2]int // of the first viewer, least and most
		repairs int    // of the first viewer, at least
	}{
		"no loss":                           {play{viewers: []viewing{{road: road{LinkConfig: near}}}}, [2]int{1, 1}, 0},
		"bursts":                            {play{viewers: []viewing{{road: road{LinkConfig: near, lose: hard}}}}, [2]int{1, 1}, 5},
		"bursts, far":                       {play{viewers: []viewing{{road: road{LinkConfig: far, lose: hard}}}}, [2]int{1, 1}, 5},
		"and three quarters of each repair": {play{viewers: []viewing{{road: road{LinkConfig: near, lose: either(hard, farther(.75))}}}}, [2]int{1, 1}, 5},
		"and each repair whole":             {play{viewers: []viewing{{road: road{LinkConfig: near, lose: either(hard, farther(1))}}}}, [2]int{1, 12}, 5},
		"and each resend":                   {play{viewers: []viewing{{road: road{LinkConfig: near, lose: either(hard, share(.02), resends)}}}}, [2]int{1, 10}, 5},
		"half of all words lost":            {play{viewers: []viewing{{road: road{LinkConfig: near, lose: either(hard, share(.02)), mute: half}}}}, [2]int{1, 8}, 3},
		"no word for a second":              {play{viewers: []viewing{{road: road{LinkConfig: near, lose: hard, mute: silent}}}}, [2]int{1, 3}, 5},
		"out of order": {play{viewers: []viewing{{road: road{LinkConfig: sim.LinkConfig{Delay: 20 * time.Millisecond, Jitter: sim.Jitter{Sigma: 6 * time.Millisecond}}, lose: either(hard, share(.02))}}}},
			[2]int{1, 3}, 5},
		"all twice":                        {play{viewers: []viewing{{road: road{LinkConfig: near, lose: either(hard, share(.02)), twice: true}}}}, [2]int{1, 1}, 5},
		"a viewer that lies":               {play{viewers: []viewing{{road: road{LinkConfig: near, lose: hard}, lies: true}}}, [2]int{1, 12}, 0},
		"two viewers and their own losses": {play{viewers: []viewing{{road: road{LinkConfig: near, lose: either(hard, share(.05))}}, {road: road{LinkConfig: far, lose: share(.05)}}}}, [2]int{1, 1}, 5},
		"one beside a viewer that lies":    {play{viewers: []viewing{{road: road{LinkConfig: near, lose: hard}}, {road: road{LinkConfig: near, lose: hard}, lies: true}}}, [2]int{1, 1}, 5},
		"one that joins late":              {play{viewers: []viewing{{road: road{LinkConfig: near, lose: either(hard, share(.1))}, joins: 2 * time.Second}, {road: road{LinkConfig: near}}}}, [2]int{1, 4}, 3},
		"another size meanwhile":           {play{viewers: []viewing{{road: road{LinkConfig: near, lose: hard}}}, then: image.Pt(320, 200)}, [2]int{2, 4}, 5},
		"smaller pictures meanwhile":       {play{viewers: []viewing{{road: road{LinkConfig: near, lose: hard}}}, change: func(c *Config) { c.Bitrate, c.FullSize = 130*rate.Kbps, false }}, [2]int{2, 8}, 1},
		"a road that changes":              {play{viewers: []viewing{{road: road{LinkConfig: near, lose: hard}}}, midway: (*Session).Resume}, [2]int{1, 1}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := c.play
				p.length, p.size = 6*time.Second, wideSource
				if p.change == nil {
					p.change = func(c *Config) { c.Bitrate, c.FullSize = 4*rate.Mbps, true }
				}
				list := p.run(t)
				for i, w := range list {
					w.right(t)
					s := w.session.c.Meter.Snapshot(time.Now())
					t.Logf("viewer %d: %d pictures shown, longest gap %v, %d key frames, %d repaired, %d packets and %d key frames asked for, sizes %d",
						i, w.shown, w.longest(), s.KeyFrames, s.Repaired, w.nacked, w.keysAsked, len(w.encoders))
				}
				if n := list[0].keys(); n < c.keys[0] || n > c.keys[1] {
					t.Errorf("%d key frames, want %v", n, c.keys)
				}
				if n := int(list[0].session.c.Meter.Snapshot(time.Now()).Repaired); n < c.repairs {
					t.Errorf("%d repairs, want at least %d", n, c.repairs)
				}
			})
		})
	}
}

// TestSingleChangesSurviveLoss: single changes of a still screen are shown within a
// tenth of a second beyond their own time although a fifth of the pictures' packets
// is lost, on a path that is found by itself.
func TestSingleChangesSurviveLoss(t *testing.T) {
	for name, link := range map[string]sim.LinkConfig{
		"at home":       {Delay: 500 * time.Microsecond},
		"2 Mbit/s":      {Delay: 5 * time.Millisecond, Rates: []sim.Step{{Rate: 2 * rate.Mbps}}},
		"a busy viewer": {Delay: 500 * time.Microsecond, Jitter: sim.Jitter{Sigma: 10 * time.Millisecond, Keep: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := play{viewers: []viewing{{road: road{LinkConfig: link, lose: media(.2)}}}, length: 60 * time.Second, size: wideSource,
					every: 700 * time.Millisecond, change: func(c *Config) { c.FullSize = true }}.run(t)[0]
				w.right(t)
				took := w.changesTook(700 * time.Millisecond)
				slices.Sort(took)
				at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))] }
				s := w.session.c.Meter.Snapshot(time.Now())
				t.Logf("%d changes: %v, %v (90 %%), %v (all); %d repaired, %d key frames, %s: %s, %v kbit/s", len(took), at(.5), at(.9), at(1), s.Repaired, s.KeyFrames, s.State, s.Reason, s.TargetKbps)
				if at(.9) > 160*time.Millisecond {
					t.Errorf("of 10 changes 9 were shown within %v", at(.9))
				}
			})
		})
	}
}

// changesTook gives how long after each of the changes the first picture was shown
// that has it.
func (w *watched) changesTook(every time.Duration) (list []time.Duration) {
	begin := w.begin
	for n := 0; ; n++ {
		change := begin.Add(time.Duration(n) * every)
		if !change.Before(w.ends) {
			return list
		}
		i := slices.IndexFunc(w.sights, func(s sight) bool { return !s.captured.Before(change) })
		if i < 0 {
			return list
		}
		list = append(list, w.sights[i].at.Sub(change))
	}
}
