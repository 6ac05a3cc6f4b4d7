package server

import (
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"nearglass/gpu/capture"
	"nearglass/server/cursor"
	"nearglass/server/input"
)

// display holds the connections to one display server: to capture from it, to
// inject input, and to follow its pointer. Each is made when it is first
// needed, and again when the server has gone and come back.
type display struct {
	name   string
	inputs atomic.Uint64 // marked ones that were carried out: the Mark of pictures

	mu       sync.Mutex
	screen   capture.Backend
	injector *input.Injector
	tracker  *cursor.Tracker
}

func newDisplay(name string) *display { return &display{name: name} }

// displayName is the display to use: the configured one, or $DISPLAY.
func displayName(configured string) string {
	if configured != "" {
		return configured
	}
	return os.Getenv("DISPLAY")
}

// backend returns the connection for capture. When it was lost, it is made
// anew by lost and the next call.
func (d *display) backend() (capture.Backend, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.screen == nil {
		b, err := capture.OpenX11(d.name)
		if err != nil {
			return nil, err
		}
		d.screen = b
	}
	return d.screen, nil
}

// lost drops the connection for capture if it is still b.
func (d *display) lost(b capture.Backend) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.screen == b && b != nil {
		_ = b.Close()
		d.screen = nil
	}
}

// hands returns the connection for input, made anew if the last one was lost.
func (d *display) hands() (*input.Injector, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.injector != nil && isDone(d.injector.Done()) {
		_ = d.injector.Close()
		d.injector = nil
	}
	if d.injector == nil {
		in, err := input.Open(d.name)
		if err != nil {
			return nil, err
		}
		d.injector = in
	}
	return d.injector, nil
}

// pointer returns the connection that follows the pointer, made anew if the
// last one was lost.
func (d *display) pointer() (*cursor.Tracker, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tracker != nil && isDone(d.tracker.Done()) {
		_ = d.tracker.Close()
		d.tracker = nil
	}
	if d.tracker == nil {
		t, err := cursor.Open(d.name)
		if err != nil {
			return nil, err
		}
		d.tracker = t
	}
	return d.tracker, nil
}

// nudge says that a viewer moved the pointer, so that it is looked at now.
func (d *display) nudge() {
	d.mu.Lock()
	t := d.tracker
	d.mu.Unlock()
	if t != nil {
		t.Nudge()
	}
}

func (d *display) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	if d.screen != nil {
		errs = append(errs, d.screen.Close())
	}
	if d.injector != nil {
		errs = append(errs, d.injector.Close())
	}
	if d.tracker != nil {
		errs = append(errs, d.tracker.Close())
	}
	d.screen, d.injector, d.tracker = nil, nil, nil
	_ = errors.Join(errs...) // the display server may be gone already
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// kindOf reads the kind of a source from its ID.
func kindOf(id string) capture.Kind {
	kind, _, _ := strings.Cut(id, ":")
	return capture.Kind(kind)
}
