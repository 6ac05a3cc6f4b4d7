package sim

import (
	"math"
	"time"
)

// bucketBytes is the policer's default bucket: 10 packets of 1,500 bytes, so
// that a frame's first packets pass and its rest does not.
const bucketBytes = 15000

// policer is a token bucket; tokens are counted as work, see workPerByte.
type policer struct {
	rates  schedule
	on     bool
	size   int64
	tokens int64
	last   time.Duration
}

func newPolicer(c Policer) policer {
	size := c.BucketBytes
	if size <= 0 {
		size = bucketBytes
	}
	full := int64(min(size, maxWorkBytes)) * workPerByte
	return policer{
		rates: newSchedule(c.Rates, 0, Outages{}), on: len(c.Rates) > 0,
		size: full, tokens: full, last: math.MinInt64,
	}
}

// conforms takes the packet's tokens, or says that there are too few.
func (p *policer) conforms(t time.Duration, sizeBytes int) bool {
	if !p.on {
		return true
	}
	p.fill(t)
	need := int64(min(sizeBytes, maxWorkBytes)) * workPerByte
	if need > p.tokens {
		return false
	}
	p.tokens -= need
	return true
}

// fill adds what came since the last call.
func (p *policer) fill(t time.Duration) {
	if p.last == math.MinInt64 {
		p.last = t
	}
	for p.last < t {
		r, until := p.rates.at(p.last)
		until = min(until, t)
		if r > 0 && (p.size-p.tokens)/int64(r) < int64(until-p.last) {
			p.tokens = p.size
		} else {
			p.tokens += int64(r) * int64(until-p.last)
		}
		p.last = until
	}
}
