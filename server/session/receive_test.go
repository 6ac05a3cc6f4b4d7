package session

import (
	"slices"
	"time"

	"nearglass/cc"
	"nearglass/gpu/encode"
	"nearglass/pacing"
)

// What libwebrtc's NackRequester does with a stream that is only received, of which
// it does not know the round trip.
const (
	askAgain = 100 * time.Millisecond
	askMost  = 10
	askTick  = 20 * time.Millisecond
)

// reception is what a browser has of a stream.
type reception struct {
	started  bool
	first    uint16 // media sequence numbers count from it
	highest  int
	got      map[int]bool
	missing  map[int]*request
	ticked   time.Time
	pictures map[uint64]*received
	newestIn uint64 // the newest picture of which something came
	nacked   int
	late     []int // by how many packets those were overtaken that came out of order
}

// request is a packet that is missed.
type request struct {
	seq            int
	noticed, asked time.Time // asked zero: not yet
	times          int
}

// received is a picture, or some of it.
type received struct {
	first, last int // its packets; -1: not known yet
	head        pacing.Packet
}

// receive takes a packet and gives the numbers to ask for at once. What padding
// reveals is asked for with the next packet that has a payload.
func (r *reception) receive(now time.Time, pkt pacing.Packet) (ask []int) {
	if !r.started {
		r.started, r.first, r.highest = true, pkt.Seq, -1
	}
	seq := int(pkt.Seq - r.first)
	if seq > 1<<15 {
		return nil // from before the first that came
	}
	if r.missing[seq] != nil && pkt.Class != pacing.Resend {
		r.late = append(r.late, r.highest-seq)
		r.late = r.late[max(0, len(r.late)-128):]
	}
	delete(r.missing, seq)
	if !r.got[seq] {
		r.got[seq] = true
		r.keep(seq, pkt)
	}
	if pkt.Class != pacing.Resend {
		for s := r.highest + 1; s < seq; s++ {
			r.missing[s] = &request{noticed: now, seq: s}
		}
		r.highest = max(r.highest, seq)
	}
	if len(pkt.Body) == 0 {
		return nil
	}
	wait := r.overtaking()
	return r.askFor(now, func(q *request) bool { return q.times == 0 && r.highest >= q.seq+wait })
}

// overtaking is how many packets later one usually comes that comes out of order.
func (r *reception) overtaking() int {
	if len(r.late) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(r.late))[len(r.late)/2]
}

// overdue gives the numbers to ask for once more.
func (r *reception) overdue(now time.Time) []int {
	if now.Sub(r.ticked) < askTick {
		return nil
	}
	r.ticked = now
	return r.askFor(now, func(q *request) bool {
		return q.times == 0 && now.Sub(q.noticed) >= askAgain || q.times > 0 && now.Sub(q.asked) >= askAgain
	})
}

func (r *reception) askFor(now time.Time, due func(*request) bool) (list []int) {
	for s, q := range r.missing {
		if !due(q) {
			continue
		}
		if q.times == askMost {
			delete(r.missing, s)
			continue
		}
		q.times++
		q.asked = now
		list = append(list, s)
	}
	return list
}

// keep notes what a packet is of its picture.
func (r *reception) keep(seq int, pkt pacing.Packet) {
	if len(pkt.Body) == 0 {
		return
	}
	p := r.pictures[pkt.Frame]
	if p == nil {
		p = &received{first: -1, last: -1}
		r.pictures[pkt.Frame] = p
	}
	if pkt.First {
		p.first, p.head = seq, pkt
	}
	if pkt.Marker {
		p.last = seq
	}
	r.newestIn = max(r.newestIn, pkt.Frame)
}

// whole says whether all of a picture is there.
func (r *reception) whole(p *received) bool {
	if p == nil || p.first < 0 || p.last < 0 {
		return false
	}
	for s := p.first; s <= p.last; s++ {
		if !r.got[s] {
			return false
		}
	}
	return true
}

// decoder shows pictures in order, as far as it has what their packets say that
// they refer to, and knows what they really refer to.
type decoder struct {
	decoded map[uint64]bool // by the session's number
	kept    map[uint64]bool // in the picture buffer, by the encoder's number
	encoder uint64
	newest  uint64 // by the session's number
	number  uint64 // by the encoder's

	shown, wrong, keysAsked int
	last                    []uint32 // timestamps of the newest shown
	shownAt, askedAt        time.Time
	sights                  []sight
}

// sight is a picture that was shown.
type sight struct{ at, captured time.Time }

// decode shows what can be shown by now and gives the timestamps.
func (d *decoder) decode(now time.Time, r *reception) (shown []uint32) {
	for n := d.newest + 1; n <= r.newestIn; n++ {
		p := r.pictures[n]
		if !r.whole(p) || p.head.DependsOn > 0 && !d.decoded[p.head.DependsOn] {
			continue
		}
		if p.head.DependsOn == 0 {
			clear(d.decoded)
		}
		d.decoded[n], d.newest = true, n
		d.draw(&p.head)
		d.shownAt = now
		d.shown++
		d.sights = append(d.sights, sight{now, p.head.Captured})
		shown = append(shown, p.head.Timestamp)
	}
	return shown
}

// draw decodes a picture, against what it really refers to.
func (d *decoder) draw(head *pacing.Packet) {
	encoder, number, reference := readStamp(head)
	if reference == 0 {
		clear(d.kept)
		d.encoder = encoder
	} else if encoder != d.encoder || !d.kept[reference] || number-reference > encode.MaxReferences {
		d.wrong++
	}
	d.kept[number], d.number = true, number
}

// stuck says whether the browser asks for a key frame now: it does so when it has
// shown nothing for 3 s although packets came of late, or never anything, and again
// every 200 ms while there is something that it cannot show.
func (b *browser) stuck(now time.Time) bool {
	since, patience := b.shownAt, 3*time.Second
	if since.IsZero() {
		since, patience = b.begin, 200*time.Millisecond
	}
	again := b.newestIn > b.newest && now.Sub(b.askedAt) >= 200*time.Millisecond
	if !b.started || now.Sub(since) < patience || now.Sub(b.reports.newest) > 5*time.Second || b.askedAt.After(since) && !again {
		return false
	}
	b.askedAt = now
	return true
}

// feedbackEvery is how often transport feedback comes, and rttEvery how often a
// receiver report tells the round trip.
const (
	feedbackEvery = 100 * time.Millisecond
	rttEvery      = time.Second
)

// reports makes transport-wide feedback.
type reports struct {
	arrived map[uint64]time.Time
	media   map[uint64]uint16
	fresh   []uint64 // that arrived since the last report
	next    uint64   // the first that no report has spoken of
	at      time.Time
	toldRTT time.Time
	newest  time.Time // arrival
}

func (r *reports) take(id uint64, at time.Time) {
	if _, again := r.arrived[id]; again {
		return
	}
	r.arrived[id], r.newest = at, at
	r.fresh = append(r.fresh, id)
}

// due gives a report if it is time for one.
func (r *reports) due(now, origin time.Time, rtt time.Duration) (f cc.Feedback, ok bool) {
	if len(r.fresh) == 0 || now.Sub(r.at) < feedbackEvery {
		return f, false
	}
	r.at = now
	if now.Sub(r.toldRTT) >= rttEvery {
		r.toldRTT, f.RTT = now, rtt
	}
	slices.Sort(r.fresh)
	highest := r.fresh[len(r.fresh)-1]
	for id := r.next; id <= highest; id++ {
		if _, came := r.arrived[id]; !came && id > 0 {
			r.fresh = append(r.fresh, id)
		}
	}
	r.next = max(r.next, highest+1)
	slices.Sort(r.fresh)
	for _, id := range r.fresh {
		at, came := r.arrived[id]
		f.Acks = append(f.Acks, cc.Ack{Sequence: id, Arrived: at.Sub(origin).Truncate(arrivalStep), Lost: !came})
		if came {
			f.Received = append(f.Received, r.media[id])
		}
	}
	r.fresh = r.fresh[:0]
	return f, true
}
