package capture

import (
	"errors"
	"image"
	"time"

	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/xfixes"

	"nearglass/gpu"
)

// takeDamage moves the server's damage to pending. It comes before the copy:
// what is drawn after it is reported anew, so that nothing is lost. What an input
// caused before it is in the picture, what one causes later may not be: the server
// answers one request after the other, so that the answer here is the moment.
func (g *grabber) takeDamage() error {
	g.damaged = false
	damage.Subtract(g.server.conn, g.damage, 0, g.parts)
	reply, err := xfixes.FetchRegion(g.server.conn, g.parts).Reply()
	if err != nil {
		return g.server.wrap(err)
	}
	g.mark = g.capture.options.mark()
	bounds := image.Rectangle{Max: g.pictureSize()}
	offset := g.target.damageOffset(g.view)
	g.taken.Reset()
	for _, r := range reply.Rectangles {
		at := image.Pt(int(r.X), int(r.Y)).Sub(offset)
		g.taken.Add(image.Rectangle{Min: at, Max: at.Add(image.Pt(int(r.Width), int(r.Height)))}.Intersect(bounds))
	}
	g.pending.AddAll(g.taken.Rects(), bounds)
	if g.pending.Empty() { // all of it elsewhere on the desktop
		g.due = time.Now().Add(g.every)
	}
	return nil
}

// grab copies what is pending into a slot and publishes it.
func (g *grabber) grab(now time.Time) error {
	slot, ok := g.ring.Acquire()
	if !ok {
		g.blocked = true
		return nil
	}
	bounds := image.Rectangle{Max: slot.Size}
	g.copying.Reset()
	g.copying.AddAll(slot.Stale, bounds)
	g.copying.AddAll(g.pending.Rects(), bounds)
	if g.pointer != nil {
		g.copying.Add(g.pointer.covers(g.view.area).Intersect(bounds))
	}
	g.due = nextDue(g.due, now, g.every)
	if err := g.copy(slot, now); err != nil {
		g.ring.Return(slot)
		return g.failed(err)
	}
	g.failures = 0
	if g.pointer != nil {
		g.pointer.draw(slot, g.view.area)
	}
	g.ring.Publish(slot, now, g.pending.Rects(), g.mark)
	g.pending.Reset()
	return nil
}

// copy brings a slot up to date. The source may draw while it does: what was
// copied before and what after do not belong together then, and the picture is
// torn. So what was drawn meanwhile is copied too, as often as again allows.
func (g *grabber) copy(slot *gpu.Slot, began time.Time) error {
	for copies := 1; ; copies++ {
		if err := g.memory.grab(g.view.drawable, g.view.origin, slot, g.copying.Rects()); err != nil {
			return err
		}
		if err := g.arrived(); err != nil {
			return err
		}
		if !g.damaged || g.reshaped || !again(copies, g.capture.copies, time.Since(began), g.every) {
			return nil
		}
		if err := g.takeDamage(); err != nil {
			return err
		}
		g.copying.Reset()
		g.copying.AddAll(g.taken.Rects(), image.Rectangle{Max: slot.Size})
	}
}

// mostCopies bounds the copies of one picture.
const mostCopies = 4

// again says whether a picture that the source drew into is copied anew, after so
// many copies that took so long together. One more is taken to last as long as one
// of those, and half an interval has to do for all: a source that never rests is
// not waited for.
func again(copies, most int, took, every time.Duration) bool {
	return copies < most && took+took/time.Duration(copies) <= every/2
}

// nextDue returns when the next picture may be taken. While pictures follow
// each other it keeps to a raster, so that waking late now and then does not
// lower the rate. A picture that is later still, or the first after a pause,
// is followed after half an interval: a whole one would make all that follow
// late too, for as long as the source paints almost as fast as we grab.
func nextDue(due, now time.Time, every time.Duration) time.Time {
	next, soonest := due.Add(every), now.Add(every/2)
	if next.Before(soonest) {
		return soonest
	}
	return next
}

// mostFailures bounds the grabs that may fail in a row. One fails when the
// source changed its size just before; looking again then helps.
const mostFailures = 20

func (g *grabber) failed(err error) error {
	if errors.Is(err, ErrGone) || errors.Is(err, ErrClosed) {
		return err
	}
	if g.failures++; g.failures > mostFailures {
		return err
	}
	g.reshaped, g.due = true, time.Now().Add(g.every)
	return nil
}

// reshape looks where the picture comes from now, and gives the ring new
// memory when its size changed.
func (g *grabber) reshape() error {
	g.reshaped = false
	v, err := g.target.look(g.server)
	if err != nil {
		if g.capture.window == 0 || errors.Is(err, ErrClosed) {
			return err
		}
		return g.failed(err)
	}
	same := v == g.view && g.failures == 0
	g.view = v
	g.capture.move(v.area)
	size := g.pictureSize()
	if !v.state.Paused && size != g.configured {
		g.configure(size)
	}
	g.ring.SetState(v.state)
	if !same {
		g.pending.Set(image.Rectangle{Max: size})
	}
	return nil
}

func (g *grabber) configure(size image.Point) {
	if g.memory != nil {
		g.memory.detach()
	}
	memory, mem := newMemory(g.server, size)
	g.memory, g.configured, g.blocked = memory, size, false
	g.ring.Configure(size, memory.stride, gpu.BGRA, mem)
}
