package input

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// fakeDesktop writes down what it is told.
type fakeDesktop struct{ log []string }

func (f *fakeDesktop) send(steps ...step) error {
	for _, s := range steps {
		switch {
		case s.move:
			f.log = append(f.log, fmt.Sprintf("move %d,%d", s.x, s.y))
		case s.button:
			f.log = append(f.log, fmt.Sprintf("button %d %v", s.code, s.down))
		default:
			f.log = append(f.log, fmt.Sprintf("key %d %v", s.code, s.down))
		}
	}
	return nil
}

func (f *fakeDesktop) resolve(code, _ string) (control, error) {
	n, ok := evdevCodes[code]
	if !ok {
		return control{}, ErrNoKey
	}
	return control{code: n + evdevOffset}, nil
}

func (f *fakeDesktop) text(s string, held []control) error {
	f.log = append(f.log, fmt.Sprintf("text %s with %d held", s, len(held)))
	return nil
}

func (f *fakeDesktop) activate(uint32) error { return nil }
func (f *fakeDesktop) settled() <-chan error { return nil }
func (f *fakeDesktop) done() <-chan struct{} { return nil }
func (f *fakeDesktop) close() error          { return nil }

func TestSessions(t *testing.T) {
	key := func(code string, down bool) Event { return Event{Kind: Key, Code: code, Down: down} }
	button := func(n int, down bool) Event { return Event{Kind: Button, Button: n, Down: down, X: 3, Y: 4} }
	wheel := func(dx, dy float64) Event { return Event{Kind: Wheel, DX: dx, DY: dy} }
	type act struct {
		viewer int
		event  Event
	}
	tests := []struct {
		name string
		acts []act
		want string
	}{
		{"key repeats", []act{{0, key("KeyA", true)}, {0, key("KeyA", true)}, {0, key("KeyA", false)}, {0, key("KeyA", false)}},
			"key 38 true; key 38 false"},
		{"two hold one key", []act{{0, key("KeyA", true)}, {1, key("KeyA", true)}, {0, key("KeyA", false)}, {1, Event{Kind: Release}}},
			"key 38 true; key 38 false"},
		{"release lets go", []act{{0, button(0, true)}, {0, Event{Kind: Release}}, {0, Event{Kind: Release}}},
			"move 3,4; button 1 true; button 1 false"},
		{"release is one's own", []act{{0, button(2, true)}, {1, Event{Kind: Release}}},
			"move 3,4; button 3 true"},
		{"buttons", []act{{0, button(1, true)}, {0, button(3, true)}, {0, button(4, true)}},
			"move 3,4; button 2 true; move 3,4; button 8 true; move 3,4; button 9 true"},
		{"wheel", []act{{0, wheel(0, 240)}, {0, wheel(-120, 0)}},
			"move 0,0; button 5 true; button 5 false; button 5 true; button 5 false; move 0,0; button 6 true; button 6 false"},
		{"fine wheel", []act{{0, wheel(0, 50)}, {0, wheel(0, 50)}, {0, wheel(0, 50)}, {0, wheel(0, -119)}, {0, wheel(0, -1)}},
			"move 0,0; move 0,0; move 0,0; button 5 true; button 5 false; move 0,0; move 0,0; button 4 true; button 4 false"},
		{"text", []act{{0, key("ShiftLeft", true)}, {0, button(0, true)}, {1, Event{Kind: Text, Text: "é"}}},
			"key 50 true; move 3,4; button 1 true; text é with 1 held"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeDesktop{}
			in := newInjector(f, f)
			viewers := []*Session{in.Session(), in.Session()}
			for _, a := range tt.acts {
				if err := viewers[a.viewer].Apply(a.event); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(f.log, "; "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCloseLetsGo(t *testing.T) {
	f := &fakeDesktop{}
	in := newInjector(f, f)
	for _, code := range []string{"KeyA", "ControlLeft"} {
		if err := in.Session().Apply(Event{Kind: Key, Code: code, Down: true}); err != nil {
			t.Fatal(err)
		}
	}
	f.log = nil
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(f.log)
	if got := strings.Join(f.log, "; "); got != "key 37 false; key 38 false" {
		t.Errorf("got %s", got)
	}
}

func TestInvalidEvents(t *testing.T) {
	tests := []Event{
		{}, {Kind: 99}, {Kind: Button, Button: 5}, {Kind: Button, Button: -1},
		{Kind: Wheel, DX: math.NaN()}, {Kind: Wheel, DY: math.Inf(-1)}, {Kind: Wheel, DY: 1e9},
		{Kind: Key}, {Kind: Key, Code: strings.Repeat("K", 41)}, {Kind: Key, Key: "\xff"},
		{Kind: Text, Text: "\xff"}, {Kind: Text, Text: strings.Repeat("x", MaxTextRunes+1)},
	}
	f := &fakeDesktop{}
	s := newInjector(f, f).Session()
	for _, e := range tests {
		if err := s.Apply(e); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v, want an invalid event", e, err)
		}
	}
	if len(f.log) > 0 {
		t.Errorf("invalid events did %q", f.log)
	}
	if err := s.Apply(Event{Kind: Key, Code: "KeyÖ", Down: true}); !errors.Is(err, ErrNoKey) {
		t.Errorf("unknown key: %v", err)
	}
}

// FuzzApply gives a session any event: nothing may panic, and what is pressed
// comes up on release.
func FuzzApply(f *testing.F) {
	f.Add(uint8(2), 1, 2, 3, true, 1.5, -2.5, "KeyA", "a", "text")
	f.Add(uint8(3), -1, 1<<40, 0, false, math.NaN(), 1e300, "", "", "\xff")
	f.Fuzz(func(t *testing.T, kind uint8, x, y, button int, down bool, dx, dy float64, code, key, text string) {
		d := &fakeDesktop{}
		s := newInjector(d, d).Session()
		_ = s.Apply(Event{Kind: Kind(kind), X: x, Y: y, Button: button, Down: down, DX: dx, DY: dy, Code: code, Key: key, Text: text})
		s.Release()
		downs := 0
		for _, l := range d.log {
			if strings.HasSuffix(l, " true") {
				downs++
			}
			if strings.HasSuffix(l, " false") {
				downs--
			}
		}
		if downs != 0 {
			t.Errorf("%d still down: %q", downs, d.log)
		}
	})
}
