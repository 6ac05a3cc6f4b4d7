package cc

import (
	"math"
	"time"

	"nearglass/cc/rate"
)

const (
	// lossSlots windows of lossSpan are remembered: 10 s.
	lossSlots = 40
	lossSpan  = 250 * time.Millisecond
	// manyLost packets, most of a window's, end it early.
	manyLost = 10
	// A storm, in which stormLoss of about recentPackets are lost, has a window
	// of its own.
	recentPackets = 6
	stormLoss     = 0.6
	stormSpan     = 40 * time.Millisecond
	// A flood is a storm that goes on: floodLoss of about floodPackets are lost.
	floodPackets = 50
	floodLoss    = 0.6
	// A gap is a run of manyLost or more that took goneSpan or more of sending: a limit
	// that lets nothing through for so long is below 320 kbit/s, so that the path was gone.
	// With fewer than gapPackets between it and another such run it is a flood.
	goneSpan   = 30 * time.Millisecond
	gapPackets = 6
	// lossFade is what a window counts for when the next one closes.
	lossFade = 0.95
	// mostInherent is the loss that a path may have at any rate: radio at its
	// worst. What is more comes of sending too much.
	mostInherent = 0.2
	// lossDoubt is how much likelier a limit has to be than none.
	lossDoubt = 4
	// leastLimit, in bit/s, is what no limit is below.
	leastLimit = 200e3
	// offered is the part of the rate allowed that has to be sent for its
	// losses to be laid to a limit.
	offered = 0.2
	// lossMargin is kept below a limit. lossRise is how fast it is tried
	// whether the limit is still there, relative to it in a second; after
	// every lossPatience without a confirmation, twice as fast.
	lossMargin   = 0.94
	lossRise     = 0.015
	lossPatience = 4.0
	// hastyRise is the same after a storm.
	hastyRise = 1.2
)

// window is what became of the packets of one span.
type window struct {
	rate       float64 // sent, bit/s on the wire
	sent, lost float64 // packets
	runs       float64 // of losses in a row
}

// run is one of losses: when its packets were sent, and what of it is in the open
// window.
type run struct {
	from, to time.Time
	sent     float64
	bytes    int
}

// lossModel tells whether packets are lost at random, which no lower rate helps
// against, or because more is sent than passes: a policer drops without any
// queue to see. It chooses the limit, and the inherent loss, under which the
// losses at the rates of late are the likeliest (as goog_cc's loss-based
// estimation of 2021 does).
type lossModel struct {
	windows [lossSlots]window // ring, the newest at n-1
	n       int
	open    window
	bytes   int
	since   time.Time
	recent  float64 // share of the latest packets that were lost
	storm   bool    // most are
	flood   float64 // share that was lost of far more of them
	inRun   bool    // the latest one was
	run     run     // of losses, the latest
	gap     run     // the latest that may be a gap, until that is known
	apart   int     // packets that came since the latest of those, or since the start
	cap     float64 // the limit in force, bit/s on the wire; 0: none
	at      time.Time
	allowed float64 // bit/s on the wire that the stream may use now
	// unconfirmed is how long the limit has stood, in seconds.
	unconfirmed float64
	// hasty says that a storm set the limit, and little is known of it: a run
	// of losses on a radio link looks the same, and is over at once.
	hasty bool
}

// arrive notes a packet that came through.
func (l *lossModel) arrive(p *packet) {
	l.flood -= l.flood / floodPackets
	if p.lost { // it was only late
		l.open.lost = max(l.open.lost-1, 0)
		return
	}
	l.note(p, 0)
}

// miss notes one that did not. A queue that was full explains it, unless that goes
// on and on: where hardly anything comes through, no train is whole that would show
// the queue.
func (l *lossModel) miss(p *packet, full bool) {
	l.flood += (1 - l.flood) / floodPackets
	if !full || l.flood > floodLoss {
		l.note(p, 1)
	}
}

func (l *lossModel) note(p *packet, lost float64) {
	if lost == 0 {
		l.endRun()
		l.endGap(p.At)
	}
	l.recent += (lost - l.recent) / recentPackets
	storm := l.recent > stormLoss
	if storm && !l.storm && l.open.lost < manyLost {
		// What came before is no part of it.
		l.open, l.bytes, l.since = window{}, 0, p.At
		l.run.sent, l.run.bytes = 0, 0
	}
	l.storm = storm
	if l.since.IsZero() {
		l.since = p.At
	}
	l.open.sent++
	l.open.lost += lost
	l.bytes += p.wireBytes
	if lost > 0 {
		l.inRunOf(p)
		return // what a run means is known at its end
	}
	l.close(p.At)
}

// inRunOf notes a loss in its run.
func (l *lossModel) inRunOf(p *packet) {
	if !l.inRun {
		l.open.runs++
		l.inRun, l.run = true, run{from: p.At}
	}
	l.run.to = p.At
	l.run.sent++
	l.run.bytes += p.wireBytes
}

// endRun says whether a run of losses that is over may have been a gap: then the path
// was gone, at any rate, and neither its losses nor its time say anything of a limit.
func (l *lossModel) endRun() {
	if !l.inRun {
		return
	}
	l.inRun = false
	if l.run.sent < manyLost || l.run.to.Sub(l.run.from) < goneSpan {
		return
	}
	l.gap = run{}
	if l.apart >= gapPackets {
		l.gap = l.run
	}
	l.apart = 0
}

// endGap takes a gap out of the window when enough has come after it.
func (l *lossModel) endGap(now time.Time) {
	l.apart++
	if l.apart != gapPackets || l.gap.sent == 0 {
		return
	}
	l.open.sent -= l.gap.sent
	l.open.lost = max(l.open.lost-l.gap.sent, 0)
	l.open.runs = max(l.open.runs-1, 0)
	l.bytes -= l.gap.bytes
	l.since = l.since.Add(l.gap.to.Sub(later(l.gap.from, l.since)))
	l.gap, l.recent, l.storm = run{}, 0, false
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// close ends the window if it is long enough.
func (l *lossModel) close(now time.Time) {
	span := now.Sub(l.since)
	early := l.open.lost >= manyLost && 2*l.open.lost > l.open.sent && span > stormSpan
	if span < lossSpan && !early || l.gap.sent > 0 {
		return
	}
	l.open.rate = float64(rate.Of(l.bytes, span))
	if span > 4*lossSpan { // a silence lay in it
		l.open.rate = 0
	}
	l.windows[l.n%lossSlots] = l.open
	l.n++
	l.fit()
	l.open, l.bytes, l.since = window{}, 0, now
}

// fit looks for the limit that explains the losses best.
func (l *lossModel) fit() {
	newest := &l.windows[(l.n-1)%lossSlots]
	if newest.lost == 0 {
		return // nothing new to explain
	}
	if newest.rate < offered*l.allowed {
		return // so little is sent that no limit can be to blame
	}
	if 2*newest.lost > newest.sent && newest.sent >= manyLost {
		// No path is like that by nature, and what came before is no guide.
		l.windows[0], l.n = *newest, 1
		l.confirm(newest.rate * (1 - newest.lost/newest.sent))
		l.hasty = true
		return
	}
	best, likeliest := 0.0, l.likelihood(math.Inf(1))+lossDoubt*l.burst()
	for i := range min(l.n, lossSlots) {
		w := &l.windows[i]
		limit := w.rate * (1 - w.lost/max(w.sent, 1))
		if limit <= 0 {
			continue
		}
		if v := l.likelihood(limit); v > likeliest {
			best, likeliest = limit, v
		}
	}
	if best > 0 {
		l.confirm(best)
		l.hasty = false
	}
}

func (l *lossModel) confirm(limit float64) {
	l.cap, l.unconfirmed = lossMargin*max(limit, leastLimit), 0
}

// likelihood is the logarithm of how likely the losses are under a limit, with
// the inherent loss that suits it best.
func (l *lossModel) likelihood(limit float64) float64 {
	var unexplained, passed float64
	l.each(func(w *window, weight float64) {
		over := excess(w.rate, limit)
		unexplained += weight * (w.lost - w.sent*over)
		passed += weight * w.sent * (1 - over)
	})
	const least = 1e-4
	inherent := min(max(unexplained/max(passed, 1), least), mostInherent)
	sum := 0.0
	l.each(func(w *window, weight float64) {
		q := min(inherent+(1-inherent)*excess(w.rate, limit), 1-least)
		sum += weight * (w.lost*math.Log(q) + (w.sent-w.lost)*math.Log(1-q))
	})
	return sum
}

// burst is how many packets are lost in a row, on average. Losses that come
// together count once: ten in a row say no more than one.
func (l *lossModel) burst() float64 {
	var lost, runs float64
	l.each(func(w *window, weight float64) {
		lost += weight * w.lost
		runs += weight * w.runs
	})
	return max(lost/max(runs, 1), 1)
}

// each calls f for the windows, the newest first, with their weights.
func (l *lossModel) each(f func(w *window, weight float64)) {
	weight := 1.0
	for i := range min(l.n, lossSlots) {
		f(&l.windows[(l.n-1-i)%lossSlots], weight)
		weight *= lossFade
	}
}

// excess is the share of a rate that is over a limit.
func excess(rate, limit float64) float64 {
	if rate <= limit {
		return 0
	}
	return 1 - limit/rate
}

// limit returns the limit in force, which rises until a loss confirms it again
// or it is above the capacity; false when there is none.
func (l *lossModel) limit(now time.Time, capacity rate.Rate) (rate.Rate, bool) {
	dt := min(max(now.Sub(l.at), 0), time.Second)
	l.at = now
	if l.cap == 0 {
		return 0, false
	}
	l.unconfirmed += dt.Seconds()
	rise := lossRise * math.Exp2(l.unconfirmed/lossPatience)
	if l.hasty {
		rise = hastyRise
	}
	l.cap *= 1 + rise*dt.Seconds()
	if l.cap > float64(capacity) {
		l.cap = 0
		return 0, false
	}
	return rate.Rate(l.cap), true
}
