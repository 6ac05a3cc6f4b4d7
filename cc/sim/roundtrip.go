package sim

import "time"

// Limits of the retransmission timeout. RFC 6298 asks for 1 s at least;
// senders in use take 200 ms, as Linux does.
const (
	initialTimeout = time.Second
	leastTimeout   = 200 * time.Millisecond
	mostTimeout    = 60 * time.Second
)

// roundTrip estimates the round-trip time and the timeout by RFC 6298.
type roundTrip struct {
	smoothed, variation time.Duration
	backoff             uint
}

func (r *roundTrip) sample(rtt time.Duration) {
	r.backoff = 0
	if r.smoothed == 0 {
		r.smoothed, r.variation = rtt, rtt/2
		return
	}
	r.variation += ((r.smoothed - rtt).Abs() - r.variation) / 4
	r.smoothed += (rtt - r.smoothed) / 8
}

func (r *roundTrip) timeout() time.Duration {
	d := initialTimeout
	if r.smoothed > 0 {
		d = r.smoothed + max(4*r.variation, leastTimeout)
	}
	return min(d<<min(r.backoff, 10), mostTimeout)
}
