package cc

import (
	"math"
	"time"

	"nearglass/cc/rate"
)

// capacitySamples is how many trains are remembered: 1 s of pictures.
const capacitySamples = 64

const (
	// calmSpan and longSpan are how much arrival time an estimate is taken
	// over, on a path that spaces trains evenly and on one that does not.
	calmSpan = 60 * time.Millisecond
	longSpan = 600 * time.Millisecond
	// freshTrains are what shows a change of the path: one could be chance.
	freshTrains = 2
	// freshBytes is what they have to measure, so that grain is no change.
	freshBytes = 4000
	// changed is how far, relatively, they have to be off on a calm path.
	changed = 0.15
	// raiseBytes, or raiseSpan at arrival, is what trains have to measure to
	// raise an estimate: the largest of many short ones is large by chance.
	raiseBytes = 10_000
	raiseSpan  = 3 * time.Millisecond
	// steadiness is the deviation up to which a path is so even that a single
	// train may show a fall, if it came at less than fallen of the rate and
	// took suddenDelay longer than it should.
	steadiness  = 0.06
	fallen      = 0.6
	suddenDelay = 2 * time.Millisecond
	// roughness is the deviation beyond which a path is rough, and smoothness
	// where it is no more.
	roughness  = 0.25
	smoothness = 0.12
)

// capacity estimates what the path carries from the spacing of trains.
type capacity struct {
	samples [capacitySamples]sample // ring, the newest at n-1
	n       int
	rate    rate.Rate     // on the wire; 0: unknown
	noise   float64       // relative deviation of single trains
	rough   bool          // trains are spaced unevenly: only many of them tell something
	length  time.Duration // of a train at arrival, on average
	at      time.Time     // of the newest sample
}

// add takes a train and says whether it gauges the path.
func (c *capacity) add(s sample) bool {
	if !s.gauges() {
		return false
	}
	c.samples[c.n%capacitySamples] = s
	c.n++
	c.at = s.at
	return true
}

// heldShort is how much too short, relatively, a train has to be to count as
// held: where another stream's train came first, a larger rate is often true.
const heldShort = 1

// stretch corrects a train that was held on the way, or at a receiver that had
// other work, and then let go at once: its packets arrive closer together than
// the bottleneck let them through. The time it was held belongs to them, up to
// what the estimate has them take.
func (c *capacity) stretch(s *sample, held time.Duration) {
	if c.rough || c.rate <= 0 {
		return
	}
	if short := c.rate.Duration(s.bytes) - s.received; float64(short) > heldShort*float64(s.received) {
		s.received += min(held, short)
	}
}

// back returns the i-th newest sample, 0 being the newest.
func (c *capacity) back(i int) *sample { return &c.samples[(c.n-1-i)%capacitySamples] }

// known is how many samples are remembered.
func (c *capacity) known() int { return min(c.n, capacitySamples) }

// forget drops all but the newest keep samples.
func (c *capacity) forget(keep int) {
	keep = min(keep, c.known())
	var newest [capacitySamples]sample
	for i := range keep {
		newest[keep-1-i] = *c.back(i)
	}
	c.samples, c.n = newest, keep
}

// tally adds up trains.
type tally struct {
	bytes          int
	received, sent time.Duration
	trains         int
}

func (t *tally) add(s *sample) {
	t.bytes += s.bytes
	t.received += s.received
	t.sent += s.sent
	t.trains++
}

// rate is what the trains show. Faster in than out means that something on the
// way held packets and let them go together, as WiFi does: then they show no
// more than their own rate. The grain of each arrival is unknown, either way:
// their sum is taken to be longer by what is likely, so that short trains, of
// which it is most, never promise what the path does not hold.
func (t *tally) rate() rate.Rate {
	doubt := time.Duration(math.Sqrt(float64(t.trains)) * float64(arrivalGrain))
	return rate.Of(t.bytes, max(t.received+doubt, t.sent))
}

// spread says whether the path spread the trains, taken together.
func (t *tally) spread() bool { return t.received > t.sent+t.sent/8 }

// update makes an estimate of the trains so far. fresh of them are new. A
// steadfast one believes no sudden change, a credulous one every train.
func (c *capacity) update(fresh int, steadfast, credulous bool) {
	if fresh == 0 || c.known() == 0 {
		return
	}
	if !steadfast && c.fell() { // judged by the noise so far
		c.forget(1)
	} else {
		c.measureNoise()
	}
	span := calmSpan
	if c.rough && !credulous {
		span = longSpan
	} else if !steadfast {
		c.detectChange()
	}
	var all, spread tally
	for i := 0; i < c.known() && max(all.received, all.sent) < span; i++ {
		s := c.back(i)
		all.add(s)
		if s.spread() {
			spread.add(s)
		}
	}
	c.length = all.received / time.Duration(max(all.trains, 1))
	limited := 2*spread.trains > all.trains
	if c.rough && !credulous {
		// Single trains are spread by chance; only their sum says something.
		limited, spread = all.spread(), all
	}
	if limited {
		c.rate = spread.rate()
	} else {
		c.raise(all)
	}
}

// raise takes trains that the path did not spread: they only say that it carries
// at least so much.
func (c *capacity) raise(all tally) {
	measured := c.rate == 0 || all.bytes >= raiseBytes || all.received >= raiseSpan
	if r := all.rate(); r > c.rate && measured {
		c.rate = r
	}
}

// measureNoise takes the mean deviation of neighbouring trains.
func (c *capacity) measureNoise() {
	sum, n := 0.0, 0
	for i := 0; i+1 < min(c.known(), 24); i++ {
		a, b := c.back(i), c.back(i+1)
		if !a.spread() && !b.spread() {
			continue
		}
		x, y := speed(a), speed(b)
		sum += math.Abs(x-y) / max(x+y, 1)
		n++
	}
	if n >= 4 {
		c.noise = 1.5 * sum / float64(n)
		c.rough = c.noise > roughness || c.rough && c.noise > smoothness
	}
}

func speed(s *sample) float64 {
	return float64(rate.Of(s.bytes, max(s.received, s.sent, arrivalGrain)))
}

// detectChange drops older trains when the newest tell of another path.
func (c *capacity) detectChange() {
	var fresh, older tally
	for i := range c.known() {
		s := c.back(i)
		if fresh.trains < freshTrains || fresh.bytes < freshBytes {
			fresh.add(s)
		} else if max(older.received, older.sent) < longSpan {
			older.add(s)
		}
	}
	if older.trains == 0 || fresh.trains < freshTrains {
		return
	}
	x, y := float64(fresh.rate()), float64(older.rate())
	if x > y && fresh.bytes < raiseBytes && fresh.received < raiseSpan {
		return
	}
	if math.Abs(x-y) > max(changed, 3*c.noise/math.Sqrt(freshTrains))*y {
		c.forget(fresh.trains)
	}
}

// fell says whether the newest train alone, or its tail, shows that the path
// has shrunk; the tail is then all that counts of it.
func (c *capacity) fell() bool {
	s := c.back(0)
	if c.noise > steadiness || c.rate <= 0 || c.known() < 2 {
		return false
	}
	if c.late(s.tailBytes, s.tail) {
		s.bytes, s.received, s.sent = s.tailBytes, s.tail, s.tailSent
	}
	return s.spread() && c.late(s.bytes, s.received)
}

// late says whether bytes took far longer than the estimate has it.
func (c *capacity) late(bytes int, took time.Duration) bool {
	return took > 0 && float64(rate.Of(bytes, took)) < fallen*float64(c.rate) && took-c.rate.Duration(bytes) > suddenDelay
}
