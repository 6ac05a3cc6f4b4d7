package server

import (
	"errors"
	"image"
	"math"
	"sync"

	"nearglass/gpu/capture"
	"nearglass/gpu/encode"
	"nearglass/server/input"
	"nearglass/signaling"
)

// hands do in a source what a viewer does on its screen.
type hands interface {
	// do acts on a message of the input channel; size is that of the picture
	// now.
	do(m signaling.Message, size image.Point) error
	// release lets go of everything that is held. It may be called at any time.
	release()
	// done gives once the number that pictures carry, or a larger one, when all
	// that was done before is in them; 0 where that cannot be told.
	done() <-chan uint64
}

// handsFor gives the hands that fit a source.
func (h *Host) handsFor(st *stage) hands {
	switch kindOf(st.key.id) {
	case capture.KindDemo:
		return h.demo.hands()
	case capture.KindPattern:
		return noHands{}
	}
	return &screenHands{display: h.display, stage: st}
}

// noHands are for a source that takes no input.
type noHands struct{}

func (noHands) do(signaling.Message, image.Point) error { return nil }
func (noHands) release()                                {}
func (noHands) done() <-chan uint64                     { return numbered(0) }

// numbered is a number that is known already.
func numbered(n uint64) <-chan uint64 {
	c := make(chan uint64, 1)
	c <- n
	return c
}

// screenHands act on a display through its input service.
type screenHands struct {
	display *display
	stage   *stage

	mu       sync.Mutex
	injector *input.Injector
	session  *input.Session
}

// do injects one event, once more after a reconnection if the display server
// had gone.
func (s *screenHands) do(m signaling.Message, size image.Point) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	place := s.stage.place()
	ev := eventOf(m, size, place.Origin)
	if err := s.connect(); err != nil {
		return err
	}
	if place.Window != 0 && takesFocus(ev) {
		_ = s.injector.Activate(place.Window) // what follows says whether it matters
	}
	err := s.session.Apply(ev)
	if ev.Kind <= input.Wheel {
		s.display.nudge()
	}
	if errors.Is(err, input.ErrGone) {
		s.session = nil
	}
	return err
}

func (s *screenHands) connect() error {
	if s.session != nil {
		return nil
	}
	in, err := s.display.hands()
	if err != nil {
		return err
	}
	s.injector, s.session = in, in.Session()
	return nil
}

func (s *screenHands) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		s.session.Release()
	}
}

// done numbers the input when the display server has carried it out, and not
// before: a picture that is captured meanwhile may lack it.
func (s *screenHands) done() <-chan uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return numbered(0)
	}
	settled := s.injector.Settled()
	number := make(chan uint64, 1)
	go func() {
		if err := <-settled; err != nil {
			number <- 0
			return
		}
		number <- s.display.inputs.Add(1)
	}()
	return number
}

// takesFocus tells the events that a window must be in front for.
func takesFocus(e input.Event) bool {
	return e.Kind == input.Text || e.Down && (e.Kind == input.Button || e.Kind == input.Key)
}

// eventOf puts a message of the viewer into desktop coordinates.
func eventOf(m signaling.Message, size, origin image.Point) input.Event {
	at := func(s signaling.Spot) image.Point { return pixelOf(s, size).Add(origin) }
	switch m := m.(type) {
	case signaling.Move:
		p := at(m.Spot)
		return input.Event{Kind: input.Move, X: p.X, Y: p.Y}
	case signaling.Button:
		p := at(m.Spot)
		return input.Event{Kind: input.Button, X: p.X, Y: p.Y, Button: m.Button, Down: m.Down}
	case signaling.Wheel:
		p := at(m.Spot)
		return input.Event{Kind: input.Wheel, X: p.X, Y: p.Y, DX: m.DX, DY: m.DY}
	case signaling.Key:
		return input.Event{Kind: input.Key, Code: m.Code, Key: m.Key, Down: m.Down}
	case signaling.Text:
		return input.Event{Kind: input.Text, Text: m.Text}
	}
	return input.Event{Kind: input.Release}
}

// pixelOf finds the pixel of the picture, now size, that the viewer meant when
// the picture that it saw was s.W by s.H. It lies in the picture. What viewers
// see of a picture with an odd side is one row or column larger.
func pixelOf(s signaling.Spot, size image.Point) image.Point {
	sent := encode.CodedSize(size)
	return image.Pt(scale(s.X, s.W, sent.X, size.X), scale(s.Y, s.H, sent.Y, size.Y))
}

// scale puts v, of a side that the viewer saw, onto a side of sent pixels, of
// which the first real ones count.
func scale(v, of float64, sent, real int) int {
	if of <= 0 || real <= 0 {
		return 0
	}
	return int(min(max(math.Floor(v/of*float64(sent)), 0), float64(real-1)))
}
