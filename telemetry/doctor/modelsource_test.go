package doctor_test

import (
	"math"
	"time"

	"nearglass/telemetry"
)

// drawing is a change of the screen.
type drawing struct {
	number  uint64
	at      time.Time // when capture had it
	changed float64   // share of the screen
	bits    float64   // at QP 26, as a predicted picture
	input   time.Time // the input that it answers; zero: none
}

// source is the programs on the screen, and the display server that captures
// them.
type source struct {
	w      *world
	kind   string
	number uint64
	level  float64 // how much detail there is, moves slowly
	newest drawing
	fresh  bool // newest was not taken
	last   time.Time
	gap    time.Duration // of this second
	grabs  telemetry.Sum
	asked  time.Time // since when the display server owes an answer
}

// newSource starts the programs: idle, typing, video, video30, video24, scroll,
// slides, browse, or after, which is still until 14 s and then a video.
func newSource(w *world) *source {
	s := &source{w: w, kind: w.scene.Source, level: 1, last: epoch}
	w.every(epoch.Add(dur(20)), s.step)
	w.every(epoch.Add(dur(400)), s.type_)
	w.every(epoch.Add(dur(700)), s.check)
	return s
}

// check asks the display server of a still screen once a second whether it
// lives.
func (s *source) check() time.Duration {
	if s.w.amount("stalled-capture") == 0 {
		s.asked = time.Time{}
	} else if s.asked.IsZero() {
		s.asked = s.w.now
	}
	return time.Second
}

// look is what a moment of the source is like.
type look struct {
	every, changed, bits float64 // ms, share of the screen, Mbit a second of 60 pictures at QP 26
}

var looks = map[string]look{
	"still":   {1000, 0.001, 0.05},
	"motion":  {1000.0 / 60, 0.6, 9},
	"motion2": {1000.0 / 30, 0.6, 13},
	"film":    {1000.0 / 24, 0.7, 15},
	"scroll":  {1000.0 / 60, 0.7, 14},
	"slide":   {6000, 1, 90},
}

// look says what is on the screen now.
func (s *source) look() look {
	t := s.w.t()
	switch s.kind {
	case "video":
		return looks["motion"]
	case "video30":
		return looks["motion2"]
	case "video24":
		return looks["film"]
	case "slides":
		return looks["slide"]
	case "after":
		if t > 14 {
			return looks["motion"]
		}
	case "scroll":
		if math.Mod(t, 3.5) < 1.6 {
			return looks["scroll"]
		}
	case "browse":
		switch m := math.Mod(t, 15); {
		case m < 3:
			return looks["scroll"]
		case m < 9:
			return look{1000.0 / 30, 0.1, 2}
		}
	}
	return looks["still"]
}

// step draws, and says when it will again.
func (s *source) step() time.Duration {
	l := s.look()
	if every := s.w.amount("slow-source"); every > 0 && l.every < every {
		l.every = every
		l.changed, l.bits = max(l.changed, 0.5), l.bits*1.5
	}
	s.level += 0.02*(1-s.level) + 0.03*s.w.rand.NormFloat64()
	s.level = min(max(s.level, 0.5), 1.8)
	s.draw(l.changed, l.bits*1e6/60*s.level, time.Time{})
	return dur(l.every * (0.97 + 0.06*s.w.rand.Float64()))
}

// type_ is somebody at the keyboard, where the source wants it.
func (s *source) type_() time.Duration {
	pause := 90 + 160*s.w.rand.Float64()
	if s.w.rand.Float64() < 0.06 {
		pause = 2500
	}
	if s.kind == "typing" || s.kind == "browse" && s.look() == looks["still"] {
		pressed := s.w.now
		reaction := s.w.spread(12) + s.w.amount("slow-source")
		s.w.after(s.w.road.oneWay()+dur(reaction), func() { s.draw(0.002, 9000, pressed) })
	}
	return dur(pause)
}

// draw changes the screen; capture sees it when the display server answers.
func (s *source) draw(changed, bits float64, input time.Time) {
	if s.w.host.asleep() {
		return
	}
	if s.w.amount("stalled-capture") > 0 {
		if s.asked.IsZero() {
			s.asked = s.w.now
		}
		return
	}
	s.asked = time.Time{}
	grab := s.w.spread(0.9) * s.w.host.stretch()
	s.w.after(dur(grab), func() {
		s.number++
		if s.fresh { // merged with the one before
			changed, bits = max(changed, s.newest.changed), bits+s.newest.bits*0.3
			input = earliest(input, s.newest.input)
		}
		s.newest, s.fresh = drawing{s.number, s.w.now, changed, bits, input}, true
		s.gap = max(s.gap, s.w.now.Sub(s.last))
		s.last = s.w.now
		s.grabs.Add(grab)
		s.w.host.encoder.begin()
	})
}

// capture is what the host records of the source.
func (s *source) capture(c telemetry.Capture) telemetry.Capture {
	c.Gap = ms(max(s.gap, s.w.now.Sub(s.last)))
	s.gap = 0
	if !s.asked.IsZero() {
		c.Stalled = ms(s.w.now.Sub(s.asked))
	}
	c.Grab = s.grabs.Take()
	return c
}

func ms(d time.Duration) float64 { return hundredth(float64(d) / float64(time.Millisecond)) }
