package sim

import (
	"math/rand/v2"
	"time"
)

// losses decides which packets are lost at random.
type losses struct {
	config Loss
	rng    *rand.Rand
	bad    bool

	// Of Loss.Slot: what makes its losses differ by the seed, which span this is,
	// and how many packets came in it.
	key    uint64
	slot   time.Duration
	within uint64
}

func newLosses(c Loss, rng *rand.Rand) losses {
	if c.Burst.LossBad == 0 {
		c.Burst.LossBad = 1
	}
	l := losses{config: c, rng: rng}
	if c.Slot > 0 {
		l.key = rng.Uint64()
	}
	return l
}

// chance draws for the next packet, which is at t on its way, from 0 up to 1.
func (l *losses) chance(t time.Duration) float64 {
	if l.config.Slot <= 0 {
		return l.rng.Float64()
	}
	if slot := t / l.config.Slot; slot != l.slot {
		l.slot, l.within = slot, 0
	}
	l.within++
	return float64(scatter(l.key^scatter(uint64(l.slot)<<16|l.within))>>11) / (1 << 53)
}

// scatter is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// next says whether the next packet is lost, which is at t on its way. The spells
// draw nothing, so that what is lost at random does not depend on them.
func (l *losses) next(t time.Duration) bool {
	lost, _ := l.config.Spells.at(t)
	lost = l.config.Random > 0 && l.chance(t) < l.config.Random || lost
	if b := l.config.Burst; b.GoodBad > 0 {
		turn := b.GoodBad
		if l.bad {
			turn = b.BadGood
		}
		if l.rng.Float64() < turn {
			l.bad = !l.bad
		}
		lost = l.bad && l.rng.Float64() < b.LossBad || lost
	}
	return lost
}
