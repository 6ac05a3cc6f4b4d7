package repair

import "time"

const (
	// leastSilence is how many frame times without any word are the least that make a
	// silence where one would be due with each picture: two such words may be lost.
	leastSilence = 5.0 / 2
	// repeatEvery is how often what the viewer waits for leaves in a silence, at most:
	// when the path is back, it is there without having been asked for. After repeatFade
	// of these times in silence, and longer, it comes more seldom.
	repeatEvery = 25 * time.Millisecond
	repeatFade  = 16
	// fullFor is how long repeats may take the whole path, which nothing else does then,
	// and wholeFor how long all of a picture is repeated.
	fullFor  = 400 * time.Millisecond
	wholeFor = 700 * time.Millisecond
	// blindAfter is how long repeats of a repair are waited for before a newer one.
	blindAfter = 400 * time.Millisecond
)

// silentAt is when the viewer has been silent for too long about the picture that it
// waits for: whatever leaves now may be lost. Where a silence has begun that is soon.
// Zero is never.
func (k *Keeper) silentAt() time.Time {
	p := k.blocker()
	if !k.Active() || k.cfg.NoResend || p == nil || p.left.IsZero() || p.dropped {
		return time.Time{}
	}
	if k.silent {
		return p.left.Add(k.cfg.Interval / 2)
	}
	return later(p.left.Add(k.patience()), k.heard.Add(time.Duration(leastSilence*float64(k.cfg.Interval))))
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// nudgeFor is for how long a path counts as lossy that lost something.
const nudgeFor = 2 * time.Second

// nudgeAt is when the picture that the viewer waits for leaves once more although it did
// not ask for it; zero for never. Where single packets are lost, so are single requests,
// and the next comes only after 100 ms or a round trip. The viewer's words stop before
// that, and more than one of them is seldom lost.
func (k *Keeper) nudgeAt() time.Time {
	p := k.blocker()
	if !k.Active() || k.cfg.NoResend || k.silent || p == nil || p.asked || p.nudged || p.dropped || p.left.IsZero() || k.due.newest > 0 {
		return time.Time{}
	}
	if k.askedAt.IsZero() || p.left.Sub(k.askedAt) > nudgeFor {
		return time.Time{}
	}
	usual := p.left.Add(k.delay.mean + k.delay.deviation + k.cfg.Interval)
	return later(usual, k.heard.Add(time.Duration(leastSilence*float64(k.cfg.Interval))))
}

// Nudge gives the picture that is to leave once more at now; 0 for none.
func (k *Keeper) Nudge(now time.Time) uint64 {
	at := k.nudgeAt()
	if at.IsZero() || now.Before(at) {
		return 0
	}
	p := k.blocker()
	p.nudged = true
	return p.frame
}

// listen notes whether the viewer is silent.
func (k *Keeper) listen(now time.Time) {
	if at := k.silentAt(); !at.IsZero() && !now.Before(at) {
		k.silent = true
	}
}

// hear notes a word that is new. After a silence, what the viewer did not ask for it may
// have, and its word of that was lost: it gets the time to say it again.
func (k *Keeper) hear(now time.Time) {
	k.heard = now
	if !k.silent {
		return
	}
	k.silent, k.attempts = false, 0 // what was sent into it says nothing of the next
	for i := range k.pictures {
		if p := &k.pictures[i]; !p.has && !p.given && !p.asked && !p.left.IsZero() {
			p.left, p.unheard = now, true
		}
	}
}

// Silent says that nothing has been heard of the picture that the viewer waits for, and
// of no other, for too long.
func (k *Keeper) Silent() bool { return k.silent }

// repeatAt is when the picture that the viewer waits for is to leave once more; zero
// for never.
func (k *Keeper) repeatAt() time.Time {
	at := k.silentAt()
	if at.IsZero() || k.due.newest > 0 {
		return time.Time{}
	}
	return later(at, k.repeatDue)
}

// Again is what is to leave once more although nobody asked for it, behind something
// that shows the gap to the viewer.
type Again struct {
	Frame uint64  // 0: nothing
	Whole bool    // all of its packets; else one only finds out whether the path is back
	Share float64 // of the path that they may take
}

// Repeat says what is to leave once more at now.
func (k *Keeper) Repeat(now time.Time) Again {
	at := k.repeatAt()
	if at.IsZero() || now.Before(at) {
		return Again{}
	}
	silence := now.Sub(k.heard)
	k.repeatDue = now.Add(max(repeatEvery, silence/repeatFade))
	a := Again{Frame: k.blocker().frame, Whole: silence < wholeFor, Share: 1}
	switch {
	case !k.repairable(k.last + 1):
		a.Share = 0.25 // pictures go on leaving beside it
	case silence > fullFor:
		a.Share = 0.5
	}
	return a
}

// Repeated notes that what is repeated from now on takes so long to leave.
func (k *Keeper) Repeated(now time.Time, takes time.Duration) {
	k.repeatDue = later(k.repeatDue, now.Add(takes))
}
