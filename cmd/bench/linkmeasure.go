package main

import (
	"errors"
	"time"

	"nearglass/cc/sim"
	"nearglass/cmd/bench/wire"
)

// linkFigures are what one run gave, by the keys below. What a run has not shown
// is missing.
type linkFigures map[string]float64

// The keys of linkFigures.
const (
	usedShare   = "used"     // %, of what the link could carry (and its loss left)
	queueP50    = "queueP50" // ms that a packet of the stream finds at the bottleneck
	queueP95    = "queueP95"
	frontP95    = "frontP95" // ms that the first packet of a picture finds
	pictureP95  = "pictureP95"
	tailShare   = "tail"    // %, of the stream's packets refused by a full queue
	otherShare  = "other"   // %, of the stream's bytes that are resends or padding
	fillTime    = "ramp"    // s until 80 % of the link were used
	fillPeak    = "peak"    // ms of queue at most until settled
	shownFPS    = "shown"   // pictures a second on the viewer's screen
	freezeCount = "freezes" // by the browser's definition
	frozenTime  = "frozen"  // s
	fallPeak    = "fallPeak"
	fallBelow   = "fallBelow" // s until the stream sends less than the link carries
	fallSettle  = "fallSettle"
	riseTime    = "rise"
	besideShare = "share" // %, of the link while TCP wants all of it
	bulkShare   = "bulk"
	backTime    = "back" // s until 80 % again, after TCP has ended
	lateP99     = "late" // ms, of the link's own thread
	busyCores   = "busy"
	ownCores    = "cores" // both senders, both browsers, the screen and the link
)

const (
	// settled is when a stream should have found its rate.
	settled = 5 * time.Second
	// fillWindow is over what "80 % of the link" is counted.
	fillWindow = 500 * time.Millisecond
	// fillGoal is the share of the link at which a ramp has ended.
	fillGoal = 0.8
	// calm is the queue at which a fall of the rate is overcome.
	calm = 20 * time.Millisecond
	// fallWindow is over what the rate is counted that must fit the link again:
	// six pictures.
	fallWindow = 100 * time.Millisecond
)

// run is what was seen of one.
type linkRun struct {
	linkCase
	length  time.Duration
	origin  time.Time     // of the packets' times
	packets []wire.Packet // sent forward
	samples []sample      // of the receiver
}

// errNoMedia is the run of a peer that never sent.
var errNoMedia = errors.New("no video came through the link")

// figures measures the run.
func (r *linkRun) figures() (linkFigures, error) {
	f := linkFigures{}
	video, ok := r.videoSSRC()
	if !ok {
		return f, errNoMedia
	}
	begin := r.firstOf(video)
	from := min(begin+settled, r.length/2)
	f[usedShare] = r.share(video.carried, from, r.length)
	r.queues(f, video, from)
	r.fill(f, video, begin, min(from, r.undisturbed()))
	if r.dip > 0 {
		r.fall(f, video)
	}
	if r.bulk {
		r.beside(f, video)
	}
	r.pictures(f, from)
	return f, nil
}

// undisturbed gives until when nothing happens on the link.
func (r *linkRun) undisturbed() time.Duration {
	until := r.length
	if r.dip > 0 {
		until, _ = r.dipped(r.length)
	}
	if r.bulk {
		until, _ = r.bulked(r.length)
	}
	return until
}

// stream picks the packets of an SSRC.
type stream uint32

func (s stream) carried(p *wire.Packet) bool { return s.sent(p) && p.Out > 0 }
func (s stream) sent(p *wire.Packet) bool    { return p.Kind == wire.Media && p.SSRC == uint32(s) }

func anyMedia(p *wire.Packet) bool    { return p.Kind == wire.Media }
func bulkCarried(p *wire.Packet) bool { return p.Kind == wire.Bulk && p.Out > 0 }

// videoSSRC finds the video: it has the most bytes. Resends and padding have
// an SSRC of their own.
func (r *linkRun) videoSSRC() (stream, bool) {
	bytes := map[uint32]int{}
	var best uint32
	for _, p := range r.packets {
		if p.Kind == wire.Media {
			if bytes[p.SSRC] += p.Size; bytes[p.SSRC] > bytes[best] {
				best = p.SSRC
			}
		}
	}
	return stream(best), len(bytes) > 0
}

func (r *linkRun) firstOf(video stream) time.Duration {
	for i := range r.packets {
		if video.sent(&r.packets[i]) {
			return r.packets[i].In
		}
	}
	return 0
}

// bytes adds up what left the link within a time.
func (r *linkRun) bytes(pick func(*wire.Packet) bool, from, to time.Duration) (sum int) {
	for i := range r.packets {
		if p := &r.packets[i]; p.Out >= from && p.Out < to && pick(p) {
			sum += p.Size
		}
	}
	return sum
}

// share gives what part of the link's capacity in a time was used, in percent.
// What random loss takes is no capacity.
func (r *linkRun) share(pick func(*wire.Packet) bool, from, to time.Duration) float64 {
	c := r.forward(r.length)
	c.Origin = r.origin
	capacity := sim.NewLink(c, 0).Capacity(r.origin.Add(from), r.origin.Add(to))
	return 100 * float64(r.bytes(pick, from, to)) / (float64(capacity) * (1 - r.loss))
}

// queues measures what the stream's packets found in front of them from a time
// on. A packet that was refused found a full queue.
func (r *linkRun) queues(f linkFigures, video stream, from time.Duration) {
	var all, front, late series
	var refused, bytes, other int
	last := int64(-1)
	for i := range r.packets {
		p := &r.packets[i]
		if p.Out > 0 {
			late = append(late, p.Late)
		}
		if p.In < from || p.In >= r.length || !anyMedia(p) {
			continue
		}
		found, known := r.found(p)
		if bytes += p.Size; !video.sent(p) {
			other += p.Size
		} else if first := int64(p.Timestamp) != last; first && known {
			front = append(front, found)
		}
		if video.sent(p) {
			last = int64(p.Timestamp)
		}
		if p.Tail {
			refused++
		}
		if known {
			all = append(all, found)
		}
	}
	f.put(queueP50, all, 50)
	f.put(queueP95, all, 95)
	f.put(frontP95, front, 95)
	f.put(pictureP95, r.passages(video, from), 95)
	f.put(lateP99, late, 99)
	f[tailShare] = 100 * float64(refused) / float64(max(len(all), 1))
	f[otherShare] = 100 * float64(other) / float64(max(bytes, 1))
}

// found gives the queue that a packet met; it is not known of packets that
// were lost behind the bottleneck.
func (r *linkRun) found(p *wire.Packet) (time.Duration, bool) {
	if p.Tail {
		return linkQueue, true
	}
	return p.Found, p.Out > 0
}

// passages gives how long each picture took from its first packet at the link
// until its last had passed, less the one-way delay.
func (r *linkRun) passages(video stream, from time.Duration) (s series) {
	type passage struct{ in, out time.Duration }
	pictures := map[uint32]passage{}
	for i := range r.packets {
		p := &r.packets[i]
		if p.In < from || p.In >= r.length || !video.carried(p) {
			continue
		}
		seen, ok := pictures[p.Timestamp]
		if !ok {
			seen.in = p.In
		}
		seen.out = max(seen.out, p.Out)
		pictures[p.Timestamp] = seen
	}
	for _, p := range pictures {
		s = append(s, p.out-p.in-linkOneWay)
	}
	return s
}

// fill measures how long it took to fill the link, and the queue meanwhile.
func (r *linkRun) fill(f linkFigures, video stream, begin, until time.Duration) {
	if at, ok := r.reaches(video.carried, begin, r.undisturbed(), fillGoal*float64(r.rate)*(1-r.loss)); ok {
		f[fillTime] = (at - begin).Seconds()
	}
	f[fillPeak] = r.peak(begin, until)
}

// reaches finds when a rate, in bit/s over fillWindow, is first reached.
func (r *linkRun) reaches(pick func(*wire.Packet) bool, from, to time.Duration, goal float64) (time.Duration, bool) {
	const step = 10 * time.Millisecond
	bins := make([]int, max(int((to-from)/step), 0)+1)
	for i := range r.packets {
		if p := &r.packets[i]; p.Out >= from && p.Out < to && pick(p) {
			bins[(p.Out-from)/step] += p.Size
		}
	}
	const window = int(fillWindow / step)
	sum := 0
	for i, n := range bins {
		sum += n
		if i >= window {
			sum -= bins[i-window]
		}
		if float64(8*sum) >= goal*fillWindow.Seconds() {
			return from + time.Duration(i+1)*step, true
		}
	}
	return 0, false
}

// peak is the longest queue that the stream met in a time, in milliseconds.
func (r *linkRun) peak(from, to time.Duration) float64 {
	var longest time.Duration
	for i := range r.packets {
		if p := &r.packets[i]; p.In >= from && p.In < to && anyMedia(p) {
			found, _ := r.found(p)
			longest = max(longest, found)
		}
	}
	return milliseconds(longest)
}

// fall measures the reaction to the dip and to its end.
func (r *linkRun) fall(f linkFigures, video stream) {
	down, up := r.dipped(r.length)
	f[fallPeak] = r.peak(down, up)
	if at, ok := r.fits(down, up, float64(r.dip)); ok {
		f[fallBelow] = (at - down).Seconds()
	}
	if at, ok := r.calms(down, up); ok {
		f[fallSettle] = (at - down).Seconds()
	}
	if at, ok := r.reaches(video.carried, up, r.length, fillGoal*float64(r.rate)); ok {
		f[riseTime] = (at - up).Seconds()
	}
}

// fits finds when the stream first sends no more than a rate, over fallWindow.
func (r *linkRun) fits(from, to time.Duration, most float64) (time.Duration, bool) {
	const step = 10 * time.Millisecond
	const window = int(fallWindow / step)
	bins := make([]int, int((to-from)/step)+1)
	for i := range r.packets {
		if p := &r.packets[i]; p.In >= from && p.In < to && anyMedia(p) {
			bins[(p.In-from)/step] += p.Size
		}
	}
	for i := 0; i+window <= len(bins); i++ {
		sum := 0
		for _, n := range bins[i : i+window] {
			sum += n
		}
		if float64(8*sum) <= most*fallWindow.Seconds() {
			return from + time.Duration(i)*step, true
		}
	}
	return 0, false
}

// calms finds when the queue, after its longest, is short again.
func (r *linkRun) calms(from, to time.Duration) (at time.Duration, ok bool) {
	peak := time.Duration(r.peak(from, to) * float64(time.Millisecond))
	past := peak < calm
	for i := range r.packets {
		p := &r.packets[i]
		found, known := r.found(p)
		if p.In < from || p.In >= to || !anyMedia(p) || !known {
			continue
		}
		// The peak went through milliseconds and may have lost a nanosecond.
		if past = past || found+time.Microsecond >= peak; past && found < calm {
			return p.In, true
		}
	}
	return 0, false
}

// beside measures the time with the TCP flow, from a third of it on, and what
// came after.
func (r *linkRun) beside(f linkFigures, video stream) {
	begin, end := r.bulked(r.length)
	from := begin + (end-begin)/3
	f[besideShare] = r.share(video.carried, from, end)
	f[bulkShare] = r.share(bulkCarried, from, end)
	if at, ok := r.reaches(video.carried, end, r.length, fillGoal*float64(r.rate)); ok {
		f[backTime] = (at - end).Seconds()
	}
}

// pictures measures what was shown from a time on.
func (r *linkRun) pictures(f linkFigures, from time.Duration) {
	offset := float64(r.origin.UnixMicro()) / 1e3
	var kept []sample
	for _, s := range r.samples {
		if at := s.At - offset; at >= milliseconds(from) && at < milliseconds(r.length) {
			kept = append(kept, s)
		}
	}
	if len(kept) < 2 {
		return
	}
	first, last := kept[0], kept[len(kept)-1]
	f[shownFPS] = (last.Shown - first.Shown) / (last.At - first.At) * 1e3
	f[freezeCount] = last.Freezes - first.Freezes
	f[frozenTime] = last.Frozen - first.Frozen
}

// put notes a percentile of a series that has one.
func (f linkFigures) put(key string, s series, p int) {
	if v, err := s.percentile(p); err == nil {
		f[key] = v
	}
}
