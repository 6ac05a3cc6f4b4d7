package cc

import (
	"math"
	"time"

	"nearglass/cc/rate"
)

const (
	// leastFill and mostFill are the share of the capacity that the stream
	// fills, where reports come every slowReport and every quickReport. At 0.95
	// the queue is half a millisecond longer at p95 than at 0.9, but when a path falls from 10 to 3 Mbit/s
	// just after a report, an interval and a round trip pass until the next one
	// tells, and each hundredth more adds 4 ms to the queue meanwhile: at 0.9
	// and with 120 ms until then it comes to 238 ms.
	leastFill, mostFill     = 0.9, 0.95
	slowReport, quickReport = 100 * time.Millisecond, 50 * time.Millisecond
	// evenPace is the capacity at which packets leave at twice its rate, so
	// that the path spreads them and a larger capacity shows within one
	// picture. The pace goes with the root of the capacity: where the trains of
	// two streams meet, the one with the lower estimate then sees more than its
	// part, and they come to equal ones. The gain keeps within its bounds.
	evenPace  = 10 * rate.Mbps
	leastGain = 1.5
	mostGain  = 6
	gainPower = 0.5
	// startPace is the pace before anything is known: what the first picture
	// can gauge.
	startPace = 20 * rate.Mbps
	// startDepth is how much of the start rate leaves at startPace: 7.5 kB,
	// enough to gauge the path, and 60 ms of queue on one that carries no more.
	startDepth = 60 * time.Millisecond
	// drainTime is how fast a standing queue is to be gone.
	drainTime = 250 * time.Millisecond
	// leastDrain is the share of the capacity that is used even while a
	// queue drains.
	leastDrain = 0.3
)

// Controller follows what the path carries. See the package comment.
type Controller struct {
	c       Config
	update  Update
	history history
	train   train
	cap     capacity
	queue   queue
	share   share
	outage  outage
	prober  prober
	loss    lossModel
	blind   blind

	delivered delivered
	virtual   virtualQueue
	sizes     sizes
	claimed   float64 // of the capacity, smoothed
	started   bool
	recheck   time.Time // when the path is to be looked at again; zero: at the next feedback
	since     uint64    // the first sequence that took the present path
	moved     bool      // the present path is not the first
}

// New makes a controller that knows nothing but the configuration.
func New(c Config) *Controller {
	c = c.withDefaults()
	k := &Controller{c: c, share: newShare()}
	k.begin(k.startTarget(c.Relayed))
	return k
}

func (c *Controller) off(p Part) bool { return c.c.Off&p != 0 }

// OnSent takes a packet that left. Sequence numbers have to rise; a packet
// that does not is ignored.
func (c *Controller) OnSent(now time.Time, s Sent) {
	p, ok := c.history.add(s)
	if !ok {
		return
	}
	before := c.history.before(p)
	p.first = before == nil || before.Frame != p.Frame && !p.Resend || before.Probe != p.Probe
	c.virtual.send(p, c.cap.rate)
	c.sizes.send(p)
	c.outage.send(s.At)
}

// OnFeedback takes one report of the receiver, in order of sequence.
func (c *Controller) OnFeedback(now time.Time, acks []Ack) Update {
	trains, heard := 0, false // heard from packets of an earlier path
	var last *packet
	var lastDelay time.Duration
	for _, a := range acks {
		p := c.history.get(a.Sequence)
		switch {
		case p == nil || p.acked:
			continue
		case p.Sequence < c.since:
			p.acked, heard = !a.Lost, heard || !a.Lost
			continue
		case a.Lost:
			c.miss(p)
			continue
		}
		p.acked = true
		c.loss.arrive(p)
		c.delivered.arrive(p, a.Arrived)
		if s, ok := c.train.add(p, a.Arrived); ok {
			trains += c.learn(s)
		}
		if last == nil || p.Sequence > last.Sequence {
			last, lastDelay = p, c.train.last
		}
	}
	if s, ok := c.train.close(); ok {
		trains += c.learn(s)
	}
	if last != nil || heard { // that all is lost is no end of an outage
		c.outage.hear(now)
	}
	if last == nil {
		return c.update
	}
	c.estimate(now, trains)
	c.virtual.sync(&c.history, last, lastDelay-c.queue.base-2*c.queue.noise(), c.cap.rate)
	c.decide(now)
	return c.update
}

// estimate says what the path carries, at the end of a report.
func (c *Controller) estimate(now time.Time, trains int) {
	c.delivered.close()
	before := c.cap.rate
	c.cap.update(trains, c.off(Change), c.off(Calm))
	if c.blind.on && c.blind.shaken && !c.share.competing {
		c.cap.rate = before
	}
	standing, _, ok := c.queue.least(recently)
	switch {
	case c.share.competing:
		c.blind.on = false
	case ok:
		standing = c.lasting(standing)
		c.feel(now, standing, c.tolerated())
		c.doubt(standing)
	}
}

// lasting is the standing queue that is not chance. Where a path that keeps packets
// in order delays them by chance, those behind one that was held up are late too, so
// that all of a short time may be. What is no more than trains far apart differ by has
// to stand for longer.
func (c *Controller) lasting(standing time.Duration) time.Duration {
	if c.blind.on && c.blind.shaken && standing <= tolerable(c.queue.noiseOver(apart)) {
		standing, _, _ = c.queue.least(longer)
	}
	return standing
}

// doubt lowers an estimate that a queue contradicts. In front of a bottleneck
// that is busy, trains that promise more than ever arrived were let through
// together by chance. And while a small queue stays although it should drain,
// the path carries what arrives.
func (c *Controller) doubt(standing time.Duration) {
	arrives := c.delivered.rate()
	switch tolerated := c.tolerated(); {
	case arrives == 0 || standing <= tolerated:
	case standing > deepQueue+tolerated:
		c.cap.rate = min(c.cap.rate, c.delivered.most().Scale(doubtful))
	default:
		c.cap.rate = min(c.cap.rate, max(arrives, c.cap.rate.Scale(doubtStep)))
	}
}

// tolerated is the queue that is let be.
func (c *Controller) tolerated() time.Duration { return tolerable(c.queue.noise()) }

// tolerable is the queue that may be noise.
func tolerable(noise time.Duration) time.Duration { return leastStanding + noise*5/2 }

// miss notes a packet that is reported lost.
func (c *Controller) miss(p *packet) {
	if p.lost {
		return
	}
	p.lost = true
	full := c.train.last-c.queue.base >= deepQueue
	c.loss.miss(p, full)
	c.train.miss(p, full)
}

// learn takes a finished train and says how many it counts for.
func (c *Controller) learn(s sample) int {
	c.queue.observe(s.at, min(s.first, s.last))
	if s.headed {
		c.queue.add(&s, c.taken(&s))
		if held := c.queue.held(); held > leastHeld+2*c.queue.noise() && !c.share.competing {
			c.cap.stretch(&s, held)
		}
	}
	if c.cap.add(s) {
		return 1
	}
	return 0
}

// taken is how long the bottleneck was busy with a train, of whose bytes those of the
// first packet are left out.
func (c *Controller) taken(s *sample) time.Duration {
	first := c.sizes.full() + ipOverheadBytes
	if s.packets > 1 {
		first = s.bytes / (s.packets - 1)
	}
	return min(c.cap.rate.Duration(s.bytes+first), shiftWait)
}

// OnTick is called at Deadline, and once at the start for the first rates.
func (c *Controller) OnTick(now time.Time) Update {
	if !c.started {
		c.started = true
		c.recall(now)
		return c.update
	}
	switch {
	case c.outage.begins(now) && !c.off(Outage):
		c.holdBack()
	case !c.recheck.IsZero() && !now.Before(c.recheck):
		c.decide(now)
	}
	return c.update
}

// Deadline returns when OnTick is due next; the zero time means never.
func (c *Controller) Deadline() time.Time {
	due := c.recheck
	if d := c.outage.deadline(); !c.off(Outage) && !d.IsZero() && (due.IsZero() || d.Before(due)) {
		due = d
	}
	return due
}

// decide makes the update from what is known now.
func (c *Controller) decide(now time.Time) {
	c.recheck = time.Time{}
	if c.cap.rate <= 0 { // nothing gauged yet
		c.gauge(now)
		return
	}
	w := c.weigh(now)
	c.loss.allowed = float64(w.wire)
	u := Update{State: w.state, Reason: w.reason}
	u.Target = c.sizes.encoder(w.wire, c.c.FrameInterval)
	u.Target = min(max(u.Target, c.c.Min), c.c.Max)
	u.Pace = c.pace()
	u.Path = c.path(now)
	if w.state == "lossy" {
		// What drops packets over a rate has no queue to put a train in.
		u.Pace = max(w.wire.Scale(lossyPace), c.c.Min)
		u.Path = Path{}
	}
	if w.state == "competing" {
		u.Path = Path{} // the queue is not ours to keep short
	}
	u.Probe = c.prober.plan(now, c, w.state)
	c.update = u
}

// pace is how fast packets leave.
func (c *Controller) pace() rate.Rate {
	gain := 2 * math.Pow(float64(evenPace)/float64(c.cap.rate), gainPower)
	return c.cap.rate.Scale(min(max(gain, leastGain), mostGain))
}

// path says what the pacer may put in front of the bottleneck. While a deep
// queue drains, what waits in the pacer keeps to the rate that lets it drain.
func (c *Controller) path(now time.Time) Path {
	p := Path{Rate: c.sizes.carried(c.cap.rate), Queue: c.virtual.now(now)}
	p.Depth = max(pathDepth, p.Rate.Duration(pathBytes))
	if over := p.Queue - deepQueue; over > 0 && !c.off(Drain) {
		p.Rate, p.Queue = p.Rate.Scale(leastDrain), 0
		c.recheck = now.Add(max(over, c.c.FrameInterval))
	}
	return p
}

// weighed is a rate on the wire, and why it is that.
type weighed struct {
	wire          rate.Rate
	state, reason string
}

// weigh turns the estimates into a rate on the wire.
func (c *Controller) weigh(now time.Time) weighed {
	standing, _, known := c.queue.least(recently)
	tolerated := c.tolerated()
	if stays, unforeseen, ok := c.queue.least(longer); ok && !c.off(Share) && !c.share.competing {
		if stays > tolerated && unforeseen > tolerated && !c.blind.on {
			c.share.metAt = now
		}
		crowded := tolerated + crowding
		occupied := stays > crowded && unforeseen > crowded && !c.blind.on
		c.share.judge(now, occupied, c.cap.rate)
	}
	w := c.alone(now, standing, tolerated, known)
	if known && !c.off(Compete) {
		c.claimed += (float64(w.wire)/float64(c.cap.rate) - c.claimed) / claimedReports
		c.share.compete(now, standing, tolerated, min(c.claimed, c.passes()))
	}
	c.queue.filled = c.share.competing
	if c.share.competing {
		w = weighed{c.cap.rate.Scale(c.share.claim(now)), "competing", "another flow keeps the queue full"}
	}
	if limit, ok := c.loss.limit(now, c.cap.rate); ok && limit < w.wire && !c.off(Loss) {
		w = weighed{limit, "lossy", "more is lost the more is sent"}
	}
	return w
}

// passes is what arrives, as a share of what trains show: beside a flow that
// fills the queue, most of the bottleneck's time goes to its packets, and ours
// are spread by few of them.
func (c *Controller) passes() float64 {
	return float64(c.delivered.rate()) / float64(c.cap.rate)
}

// fill is the share of the capacity that the stream takes.
func (c *Controller) fill() float64 {
	every := min(max(c.outage.every, quickReport), slowReport)
	if c.outage.every == 0 || c.blind.on {
		every = slowReport
	}
	return mostFill - (mostFill-leastFill)*float64(every-quickReport)/float64(slowReport-quickReport)
}

// alone is the rate where nobody fills the queue on purpose.
func (c *Controller) alone(now time.Time, standing, tolerated time.Duration, known bool) weighed {
	room := c.cap.rate.Scale(c.fill() * c.share.value)
	if c.share.met(now) {
		room += rate.Rate(levelling * math.Sqrt(float64(c.cap.rate)*float64(rate.Mbps)))
	}
	w := weighed{room, "steady", "what the path carries, less headroom"}
	if c.share.value < 0.95 {
		w.state, w.reason = "sharing", "others use the path too"
	}
	head := c.virtual.head
	if c.blind.on {
		head = min(head, standing) // single delays are chance
	}
	if excess := head - tolerated; known && excess > 0 && !c.off(Drain) {
		less := c.cap.rate.Scale(float64(excess) / float64(drainTime))
		w.wire = max(w.wire-less, c.cap.rate.Scale(leastDrain*c.share.value))
		w.state, w.reason = "draining", "a queue stands in front of the bottleneck"
	}
	return w
}

// lossyPace is how much faster than a policer's rate packets leave.
const lossyPace = 1.08

const (
	// leastStanding is the queue that is let be: the noise of a calm path.
	leastStanding = 2 * time.Millisecond
	// doubtful is how far an estimate may be above the most that arrived, and
	// doubtStep what one report may leave of it.
	doubtful  = 1.2
	doubtStep = 0.97
	// claimedReports is over how many reports the claim is smoothed.
	claimedReports = 5
	// crowding is what other streams may have in front of ours without
	// their sum being too much: the trains of one or two.
	crowding = 6 * time.Millisecond
)

// pathDepth, and pathBytes at least, may wait of a picture in front of the
// bottleneck: enough for its spacing to show what the path carries.
const (
	pathDepth = 3 * time.Millisecond
	pathBytes = 2400 // two packets
)
