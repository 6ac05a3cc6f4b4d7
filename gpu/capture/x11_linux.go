package capture

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strconv"
	"strings"
	"sync"

	"github.com/jezek/xgb/xproto"

	"nearglass/gpu/xconn"
)

// x11Backend answers questions over one connection. Each capture has another,
// so that none waits for the others.
type x11Backend struct {
	server *xserver
	mu     sync.Mutex
	err    error // why the backend is of no use any more
}

func openX11(display string) (Backend, error) {
	s, err := dialX(display)
	if err != nil {
		return nil, err
	}
	b := &x11Backend{server: s}
	go b.watch()
	return b, nil
}

// watch empties the queue of events and notes the end of the connection.
func (b *x11Backend) watch() {
	for range b.server.events {
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = b.server.gone()
	}
}

func (b *x11Backend) alive() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *x11Backend) Name() string { return "X11 " + b.server.display }

func (b *x11Backend) Close() error {
	b.mu.Lock()
	if b.err == nil {
		b.err = errors.New("the X11 backend was closed")
	}
	b.mu.Unlock()
	b.server.close()
	return nil
}

func (b *x11Backend) List(ctx context.Context) ([]Source, error) {
	if err := errors.Join(ctx.Err(), b.alive()); err != nil {
		return nil, err
	}
	list, err := within(ctx, b.server.sources)
	if err != nil {
		return nil, fmt.Errorf("listing what %s shows: %w", b.Name(), err)
	}
	return list, nil
}

func (b *x11Backend) Open(ctx context.Context, id string, o Options) (Capture, error) {
	if err := errors.Join(ctx.Err(), b.alive()); err != nil {
		return nil, err
	}
	return within(ctx, func() (Capture, error) { return b.open(id, o) })
}

// within runs f, but does not wait for it longer than ctx lasts: a server that
// hangs, as when it is being debugged, answers nothing.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("waiting for the X server: %w", ctx.Err())
	}
}

func (b *x11Backend) open(id string, o Options) (Capture, error) {
	c := &x11Capture{display: b.server.display, options: o, remote: isRemote(b.server.display), copies: mostCopies}
	var err error
	if c.window, err = windowID(id); err != nil {
		return nil, err
	}
	if c.window != 0 {
		err = c.openWindow(b.server)
	} else {
		err = c.openDisplay(b.server, id)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// isRemote reports whether a display name has a host. Sharing memory is then
// not even tried: the number of our memory may name another's over there.
func isRemote(display string) bool {
	return !strings.HasPrefix(display, ":") && !strings.HasPrefix(display, "/") && !strings.HasPrefix(display, "unix")
}

// windowID reads the ID of a window source; other kinds of source give 0.
func windowID(id string) (xproto.Window, error) {
	hex, ok := strings.CutPrefix(id, "window:")
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseUint(hex, 0, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	return xproto.Window(n), nil
}

func (c *x11Capture) openWindow(s *xserver) error {
	src, err := s.windowSource(c.window)
	switch {
	case err != nil:
		return err
	case src.ID == "":
		return fmt.Errorf("%w: window 0x%x", ErrNotFound, uint32(c.window))
	case !s.has[xconn.Composite]:
		return fmt.Errorf("%s: %w", src.Unavailable, errors.ErrUnsupported)
	}
	src.Scale = s.scale()
	c.setSource(src)
	return nil
}

func (c *x11Capture) openDisplay(s *xserver, id string) error {
	list, err := s.sources()
	if err != nil {
		return err
	}
	for _, src := range list {
		if src.ID == id {
			c.setSource(src)
			c.monitor = strings.TrimPrefix(id, "display:")
			if src.Kind == KindDesktop {
				c.monitor = ""
			}
			return nil
		}
	}
	return fmt.Errorf("%w: %q", ErrNotFound, id)
}

// onlyGone drops the errors of a window that vanished while it was looked at.
func onlyGone(err error) error {
	if errors.Is(err, ErrGone) {
		return err
	}
	return nil
}

// setSource notes what is captured and where it lies.
func (c *x11Capture) setSource(src Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source = src
	c.place = Place{Origin: src.Bounds.Min, Size: src.Bounds.Size(), Window: uint32(c.window)}
}

func (c *x11Capture) Source() Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source
}

func (c *x11Capture) Place() Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.place
}

// move notes where the picture lies now.
func (c *x11Capture) move(area image.Rectangle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source.Bounds = area
	c.place.Origin, c.place.Size = area.Min, area.Size()
}
