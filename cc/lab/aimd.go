package lab

import (
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
)

// aimd is additive increase, multiplicative decrease: the simplest controller
// that reacts to anything. It grows by a step a round trip, and falls to 85 %
// once a round trip when packets are lost or the delay stands above its lowest.
type aimd struct {
	s      Setup
	target rate.Rate
	sent   map[uint64]time.Time
	rtt    time.Duration // the shortest
	base   time.Duration // the shortest one-way delay, on the clocks' difference
	based  bool
	grown  time.Time
	cut    time.Time
}

// Constants of aimd. Twenty milliseconds of standing delay are what a picture's
// own serialisation does not reach; 2 % of loss is where goog_cc stops to grow.
// The step was chosen to its advantage, by trial: with a whole packet a round
// trip, as TCP takes, it lives with 150 ms of queue on 10 Mbit/s; with a
// twelfth of one it needs 22 s to fill 50 Mbit/s.
const (
	aimdStep    = 200 // bytes
	aimdCut     = 0.85
	aimdDelay   = 20 * time.Millisecond
	aimdMaxLoss = 0.02
	aimdPace    = 1.5
)

// AIMD makes the plain baseline.
var AIMD = Kind{Name: "aimd", New: func(s Setup) controller {
	return &aimd{s: s, target: s.Start, sent: map[uint64]time.Time{}, rtt: time.Hour}
}}

func (a *aimd) OnSent(now time.Time, s cc.Sent) { a.sent[s.Sequence] = now }

func (a *aimd) OnFeedback(now time.Time, acks []cc.Ack) cc.Update {
	lost := 0
	queue := time.Duration(1 << 62)
	for _, ack := range acks {
		at, ok := a.sent[ack.Sequence]
		delete(a.sent, ack.Sequence)
		switch {
		case ack.Lost:
			lost++
		case ok:
			a.rtt = min(a.rtt, now.Sub(at))
			delay := ack.Arrived - at.Sub(a.s.Origin)
			if !a.based || delay < a.base {
				a.base, a.based = delay, true
			}
			queue = min(queue, delay-a.base)
		}
	}
	if a.grown.IsZero() {
		a.grown, a.cut = now, now
	}
	congested := float64(lost) > aimdMaxLoss*float64(len(acks)) || a.based && queue > aimdDelay && queue < time.Hour
	switch {
	case congested && now.Sub(a.cut) >= a.rtt:
		a.target, a.cut = a.target.Scale(aimdCut), now
	case !congested:
		a.target += rate.Rate(float64(rate.Of(aimdStep, a.rtt)) * float64(now.Sub(a.grown)) / float64(a.rtt))
	}
	a.grown = now
	a.target = min(max(a.target, a.s.Min), a.s.Max)
	return a.update(congested)
}

func (a *aimd) OnTick(time.Time) cc.Update { return a.update(false) }

func (a *aimd) update(congested bool) cc.Update {
	u := cc.Update{Target: a.target, Pace: a.target.Scale(aimdPace), State: "increase"}
	if congested {
		u.State = "decrease"
	}
	return u
}

func (a *aimd) Deadline() time.Time { return time.Time{} }
