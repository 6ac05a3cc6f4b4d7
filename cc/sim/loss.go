package sim

import "math/rand/v2"

// losses decides which packets are lost at random.
type losses struct {
	config Loss
	rng    *rand.Rand
	bad    bool
}

func newLosses(c Loss, rng *rand.Rand) losses {
	if c.Burst.LossBad == 0 {
		c.Burst.LossBad = 1
	}
	return losses{config: c, rng: rng}
}

// next says whether the next packet is lost.
func (l *losses) next() bool {
	lost := l.config.Random > 0 && l.rng.Float64() < l.config.Random
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
