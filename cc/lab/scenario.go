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
	// Reverse is the way back, for feedback and for flows that go that way.
	// nil: a way back without a bottleneck, of the delay Back.
	Reverse *sim.LinkConfig
	// Back is the delay of that; 0 means that of Forward.
	Back time.Duration
	// Feedback is how often the receivers report; 0 means 100 ms, which
	// browsers do by default.
	Feedback time.Duration
	// Tick forces the sender's loop to wake at multiples of it only.
	Tick        time.Duration
	Flows       []Flow
	Cubics      []Cubic
	Backgrounds []Background
	// Before is an earlier connection over the same route, Away before this
	// one; what its first controller remembers is given to this one's.
	Before *Scenario
	Away   time.Duration
	// Draw changes the scenario for each seed, as a radio's rate does.
	Draw func(s *Scenario, seed uint64)
}

// Flow is one stream of video.
type Flow struct {
	From, Until time.Duration // Until 0: to the end
	Content     Content       // nil: Steady
	// Start and Max bound the target; 0 means the defaults.
	Start, Max rate.Rate
	// Extra is a further one-way delay of this flow alone, both ways.
	Extra time.Duration
	// Reverse sends it over the way back.
	Reverse bool
}

// Cubic is a competing TCP flow over Forward.
type Cubic struct {
	From, Until time.Duration
	Transfers   sim.Transfers
}

// Background is a competing flow over Forward that does not react.
type Background struct {
	From, Until time.Duration
	Rate        rate.Rate
}

// withDefaults fills in what was left out.
func (s Scenario) withDefaults(seed uint64) Scenario {
	if s.Draw != nil {
		s.Draw(&s, seed)
	}
	setDefault(&s.Feedback, 100*time.Millisecond)
	setDefault(&s.Back, s.Forward.Delay)
	flows := make([]Flow, len(s.Flows))
	for i, f := range s.Flows {
		setDefault(&f.Until, s.Length)
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

// with gives a copy whose streams show something else.
func (s Scenario) with(name string, c Content) Scenario {
	s.Name += name
	s.Flows = append([]Flow(nil), s.Flows...)
	for i := range s.Flows {
		if s.Flows[i].Content == nil {
			s.Flows[i].Content = c
		}
	}
	if s.Before != nil {
		before := s.Before.with(name, c)
		s.Before = &before
	}
	return s
}
