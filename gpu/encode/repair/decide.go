package repair

import "time"

// delay is how long it takes until a picture that left is confirmed, as RFC 6298
// estimates a round trip.
type delay struct{ mean, deviation time.Duration }

// newDelay is that of a viewer of which nothing is known: a report of the
// receiver every 100 ms.
func newDelay() delay { return delay{100 * time.Millisecond, 50 * time.Millisecond} }

func (d *delay) add(took time.Duration) {
	d.deviation += ((took - d.mean).Abs() - d.deviation) / 4
	d.mean += (took - d.mean) / 8
}

const (
	// leastSlack is what a viewer may take beside the round trip: to decode, to
	// show on its next frame, and to say so, while its page is busy with more.
	leastSlack = 60 * time.Millisecond
	// mostPatience is for a path that is gone: one repair a second still finds out
	// when it is back.
	mostPatience = time.Second
	// unshownAfter is how long a repair that arrived may take to be shown. A
	// browser shows it on its next frame.
	unshownAfter = 300 * time.Millisecond
	// mostStrikes is how many repairs in a row may arrive unshown. A page may go
	// out of sight at the moment of one.
	mostStrikes = 2
)

// patience is how long a picture that was sent again, or a repair, may stay
// unconfirmed. It grows with each repair in vain.
func (k *Keeper) patience() time.Duration {
	p := max(k.delay.mean+4*k.delay.deviation+k.cfg.Interval, k.rtt+leastSlack)
	for range k.attempts {
		p += p / 2
	}
	return min(p, mostPatience)
}

// deadline is when a picture has been waited for long enough. One that the viewer
// did not ask for may only be late, with its confirmation: queues grow.
func (k *Keeper) deadline(p *picture) time.Time {
	switch repair := p.frame == k.repair.frame; {
	case repair && !p.asked && k.blind && !k.cfg.NoResend:
		return p.left.Add(max(k.patience(), k.rtt, blindAfter))
	case repair || p.asked:
		return p.left.Add(max(k.patience(), k.rtt))
	}
	late := 2*k.patience() + k.cfg.Interval
	if k.silent {
		late = max(late, k.patience()+blindAfter)
	}
	return p.left.Add(late)
}

// blocker is the oldest picture that the viewer waits for; nil for none.
func (k *Keeper) blocker() *picture {
	for i := range k.pictures {
		if p := &k.pictures[i]; !p.has && !p.given {
			return p
		}
	}
	return nil
}

// newest is the newest picture that the viewer has and a next one may refer to.
func (k *Keeper) newest() uint64 {
	for i := len(k.pictures) - 1; i >= 0; i-- {
		if p := &k.pictures[i]; p.has && !p.given {
			return p.frame
		}
	}
	return 0
}

// repairable says whether the picture with that number could refer to one that the
// viewer has.
func (k *Keeper) repairable(number uint64) bool {
	c := k.newest()
	return c > 0 && number-c <= uint64(k.cfg.References)
}

// waiting says whether a repair is under way and may still be confirmed in time.
func (k *Keeper) waiting(now time.Time) bool {
	if k.due.newest > 0 {
		return true
	}
	p := k.find(k.repair.frame)
	return p != nil && !p.has && !p.dropped && (p.left.IsZero() || now.Before(k.deadline(p)))
}

// Decide says what the encoder is to do, as of now. A repair is ordered once; a
// key frame again if none was coded in the time of a repair. A Hold stands until
// Decide says otherwise.
func (k *Keeper) Decide(now time.Time) Order {
	k.listen(now)
	switch {
	case !k.Active() || !k.keyDue.IsZero() && now.Before(k.keyDue.Add(k.patience())):
		return Order{}
	case !k.keyDue.IsZero() || k.unshown(now):
		return k.key(now)
	case k.waiting(now):
		return Order{Hold: k.hold(now)}
	}
	p := k.blocker()
	if p == nil || !k.lost(now, p) {
		return Order{Hold: k.hold(now)}
	}
	switch {
	case k.repairable(k.last + 2): // one may be on its way here
	case k.mayCome(now, p):
		return Order{Hold: k.hold(now)}
	case !k.repairable(k.last + 1):
		return k.key(now)
	}
	k.counts.Repairs++
	k.attempts++
	k.blind = !p.asked && !p.dropped && (k.cfg.NoResend || k.silent)
	k.instead = k.blind || p.dropped || k.cfg.NoResend || k.tooMuch()
	k.due = wait{newest: k.newest()}
	return Order{Kind: Reference, Newest: k.due.newest, Hold: k.hold(now)}
}

// lost says whether what the viewer waits for is not to be waited for any more.
func (k *Keeper) lost(now time.Time, p *picture) bool {
	if p.dropped || k.repairable(k.last+1) && (k.tooMuch() || k.cfg.NoResend && p.asked) {
		return true
	}
	if !p.asked && k.silent && k.repairable(k.last+2) { // one may be on its way here
		return true
	}
	return !p.left.IsZero() && (!now.Before(k.deadline(p)) || k.lastChance(now, p))
}

// lastChance says that a resend should have been confirmed by now, and that soon there
// will be no reference for a repair.
func (k *Keeper) lastChance(now time.Time, p *picture) bool {
	return p.asked && k.repairable(k.last+2) && !k.repairable(k.last+4) && !now.Before(p.left.Add(k.rtt+leastSlack))
}

// mayCome says whether what the viewer waits for may still come by being sent again: it
// asks for it, as often as it has to.
func (k *Keeper) mayCome(now time.Time, p *picture) bool {
	return p.asked && !p.dropped && !k.cfg.NoResend && now.Before(p.left.Add(mostPatience))
}

// hold says whether to encode nothing: each picture would push the one that the
// viewer has further out of the picture buffer, and nothing says that they arrive.
func (k *Keeper) hold(now time.Time) bool {
	p := k.blocker()
	if p == nil || k.due.newest > 0 {
		return p != nil && k.blind && k.silent // from the repair on
	}
	if k.attempts > 1 || k.attempts > 0 && k.blind && (k.cfg.NoResend || k.silent) {
		return true
	}
	return k.crowded() && !p.asked && !p.left.IsZero() && !now.Before(k.holdAt(p))
}

// crowded says that half of the pictures that a next one may refer to are
// unconfirmed, and the other half not yet.
func (k *Keeper) crowded() bool {
	return k.last-k.newest() > uint64(k.cfg.References)/2 && k.repairable(k.last+1)
}

// holdAt is when a picture that was not asked for is late enough for a hold.
func (k *Keeper) holdAt(p *picture) time.Time { return p.left.Add(k.patience()) }

// unshown notices a repair that is there and was not shown.
func (k *Keeper) unshown(now time.Time) bool {
	r := &k.repair
	if r.arrived.IsZero() || k.shown >= r.frame || now.Before(k.shownBy()) {
		return false
	}
	if k.proven() {
		k.strikes++
		k.struck, k.struckEnd = r.frame, 0
		k.off = k.strikes >= mostStrikes
	}
	*r = wait{}
	k.counts.Unshown++
	return true
}

// late notes that the viewer showed a picture. A repair that it was not believed to
// show any more is no strike when it comes after all: the viewer is only slow.
func (k *Keeper) late(frame uint64) {
	switch {
	case k.struck == 0 || frame < k.struck:
	case k.struckEnd == 0 || frame < k.struckEnd:
		k.strikes, k.struck, k.off = 0, 0, false
	default:
		k.struck = 0 // the key frame helped it
	}
}

// shownBy is when a repair that arrived should have been shown.
func (k *Keeper) shownBy() time.Time {
	return k.repair.arrived.Add(max(unshownAfter, k.patience()))
}

func (k *Keeper) key(now time.Time) Order {
	if k.keyDue.IsZero() {
		k.counts.Keys++
	}
	k.attempts++
	k.keyDue, k.due = now, wait{}
	return Order{Kind: Key}
}

// Deadline is when Decide, which was asked at now, is due if nothing happens
// before; zero for never.
func (k *Keeper) Deadline(now time.Time) time.Time {
	var at time.Time
	soonest := func(t time.Time) {
		if t.After(now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	switch {
	case !k.Active():
		return at
	case !k.keyDue.IsZero():
		return k.keyDue.Add(k.patience())
	}
	if !k.repair.arrived.IsZero() && k.shown < k.repair.frame {
		soonest(k.shownBy())
	}
	if p := k.blocker(); p != nil && !p.left.IsZero() && k.due.newest == 0 {
		soonest(k.deadline(p))
		soonest(p.left.Add(mostPatience))
		soonest(k.nudgeAt())
		soonest(k.holdAt(p))
	}
	soonest(k.repeatAt())
	return at
}
