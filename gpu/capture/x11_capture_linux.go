package capture

import (
	"context"
	"image"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"

	"nearglass/gpu"
	"nearglass/gpu/xconn"
)

// x11Capture is an opened source of an X server.
type x11Capture struct {
	display string
	options Options
	window  xproto.Window // the window to capture, or 0
	monitor string        // else the monitor, or "" for the whole desktop
	remote  bool          // the server is elsewhere and cannot share memory
	copies  int           // at most so many of one picture, while the source draws into it

	mu     sync.Mutex
	source Source
	place  Place
}

// grabber is a capture while it runs; one goroutine owns it.
type grabber struct {
	capture *x11Capture
	server  *xserver
	target  target
	ring    *gpu.Ring
	every   time.Duration

	view       view
	memory     *xmemory
	configured image.Point // the size that memory is for
	damage     damage.Damage
	parts      xfixes.Region // receives the damage that is taken
	pointer    *xpointer     // nil when it is not drawn

	damaged  bool       // the server holds damage
	taken    gpu.Region // from it, the last time
	pending  gpu.Region // taken from it and not yet published
	copying  gpu.Region // scratch: what to copy into a slot
	mark     uint64     // number of the newest input before the damage was taken
	reshaped bool
	moved    bool
	blocked  bool // waiting for a free slot
	due      time.Time
	failures int       // grabs in a row that failed
	greeted  time.Time // when the server was last asked whether it lives
}

// patience is how long Run waits for a server that hangs once it is to end.
// The slot that the server may still write to stays allocated until it answers.
const patience = time.Second

// Run captures until ctx or the source ends, on a connection of its own.
func (c *x11Capture) Run(ctx context.Context, ring *gpu.Ring) error {
	done := make(chan error, 1)
	go func() { done <- c.run(ctx, ring) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(patience):
	}
	return nil
}

func (c *x11Capture) run(ctx context.Context, ring *gpu.Ring) error {
	s, err := dialX(c.display)
	if err != nil {
		return err
	}
	defer s.close()
	if c.remote {
		delete(s.has, xconn.Shm)
	}
	stop := context.AfterFunc(ctx, s.close) // also ends a wait for a reply
	defer stop()
	g := &grabber{capture: c, server: s, ring: ring, every: interval(c.options.fpsOr(60)), target: displayTarget{c.monitor}}
	if c.window != 0 {
		g.target = &windowTarget{window: c.window}
	}
	err = g.start()
	if err == nil {
		err = g.loop(ctx)
	}
	if g.memory != nil {
		g.memory.detach()
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (g *grabber) start() error {
	drawable, err := g.target.watch(g.server)
	if err != nil {
		return err
	}
	if g.damage, err = newDamage(g.server, drawable); err != nil {
		return err
	}
	if g.parts, err = xfixes.NewRegionId(g.server.conn); err != nil {
		return g.server.wrap(err)
	}
	if err := xfixes.CreateRegionChecked(g.server.conn, g.parts, nil).Check(); err != nil {
		return g.server.wrap(err)
	}
	if g.capture.options.Pointer {
		if g.pointer, err = newPointer(g.server); err != nil {
			return err
		}
	}
	if err := g.reshape(); err != nil {
		return err
	}
	// New damage of a window starts as the whole of it, which the first
	// picture covers anyway.
	return g.takeDamage()
}

// loop waits for events, grabs when something changed and the next picture is
// due, and sleeps otherwise.
func (g *grabber) loop(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now()
		g.ring.Asking(now)
		err := g.step(now)
		if err == nil {
			err = g.greet(now)
		}
		g.ring.Asking(time.Time{})
		if err != nil {
			return err
		}
		timer.Stop()
		if wait, ok := g.untilGreeting(time.Now()); ok {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-g.server.events:
			if err := g.events(ev, ok); err != nil {
				return err
			}
		case <-timer.C:
		case <-g.ring.Wake():
			g.blocked = false
		}
	}
}

// events handles one event and those that wait behind it, so that a burst, as
// when a window is resized by hand, is answered once.
func (g *grabber) events(ev xgb.Event, ok bool) error {
	for {
		if !ok {
			return g.server.gone()
		}
		if err := g.event(ev); err != nil {
			return err
		}
		select {
		case ev, ok = <-g.server.events:
		default:
			return nil
		}
	}
}

// arrived handles the events that have come by now and does not wait for more.
func (g *grabber) arrived() error {
	select {
	case ev, ok := <-g.server.events:
		return g.events(ev, ok)
	default:
		return nil
	}
}

func (g *grabber) event(ev xgb.Event) error {
	switch ev.(type) {
	case damage.NotifyEvent:
		g.damaged = true
		return nil
	case xfixes.CursorNotifyEvent:
		if g.pointer != nil {
			g.pointer.stale, g.pointer.next = true, time.Time{}
		}
		return nil
	}
	switch g.target.event(ev) {
	case destroyed:
		return ErrClosed
	case reshaped:
		g.reshaped = true
	case renamed:
		g.rename()
	case moved:
		g.moved = true
	}
	return nil
}

// rename takes over a window's new title, and looks again at one that is
// hidden, because the reason may be known only now.
func (g *grabber) rename() {
	c := g.capture
	title := g.server.title(c.window)
	c.mu.Lock()
	c.source.Title = title
	c.mu.Unlock()
	g.reshaped = g.reshaped || g.view.state.Paused
}

// follow notes a window's new place.
func (g *grabber) follow() error {
	g.moved = false
	if g.capture.window == 0 {
		return nil
	}
	area, err := g.server.windowArea(g.capture.window)
	if err != nil {
		return onlyGone(err) // the event about its end is on its way
	}
	area.Max = area.Min.Add(g.pictureSize())
	g.view.area = area
	g.capture.move(g.view.area)
	return nil
}

func (g *grabber) pictureSize() image.Point { return g.view.area.Size() }

// idle reports whether there is nobody to take pictures for, or nothing to
// take them of.
func (g *grabber) idle() bool {
	return g.view.state.Paused || g.ring.Readers() == 0
}

// step does what is due now.
func (g *grabber) step(now time.Time) error {
	if g.reshaped && (g.failures == 0 || !now.Before(g.due)) {
		if err := g.reshape(); err != nil {
			return err
		}
	}
	if g.moved {
		if err := g.follow(); err != nil {
			return err
		}
	}
	if g.reshaped || g.idle() || now.Before(g.due) {
		return nil
	}
	if g.pointer != nil {
		if err := g.pointer.look(g, now); err != nil {
			return err
		}
	}
	if g.damaged {
		if err := g.takeDamage(); err != nil {
			return err
		}
	}
	if g.pending.Empty() || g.blocked {
		return nil
	}
	return g.grab(now)
}

// wait returns how long to sleep when no event comes; false means for ever.
func (g *grabber) wait(now time.Time) (time.Duration, bool) {
	switch {
	case g.reshaped:
		return max(g.due.Sub(now), 0), true
	case g.idle():
		return 0, false
	case g.damaged || (!g.pending.Empty() && !g.blocked):
		return max(g.due.Sub(now), 0), true
	case g.pointer != nil:
		return max(g.pointer.next.Sub(now), g.due.Sub(now), 0), true
	}
	return 0, false
}
