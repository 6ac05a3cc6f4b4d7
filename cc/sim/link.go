package sim

import (
	"math/rand/v2"
	"time"

	"nearglass/cc/rate"
)

// Link carries packets one way. One goroutine owns it. Calls come in order of
// now; a now before the Origin or before the last one counts as that.
type Link struct {
	origin  time.Time
	now     time.Duration // of the last call, from origin
	rates   schedule
	config  Queue
	policer policer
	losses  losses
	path    path
	codel   codel
	stats   Stats

	queue       ring[waiting]
	queuedBytes int
	rate        rate.Rate // the last that was not zero, for Queue.Limit

	// The packet in transmission, if serving, since started. It is through
	// at wake. Without one, wake is when the next can begin.
	serving bool
	current waiting
	started time.Duration
	wake    time.Duration

	arrivals arrivals
	order    uint64
}

// NewLink returns a link whose chance is decided by seed. It keeps the slices
// of c, which must not change.
func NewLink(c LinkConfig, seed uint64) *Link {
	return &Link{
		origin:  c.Origin,
		rates:   newSchedule(c.Rates, c.Repeat, c.Outages),
		config:  c.Queue,
		policer: newPolicer(c.Policer),
		losses:  newLosses(c.Loss, rand.New(rand.NewPCG(seed, 1))),
		path:    newPath(c, rand.New(rand.NewPCG(seed, 2))),
		codel:   newCodel(c.Queue),
		wake:    forever,
	}
}

// Send gives the link a packet at now. dropped says that it will never arrive
// and that this is known already: the policer, a full queue, or a loss before
// the bottleneck took it. CoDel and losses after the bottleneck strike later.
func (l *Link) Send(now time.Time, p Packet) (dropped bool) {
	t := l.advance(now)
	l.stats.Sent++
	switch {
	case l.losses.config.Before && l.losses.next(t):
		l.stats.Lost++
		return true
	case !l.policer.conforms(t, p.Size):
		l.stats.Policed++
		return true
	case l.full(t, p.Size):
		l.stats.Tail++
		return true
	}
	p.SentAt = now
	l.queue.push(waiting{Packet: p, in: t})
	l.queuedBytes += p.Size
	l.codel.maxPacket = max(l.codel.maxPacket, p.Size)
	if !l.serving && l.wake == forever {
		l.begin(t)
	}
	return false
}

// Next gives the time at which Receive may have something, or the zero time
// when nothing is under way. There may be nothing then, because the packet
// was lost, delayed by jitter or dropped by CoDel: ask again.
func (l *Link) Next() time.Time {
	at := forever
	if l.wake < forever {
		at = l.wake + l.path.least()
	}
	if len(l.arrivals) > 0 {
		at = min(at, l.arrivals[0].at)
	}
	if at == forever {
		return time.Time{}
	}
	return l.origin.Add(at)
}

// Receive takes the next packet that has arrived by now, in order of arrival;
// false when there is none.
func (l *Link) Receive(now time.Time) (Delivery, bool) {
	t := l.advance(now)
	if len(l.arrivals) == 0 || l.arrivals[0].at > t {
		return Delivery{}, false
	}
	a := l.arrivals.pop()
	return Delivery{Packet: a.Packet, At: l.origin.Add(a.at), Found: a.found}, true
}

// QueueDelay gives how long a packet sent now would wait before its own
// transmission, if CoDel drops none of those before it. Outages count.
func (l *Link) QueueDelay(now time.Time) time.Duration {
	t := l.advance(now)
	begin := t
	if l.serving {
		begin = l.wake
	}
	if begin = l.rates.up(l.rates.finish(begin, l.queuedBytes)); begin == forever {
		return forever
	}
	return begin - t
}

// Capacity gives how many bytes the link could have carried from from to to:
// its rates without the outages, and no more than the policer's. Random loss
// is not deducted.
func (l *Link) Capacity(from, to time.Time) (bytes int) {
	return capacity(&l.rates, &l.policer.rates, l.offset(from), l.offset(to))
}

// Rate gives the bottleneck's rate at a time, 0 in an outage; the policer is
// left aside.
func (l *Link) Rate(at time.Time) rate.Rate {
	r, _ := l.rates.at(l.offset(at))
	return r
}

// Stats counts what has happened by the last call.
func (l *Link) Stats() Stats { return l.stats }

func (l *Link) offset(t time.Time) time.Duration {
	if l.origin.IsZero() {
		l.origin = t
	}
	return t.Sub(l.origin)
}

// advance does all that the bottleneck does by now, and gives now.
func (l *Link) advance(now time.Time) time.Duration {
	l.now = max(l.now, l.offset(now))
	for l.wake <= l.now {
		t := l.wake
		if l.serving {
			l.leave(t)
		}
		l.begin(t)
	}
	return l.now
}

// begin starts to transmit the next packet at t, or says when it can.
func (l *Link) begin(t time.Duration) {
	l.serving, l.wake = false, forever
	if l.queue.count == 0 {
		return
	}
	if up := l.rates.up(t); up > t {
		l.wake = up
		return
	}
	if l.current, l.serving = l.dequeue(t); l.serving {
		l.started = t
		l.wake = l.rates.finish(t, l.current.Size)
	}
}

// leave ends the transmission at t and sends the packet on its way.
func (l *Link) leave(t time.Duration) {
	if !l.losses.config.Before && l.losses.next(t) {
		l.stats.Lost++
		return
	}
	l.stats.Delivered++
	l.order++
	l.arrivals.push(arrival{
		Packet: l.current.Packet, at: l.path.arrive(t, &l.current.Packet),
		found: l.started - l.current.in, order: l.order,
	})
}

// full says whether the queue refuses a packet of sizeBytes.
func (l *Link) full(t time.Duration, sizeBytes int) bool {
	if r, _ := l.rates.step(t); r > 0 {
		l.rate = r
	}
	if !l.serving && l.queue.count == 0 || l.rate == unlimited {
		return false
	}
	backlog := l.queuedBytes
	if l.serving {
		backlog += l.rates.remaining(l.started, t, l.current.Size)
	}
	return l.config.Limit > 0 && backlog > l.rate.Bytes(l.config.Limit) ||
		l.config.Bytes > 0 && backlog+sizeBytes > l.config.Bytes
}

// take removes the head of the queue and says whether CoDel may drop it.
func (l *Link) take(t time.Duration) (w waiting, found, mayDrop bool) {
	if l.queue.count == 0 {
		l.codel.above = false
		return waiting{}, false, false
	}
	w = l.queue.pop()
	l.queuedBytes -= w.Size
	return w, true, l.codel.mayDrop(t, t-w.in, l.queuedBytes)
}

// dequeue takes the next packet to transmit: the head, or what CoDel leaves.
// It is deque of RFC 8289, 5.5.
func (l *Link) dequeue(t time.Duration) (waiting, bool) {
	w, found, mayDrop := l.take(t)
	if !l.config.CoDel {
		return w, found
	}
	c := &l.codel
	if !c.dropping {
		if mayDrop {
			l.stats.CoDel++
			w, found, _ = l.take(t)
			c.enter(t)
		}
		return w, found
	}
	c.dropping = mayDrop
	for c.dropping && t >= c.dropNext {
		l.stats.CoDel++
		c.count++
		w, found, mayDrop = l.take(t)
		if c.dropping = mayDrop; mayDrop {
			c.dropNext = c.next(c.dropNext)
		}
	}
	return w, found
}
