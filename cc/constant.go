package cc

import (
	"errors"
	"fmt"
	"time"

	"nearglass/cc/rate"
)

// DefaultPaceFactor is how much faster than the target a Constant releases
// packets unless told otherwise. libwebrtc's pacer uses the same 2.5
// (kDefaultPaceMultiplier): a key frame that is several times the size of a
// normal picture then takes less than half the time it would at the target.
const DefaultPaceFactor = 2.5

// ConstantConfig configures a Constant.
type ConstantConfig struct {
	// Target is the encoder's rate; it must be positive.
	Target rate.Rate
	// PaceFactor is the pace over the target, at least 1; 0 means
	// DefaultPaceFactor. Use 1.5 where the path has little headroom.
	PaceFactor float64
}

// Constant is a controller that ignores the network: it holds the configured
// target. It serves where a person fixed the rate, and as the reference that
// any adaptive controller has to beat. One goroutine owns it.
type Constant struct {
	update Update
}

// NewConstant returns a controller that answers every question with the
// configured rates.
func NewConstant(c ConstantConfig) (*Constant, error) {
	if c.PaceFactor == 0 {
		c.PaceFactor = DefaultPaceFactor
	}
	if c.Target <= 0 {
		return nil, errors.New("constant rate: the target must be above zero")
	}
	if !(c.PaceFactor >= 1 && c.PaceFactor <= 100) {
		return nil, fmt.Errorf("constant rate: pace factor %v is not between 1 and 100", c.PaceFactor)
	}
	return &Constant{Update{
		Target: c.Target,
		Pace:   c.Target.Scale(c.PaceFactor),
		State:  "constant",
		Reason: "the rate is fixed by configuration",
	}}, nil
}

// OnSent records a released packet.
func (c *Constant) OnSent(time.Time, Sent) {}

// OnFeedback takes one report of the receiver.
func (c *Constant) OnFeedback(time.Time, []Ack) Update { return c.update }

// OnTick is called at Deadline, and at the start for the first rates.
func (c *Constant) OnTick(time.Time) Update { return c.update }

// Deadline returns when OnTick is due next; the zero time means never.
func (c *Constant) Deadline() time.Time { return time.Time{} }
