package input

import "fmt"

// Session is what one viewer does to the desktop. Its methods may be called
// from several goroutines.
type Session struct {
	in *Injector
	// All below is guarded by in.mu.
	held   map[control]bool
	keys   map[string]control // the held keys by what the viewer calls them
	wheelX wheel
	wheelY wheel
}

// Apply does what e says. It may block while text is typed (some 200 ms for
// each batch of characters that the host's layout lacks), so that an event
// loop should call it from a goroutine of its own.
//
// Errors wrap [ErrInvalid] (e is out of range, nothing was done), [ErrNoKey]
// or [ErrGone]. Pressing a key that this session holds already does nothing:
// the desktop repeats held keys by itself. Where several sessions hold the
// same key or button, it goes up when the last one lets go.
func (s *Session) Apply(e Event) error {
	if err := e.Validate(); err != nil {
		return err
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	switch e.Kind {
	case Move:
		return s.in.desktop.send(step{move: true, x: e.X, y: e.Y})
	case Button:
		return s.button(e)
	case Wheel:
		return s.wheel(e)
	case Key:
		return s.key(e)
	case Text:
		return s.in.keys.text(e.Text, s.in.heldKeys())
	default:
		return s.release()
	}
}

// Release lets go of every key and button that the session holds. Errors have
// no answer here: what cannot be released is gone with its desktop.
func (s *Session) Release() {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	_ = s.release()
}

func (s *Session) release() error {
	var first error
	for c := range s.held {
		if err := s.hold(c, false); err != nil && first == nil {
			first = err
		}
	}
	clear(s.keys)
	s.wheelX, s.wheelY = 0, 0
	return first
}

// xButtons are the X11 numbers of the DOM's buttons; 4 to 7 are the wheel.
var xButtons = [...]uint8{1, 2, 3, 8, 9}

func (s *Session) button(e Event) error {
	if err := s.in.desktop.send(step{move: true, x: e.X, y: e.Y}); err != nil {
		return err
	}
	return s.hold(control{button: true, code: xButtons[e.Button]}, e.Down)
}

// maxKeys bounds what a viewer can make a session remember; X11 knows 248 keys.
const maxKeys = 248

func (s *Session) key(e Event) error {
	name := e.Code
	if name == "" {
		name = e.Key
	}
	if !e.Down {
		c, ok := s.keys[name]
		if !ok {
			return nil
		}
		delete(s.keys, name)
		return s.hold(c, false)
	}
	if _, ok := s.keys[name]; ok {
		return nil
	}
	if len(s.keys) >= maxKeys {
		return fmt.Errorf("%w: more than %d keys held", ErrInvalid, maxKeys)
	}
	c, err := s.in.keys.resolve(e.Code, e.Key)
	if err != nil {
		return err
	}
	s.keys[name] = c
	return s.hold(c, true)
}

// hold notes that the session holds c or not, and presses or releases c when
// it is the first or the last of all sessions.
func (s *Session) hold(c control, down bool) error {
	if s.held[c] == down {
		return nil
	}
	if down {
		s.held[c] = true
		s.in.holds[c]++
		if s.in.holds[c] > 1 {
			return nil
		}
		return s.in.desktop.send(step{control: c, down: true})
	}
	delete(s.held, c)
	s.in.holds[c]--
	if s.in.holds[c] > 0 {
		return nil
	}
	delete(s.in.holds, c)
	return s.in.desktop.send(step{control: c})
}

// X11 buttons that are the wheel.
const (
	wheelUp, wheelDown, wheelLeft, wheelRight = 4, 5, 6, 7
)

func (s *Session) wheel(e Event) error {
	steps := []step{{move: true, x: e.X, y: e.Y}}
	steps = appendClicks(steps, s.wheelY.turn(e.DY), wheelUp, wheelDown)
	steps = appendClicks(steps, s.wheelX.turn(e.DX), wheelLeft, wheelRight)
	return s.in.desktop.send(steps...)
}

// appendClicks adds n clicks of the positive button, or -n of the negative.
func appendClicks(steps []step, n int, negative, positive uint8) []step {
	c := control{button: true, code: positive}
	if n < 0 {
		c.code, n = negative, -n
	}
	for range n {
		steps = append(steps, step{control: c, down: true}, step{control: c})
	}
	return steps
}

// wheel gathers fine turns, in 1/120 notches, until they make a click: a click
// of a button is all that XTEST can inject.
type wheel float64

// turn adds d and returns the clicks that are due. A turn the other way starts
// afresh, so that the first click back comes after one whole notch.
func (w *wheel) turn(d float64) int {
	if d*float64(*w) < 0 {
		*w = 0
	}
	*w += wheel(d)
	clicks := int(*w / notch)
	*w -= wheel(clicks * notch)
	return clicks
}
