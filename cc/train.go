package cc

import "time"

// sample is what one train of packets told. A train is the packets of one
// picture, or of one probe, that left together: the bottleneck spreads them to
// its own rate, and the spacing in which they arrive shows it. (Netflix's
// draft-ageneau-ccwg-ndtc and Google's SQP read pictures the same way.)
type sample struct {
	bytes    int           // on the wire, of all packets that arrived but the first
	received time.Duration // from the first arrival to the last
	sent     time.Duration // from the first departure to the last, of those that arrived
	packets  int           // that arrived
	first    time.Duration // one-way delay of the first packet, from an arbitrary origin
	last     time.Duration // and of the last
	foreseen time.Duration // the queue that the first should have met
	headed   bool          // the first packet is the first of its train
	at       time.Time     // departure of the first
	arrived  time.Duration // arrival of the last
	probe    uint32
	// The last few packets by themselves: what a path that shrinks within a
	// train shows first.
	tailBytes      int
	tail, tailSent time.Duration
}

// arrivalGrain is the step in which transport-cc tells arrivals.
const arrivalGrain = 250 * time.Microsecond

// trainGap divides trains that are not told apart otherwise: packets of a
// picture that waited so long in the pacer do not probe the path.
const trainGap = 8 * time.Millisecond

// train collects acknowledgements of packets that left together.
type train struct {
	sample
	open         bool
	frame        uint64
	origin       time.Time // that one-way delays count from
	firstArrived time.Duration
	lastSent     time.Time
	missing      int // bytes lost since the last arrival
	arrivals     [tailPackets + 1]time.Duration
	departures   [tailPackets + 1]time.Time
	sizes        [tailPackets + 1]int
}

// tailPackets make the tail of a train.
const tailPackets = 3

// add takes the acknowledgement of a packet. When it belongs to another train
// than those before, it returns the sample of that one.
func (t *train) add(p *packet, arrived time.Duration) (done sample, ok bool) {
	if t.origin.IsZero() {
		t.origin = p.At
	}
	if !t.holds(p) {
		done, ok = t.close()
		*t = train{origin: t.origin, open: true, frame: p.Frame, firstArrived: arrived, lastSent: p.At}
		delay := arrived - p.At.Sub(t.origin)
		t.sample = sample{
			packets: 1, first: delay, last: delay, foreseen: p.foreseen, headed: p.first,
			at: p.At, arrived: arrived, probe: p.Probe,
		}
		t.note(0, 0, arrived, p.At)
		return done, ok
	}
	t.packets++
	// A loss between two that arrived took its time at the bottleneck, unless
	// so many are lost that something drops them before it.
	bytes := p.wireBytes + min(t.missing, p.wireBytes)
	t.bytes += bytes
	t.missing = 0
	t.note(t.packets-1, bytes, arrived, p.At)
	t.arrived = max(t.arrived, arrived)
	t.received = t.arrived - t.firstArrived
	t.sent = p.At.Sub(t.at)
	t.last = arrived - p.At.Sub(t.origin)
	t.lastSent = p.At
	return sample{}, false
}

// note keeps the tail up to date with the i-th packet.
func (t *train) note(i, bytes int, arrived time.Duration, sent time.Time) {
	const n = tailPackets + 1
	t.arrivals[i%n], t.sizes[i%n], t.departures[i%n] = arrived, bytes, sent
	if i < tailPackets {
		return
	}
	t.tail = arrived - t.arrivals[(i+1)%n]
	t.tailSent = sent.Sub(t.departures[(i+1)%n])
	t.tailBytes = 0
	for j := range tailPackets {
		t.tailBytes += t.sizes[(i-j)%n]
	}
}

// holds says whether a packet belongs to the train.
func (t *train) holds(p *packet) bool {
	return t.open && p.Probe == t.probe && (p.Probe != 0 || p.Frame == t.frame || p.Resend) &&
		p.At.Sub(t.lastSent) < trainGap
}

// miss notes a packet that is reported lost. With others after it that arrived,
// it took its time at the bottleneck as they did, unless a full queue refused
// it.
func (t *train) miss(p *packet, refused bool) {
	if t.holds(p) && !refused {
		t.missing += p.wireBytes
	}
}

// close ends the train and returns its sample, if there is one.
func (t *train) close() (sample, bool) {
	ok := t.open
	t.open = false
	return t.sample, ok
}

// gauges says whether the sample tells anything of the rate of the path.
func (s *sample) gauges() bool {
	return s.packets >= 2 && s.received >= 0 && s.bytes >= leastTrainBytes
}

// leastTrainBytes is the least that a train has to measure: below it the grain
// of the arrival times is all that it shows.
const leastTrainBytes = 600

// spread says whether the path spread the train, so that it shows the rate of
// the path and not that of the pacer.
func (s *sample) spread() bool {
	return s.received > s.sent+s.sent/8+arrivalGrain
}
