//go:build linux

package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jezek/xgb/xproto"
)

func TestOpenSaysWhatIsMissing(t *testing.T) {
	if _, err := Open(":4711"); err == nil || !strings.Contains(err.Error(), ":4711") {
		t.Errorf("opening a display that is not there: %v", err)
	}
}

func TestPointerLandsExactly(t *testing.T) {
	display, _ := startX(t)
	in, see := openInjector(t, display), connect(t, display)
	s := in.Session()
	tests := []struct{ x, y, wantX, wantY int }{
		{0, 0, 0, 0}, {123, 457, 123, 457}, {799, 599, 799, 599},
		{800, 600, 799, 599}, {-1, -1, 0, 0}, {1 << 40, -1 << 40, 799, 0}, {70000, 5, 799, 5},
	}
	for _, tt := range tests {
		if err := s.Apply(Event{Kind: Move, X: tt.x, Y: tt.y}); err != nil {
			t.Fatal(err)
		}
		if err := <-in.Settled(); err != nil {
			t.Fatal(err)
		}
		if p := see.pointer(t); int(p.RootX) != tt.wantX || int(p.RootY) != tt.wantY {
			t.Errorf("move to %d,%d: pointer at %d,%d, want %d,%d", tt.x, tt.y, p.RootX, p.RootY, tt.wantX, tt.wantY)
		}
	}
}

// watch makes a window at 100,100 and returns a function that waits for n
// events and names them.
func watch(t *testing.T, see client) (next func(n int) []string) {
	t.Helper()
	see.window(t, 100, 100, xproto.EventMaskButtonPress|xproto.EventMaskButtonRelease|xproto.EventMaskKeyPress|xproto.EventMaskKeyRelease)
	return func(n int) []string {
		var got []string
		eventually(t, fmt.Sprintf("%d events", n), func() bool {
			for ev, _ := see.PollForEvent(); ev != nil; ev, _ = see.PollForEvent() {
				if _, other := ev.(xproto.MappingNotifyEvent); !other {
					got = append(got, describe(ev))
				}
			}
			return len(got) >= n
		})
		return got
	}
}

func describe(ev any) string {
	switch ev := ev.(type) {
	case xproto.ButtonPressEvent:
		return fmt.Sprintf("+b%d@%d,%d", ev.Detail, ev.RootX, ev.RootY)
	case xproto.ButtonReleaseEvent:
		return fmt.Sprintf("-b%d", ev.Detail)
	case xproto.KeyPressEvent:
		return fmt.Sprintf("+k%d", ev.Detail)
	case xproto.KeyReleaseEvent:
		return fmt.Sprintf("-k%d", ev.Detail)
	default:
		return fmt.Sprintf("%T", ev)
	}
}

func TestEventsArrive(t *testing.T) {
	display, _ := startX(t)
	in, see := openInjector(t, display), connect(t, display)
	next := watch(t, see)
	tests := []struct {
		name   string
		events []Event
		want   string
	}{
		{"click", []Event{{Kind: Button, X: 150, Y: 160, Down: true}, {Kind: Button, X: 150, Y: 160}}, "+b1@150,160 -b1"},
		{"drag", []Event{{Kind: Button, X: 150, Y: 160, Down: true}, {Kind: Move, X: 170, Y: 170}, {Kind: Release}}, "+b1@150,160 -b1"},
		{"right", []Event{{Kind: Button, Button: 2, X: 150, Y: 160, Down: true}, {Kind: Release}}, "+b3@150,160 -b3"},
		{"back", []Event{{Kind: Button, Button: 3, X: 150, Y: 160, Down: true}, {Kind: Release}}, "+b8@150,160 -b8"},
		{"wheel", []Event{{Kind: Wheel, X: 150, Y: 160, DY: -120, DX: 130}}, "+b4@150,160 -b4 +b7@150,160 -b7"},
		{"key", []Event{{Kind: Key, Code: "KeyA", Down: true}, {Kind: Key, Code: "KeyA"}}, "+k38 -k38"},
		{"keypad", []Event{{Kind: Key, Code: "NumpadEnter", Down: true}, {Kind: Release}}, "+k104 -k104"},
		{"by name", []Event{{Kind: Key, Key: "ArrowUp", Down: true}, {Kind: Key, Key: "ArrowUp"}}, "+k111 -k111"},
		{"by character", []Event{{Kind: Key, Code: "Strange", Key: "a", Down: true}, {Kind: Release}}, "+k38 -k38"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := in.Session()
			for _, e := range tt.events {
				if err := s.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
			want := strings.Fields(tt.want)
			if got := next(len(want)); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestUnknownKeyTakesASpareOne(t *testing.T) {
	display, _ := startX(t)
	in := openInjector(t, display)
	s := in.Session()
	if err := s.Apply(Event{Kind: Key, Key: "語", Down: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(Event{Kind: Key, Code: "NoSuchCode", Key: "Unidentified", Down: true}); !errors.Is(err, ErrNoKey) {
		t.Errorf("a key without name and place: %v", err)
	}
}

// TestEveryCodeHasAKey looks at the usual layout: the positions of a full
// keyboard must not have fallen among the spare keys.
func TestEveryCodeHasAKey(t *testing.T) {
	display, _ := startX(t)
	in := openInjector(t, display)
	var absent []string
	for code := range evdevCodes {
		if _, err := in.keys.resolve(code, ""); err != nil {
			absent = append(absent, code)
		}
	}
	slices.Sort(absent)
	t.Logf("without a key on this server: %v", absent)
	if len(absent) > 10 {
		t.Errorf("%d codes have no key: %v", len(absent), absent)
	}
}

func TestServerDies(t *testing.T) {
	display, kill := startX(t)
	in := openInjector(t, display)
	s := in.Session()
	if err := s.Apply(Event{Kind: Key, Code: "KeyA", Down: true}); err != nil {
		t.Fatal(err)
	}
	kill()
	<-in.Done()
	for _, e := range []Event{{Kind: Move}, {Kind: Key, Code: "KeyB", Down: true}, {Kind: Text, Text: "x"}, {Kind: Wheel, DY: 120}} {
		if err := s.Apply(e); !errors.Is(err, ErrGone) {
			t.Errorf("%+v: %v, want ErrGone", e, err)
		}
	}
	if err := in.Activate(1); !errors.Is(err, ErrGone) {
		t.Errorf("activate: %v, want ErrGone", err)
	}
	s.Release()
}

func TestActivate(t *testing.T) {
	for _, manager := range []string{"", "openbox"} {
		t.Run("manager "+manager, func(t *testing.T) {
			display, _ := startX(t)
			in, see := openInjector(t, display), connect(t, display)
			// Mapped first: a window manager that is starting overlooks
			// windows that are mapped meanwhile.
			lower := see.window(t, 100, 100, 0)
			see.window(t, 150, 150, 0)
			if manager != "" {
				launch(t, display, manager)
				wm := newWindows(see.Conn, see.root)
				eventually(t, manager+" has the windows", func() bool {
					return wm.managed() && slices.Contains(wm.values(see.root, "_NET_CLIENT_LIST"), uint32(lower))
				})
			}
			if err := in.Activate(uint32(lower)); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the window has the keyboard", func() bool {
				f, err := xproto.GetInputFocus(see.Conn).Reply()
				return err == nil && f.Focus == lower
			})
			if err := in.Activate(uint32(lower)); err != nil {
				t.Errorf("again: %v", err)
			}
			if err := in.Activate(0x7fffff); err == nil {
				t.Error("a window that does not exist was activated")
			}
		})
	}
}
