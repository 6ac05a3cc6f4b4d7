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
}

func newLosses(c Loss, rng *rand.Rand) losses {
	if c.Burst.LossBad == 0 {
		c.Burst.LossBad = 1
	}
	return losses{config: c, rng: rng}
}

// next says whether the next packet is lost, which is at t on its way. The spells
// draw nothing, so that what is lost at random does not depend on them.
func (l *losses) next(t time.Duration) bool {
	lost, _ := l.config.Spells.at(t)
	lost = l.config.Random > 0 && l.rng.Float64() < l.config.Random || lost
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
