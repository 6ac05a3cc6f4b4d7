package lab

import (
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

// Scenario is one experiment. Times are from its start.
type Scenario struct {
	Name    string
	Length  time.Duration
	Forward sim.LinkConfig
	// Back is the one-way delay of the way back; 0 means that of Forward.
	Back time.Duration
	// Feedback is how often the receivers report; 0 means 100 ms, which
	// browsers do by default.
	Feedback time.Duration
	// Tick forces the sender's loop to wake at multiples of it only.
	Tick  time.Duration
	Flows []Flow
}

// Flow is one stream of video.
type Flow struct {
	From, Until time.Duration // Until 0: to the end
	Content     Content
	// Start and Max bound the target; 0 means the defaults.
	Start, Max rate.Rate
}

func (s Scenario) withDefaults() Scenario {
	if s.Feedback == 0 {
		s.Feedback = 100 * time.Millisecond
	}
	if s.Back == 0 {
		s.Back = s.Forward.Delay
	}
	flows := make([]Flow, len(s.Flows))
	for i, f := range s.Flows {
		if f.Until == 0 {
			f.Until = s.Length
		}
		setDefault(&f.Start, defaultStart)
		setDefault(&f.Max, defaultMax)
		if f.Content == nil {
			f.Content = Steady{}
		}
		flows[i] = f
	}
	s.Flows = flows
	return s
}

func setDefault[T rate.Rate | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}
