package input

import (
	"sync"
)

// control is a key or button of the desktop's own numbering.
type control struct {
	button bool
	code   uint8
}

// step is one event for the desktop: the pointer goes to x, y, or a control
// goes down or up.
type step struct {
	move bool
	x, y int
	control
	down bool
}

// keyboard turns keys and text into events of the desktop.
type keyboard interface {
	// resolve finds the key for a DOM code, or else for a DOM key name.
	resolve(code, key string) (control, error)
	// text types s while the keys in held are down, and leaves them so.
	text(s string, held []control) error
}

// desktop takes events and has windows.
type desktop interface {
	connection
	send(steps ...step) error
	activate(window uint32) error
	settled() <-chan error
}

// connection is a way to a desktop that can end.
type connection interface {
	done() <-chan struct{}
	close() error
}

// Injector is a connection to the desktop. Its methods and those of its
// sessions may be called at the same time from several goroutines; what they
// do happens one after the other.
type Injector struct {
	keys    keyboard
	desktop desktop

	mu    sync.Mutex
	holds map[control]int // how many sessions hold each control down
}

func newInjector(k keyboard, d desktop) *Injector {
	return &Injector{keys: k, desktop: d, holds: make(map[control]int)}
}

// Open connects to the desktop named by display; "" is the one that the
// environment names ($DISPLAY). Where input cannot be injected, the error
// wraps [errors.ErrUnsupported].
func Open(display string) (*Injector, error) { return open(display) }

// Session starts a session for one viewer.
func (in *Injector) Session() *Session {
	return &Session{in: in, held: make(map[control]bool), keys: make(map[string]control)}
}

// Activate raises a window and gives it the keyboard. It does nothing when the
// window is active already. A window that cannot take the keyboard is raised
// only. window is an X11 window id.
func (in *Injector) Activate(window uint32) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.desktop.activate(window)
}

// Settled gives a channel that says once that the desktop has carried out all
// that was asked of it so far, or that it has gone. A desktop that hangs keeps
// it waiting.
func (in *Injector) Settled() <-chan error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.desktop.settled()
}

// Done is closed when the desktop has gone away or the Injector was closed.
func (in *Injector) Done() <-chan struct{} { return in.desktop.done() }

// Close lets go of everything that any session holds, undoes what typing
// changed in the desktop's key map, and disconnects.
func (in *Injector) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	for c := range in.holds {
		_ = in.desktop.send(step{control: c})
	}
	clear(in.holds)
	return in.desktop.close()
}

// heldKeys lists the keys that any session holds.
func (in *Injector) heldKeys() []control {
	var keys []control
	for c := range in.holds {
		if !c.button {
			keys = append(keys, c)
		}
	}
	return keys
}
