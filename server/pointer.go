package server

import (
	"bytes"
	"image"
	"image/png"
	"time"

	"nearglass/gpu/capture"
	"nearglass/server/cursor"
	"nearglass/signaling"
)

// restTime is how long the pointer has to stay for its position to be said
// again on the reliable channel. Until then a lost one is followed by another.
const restTime = 60 * time.Millisecond

// pointing is where a pointer is to be drawn in a picture.
type pointing struct {
	at      image.Point // pixels of the picture
	visible bool
	shape   string
}

// pointer is a source's pointer, as the viewer's sender follows it.
type pointer interface {
	// ready is signalled when something may have changed, and at the end.
	ready() <-chan struct{}
	// look gives the pointer now; false when there is nothing to follow any
	// more.
	look() (pointing, bool)
	// shape describes a shape by its name in pointing.
	shape(id string) (signaling.Cursor, bool)
	close()
}

// pointer sends the pointer's way beside the video: positions without
// guarantee, and shape, visibility and the place of rest with it.
func (v *viewer) pointer() {
	for v.ctx.Err() == nil {
		p, err := v.host.pointerOf(v.stage)
		if err == nil && p != nil {
			v.follow(p)
			p.close()
		} else if p == nil && err == nil {
			return // a source without a pointer
		}
		select {
		case <-v.ctx.Done():
		case <-time.After(retryEvery):
		}
	}
}

// follow sends one pointer until the viewer ends or the pointer's source does.
func (v *viewer) follow(p pointer) {
	rest := time.NewTimer(time.Hour)
	rest.Stop()
	defer rest.Stop()
	s := pointerSender{v: v, p: p, told: map[string]bool{}}
	for {
		select {
		case <-v.ctx.Done():
			return
		case <-p.ready():
			if !s.moved() {
				return
			}
			rest.Reset(restTime)
		case <-rest.C:
			s.send(true)
		case <-v.hasControl:
			s = pointerSender{v: v, p: p, told: map[string]bool{}, n: s.n}
			s.moved()
			s.send(true)
		}
	}
}

// pointerSender remembers what the viewer was told.
type pointerSender struct {
	v    *viewer
	p    pointer
	told map[string]bool // shapes
	last pointing
	n    uint64
}

// moved says what changed; false when there is nothing to follow any more.
func (s *pointerSender) moved() bool {
	now, ok := s.p.look()
	if !ok || now == s.last && s.n > 0 {
		return ok
	}
	if now.shape != "" && !s.told[now.shape] {
		if c, ok := s.p.shape(now.shape); ok {
			s.told[now.shape] = true
			s.v.say(c)
		}
	}
	sure := now.shape != s.last.shape || now.visible != s.last.visible || s.n == 0
	s.last = now
	s.send(sure)
	return true
}

// send says the pointer's state; sure sends it where nothing is lost.
func (s *pointerSender) send(sure bool) {
	s.n++
	m := signaling.Pointer{X: float64(s.last.at.X), Y: float64(s.last.at.Y), Visible: s.last.visible, Cursor: s.last.shape, N: s.n}
	if sure {
		s.v.say(m)
		return
	}
	if data, err := signaling.Encode(m); err == nil {
		_ = s.v.peer.Send(signaling.PointerChannel, data) // the next one or the rest makes up for it
	}
}

// pointerOf gives the pointer of a source; nil where it has none.
func (h *Host) pointerOf(st *stage) (pointer, error) {
	switch kindOf(st.key.id) {
	case capture.KindDemo:
		ready, end := h.demo.subscribe()
		return &demoPointer{desk: h.demo, changed: ready, end: end}, nil
	case capture.KindPattern:
		return nil, nil
	}
	t, err := h.display.pointer()
	if err != nil {
		return nil, err
	}
	return &screenPointer{sub: t.Subscribe(), gone: t.Done(), stage: st}, nil
}

// screenPointer is the pointer of a display, seen in one source of it.
type screenPointer struct {
	sub   *cursor.Subscription
	gone  <-chan struct{}
	stage *stage
}

func (p *screenPointer) ready() <-chan struct{} { return p.sub.Ready() }
func (p *screenPointer) close()                 { p.sub.Close() }

func (p *screenPointer) look() (pointing, bool) {
	x, y, visible, shape := p.sub.Pointer()
	place := p.stage.place()
	at := image.Pt(x, y).Sub(place.Origin)
	inside := at.In(image.Rectangle{Max: place.Size})
	return pointing{at: at, visible: visible && inside, shape: shape}, !isDone(p.gone)
}

func (p *screenPointer) shape(id string) (signaling.Cursor, bool) {
	s, ok := p.sub.Shape(id)
	if !ok {
		return signaling.Cursor{}, false
	}
	return signaling.Cursor{ID: id, Width: s.Size.X, Height: s.Size.Y, HotX: s.Hot.X, HotY: s.Hot.Y, PNG: s.PNG}, true
}

// demoPointer is the demo desktop's.
type demoPointer struct {
	desk    *demoDesk
	changed <-chan struct{}
	end     func()
}

func (p *demoPointer) ready() <-chan struct{} { return p.changed }
func (p *demoPointer) close()                 { p.end() }

func (p *demoPointer) look() (pointing, bool) {
	x, y, visible, shape := p.desk.Cursor()
	return pointing{image.Pt(x, y), visible, shape}, true
}

func (p *demoPointer) shape(id string) (signaling.Cursor, bool) {
	picture, hot, ok := p.desk.Shape(id)
	if !ok {
		return signaling.Cursor{}, false
	}
	var data bytes.Buffer
	if png.Encode(&data, picture) != nil {
		return signaling.Cursor{}, false
	}
	size := picture.Bounds().Size()
	return signaling.Cursor{ID: id, Width: size.X, Height: size.Y, HotX: hot.X, HotY: hot.Y, PNG: data.Bytes()}, true
}
