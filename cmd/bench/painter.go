package main

import (
	"context"
	"fmt"
	"image"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/shm"
	"github.com/jezek/xgb/xproto"
)

// fps of what moves: at 60 the pictures would keep a fixed distance to the
// viewer's refresh; 57 sweeps over it three times a second.
const fps = 57

// scene is a picture whose state depends on a number alone.
type scene interface {
	draw(pix []byte, stride, state int)
}

// painter is a client that covers a display with a scene. The time of a picture
// is taken before it asks the server to show it.
type painter struct {
	conn   *xgb.Conn
	window xproto.Window
	gc     xproto.Gcontext
	depth  byte
	seg    shm.Seg
	size   image.Point
	scene  scene
	pix    []byte
	stride int

	mu       sync.Mutex
	last     uint32 // number painted last
	painted  map[uint32]time.Time
	states   map[uint32]int // of the scene, by number
	reacting bool           // each key and button press paints the next number
}

func newPainter(display string, size image.Point, scene scene) (*painter, error) {
	conn, err := xgb.NewConnDisplay(display)
	if err != nil {
		return nil, fmt.Errorf("open display %s: %w", display, err)
	}
	p := &painter{conn: conn, size: size, scene: scene, stride: 4 * size.X,
		painted: map[uint32]time.Time{}, states: map[uint32]int{}}
	if err := p.open(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("paint on %s: %w", display, err)
	}
	go p.listen()
	return p, nil
}

// open makes the window and the memory for its content.
func (p *painter) open() error {
	if err := shm.Init(p.conn); err != nil {
		return err
	}
	var err error
	if p.window, err = xproto.NewWindowId(p.conn); err != nil {
		return err
	}
	if p.gc, err = xproto.NewGcontextId(p.conn); err != nil {
		return err
	}
	if p.seg, err = shm.NewSegId(p.conn); err != nil {
		return err
	}
	s := xproto.Setup(p.conn).DefaultScreen(p.conn)
	p.depth = s.RootDepth
	events := uint32(xproto.EventMaskKeyPress | xproto.EventMaskButtonPress)
	xproto.CreateWindow(p.conn, p.depth, p.window, s.Root, 0, 0, uint16(p.size.X), uint16(p.size.Y), 0,
		xproto.WindowClassInputOutput, s.RootVisual, xproto.CwOverrideRedirect|xproto.CwEventMask, []uint32{1, events})
	xproto.CreateGC(p.conn, p.gc, xproto.Drawable(p.window), 0, nil)
	xproto.MapWindow(p.conn, p.window)
	xproto.SetInputFocus(p.conn, xproto.InputFocusPointerRoot, p.window, xproto.TimeCurrentTime)
	p.pix, err = sharedMemory(p.stride*p.size.Y, func(id uint32) error {
		return shm.AttachChecked(p.conn, p.seg, id, true).Check()
	})
	return err
}

func (p *painter) close() { p.conn.Close() }

// listen answers presses while the painter reacts.
func (p *painter) listen() {
	for {
		ev, err := p.conn.WaitForEvent()
		if ev == nil && err == nil {
			return
		}
		switch ev.(type) {
		case xproto.KeyPressEvent, xproto.ButtonPressEvent:
			p.mu.Lock()
			if p.reacting {
				p.next(-1)
			}
			p.mu.Unlock()
		}
	}
}

// react says whether presses paint. It gives the number that is shown now.
func (p *painter) react(on bool) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reacting = on
	return p.last
}

// paint shows the next number: with a state of the scene, or with
// state -1 the patch alone.
func (p *painter) paint(state int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next(state)
}

func (p *painter) next(state int) {
	p.last++
	r := patchRect()
	if state >= 0 {
		r = image.Rectangle{Max: p.size}
		p.scene.draw(p.pix, p.stride, state)
		p.states[p.last] = state
	}
	number(p.pix, p.stride, p.last)
	p.painted[p.last] = time.Now()
	p.put(r)
}

// paintPart shows the next number on what f paints, and has the server copy only what f
// says that it changed, and the patch.
func (p *painter) paintPart(f func(pix []byte, stride int) []image.Rectangle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	parts := append(f(p.pix, p.stride), patchRect())
	number(p.pix, p.stride, p.last)
	p.painted[p.last] = time.Now()
	for _, r := range parts {
		p.put(r)
	}
}

// prepare draws a state of the scene that show then puts on screen.
func (p *painter) prepare(state int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scene.draw(p.pix, p.stride, state)
}

// show puts the whole picture on screen.
func (p *painter) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(image.Rectangle{Max: p.size})
}

// put has the server copy a part of the memory, and waits until it has.
func (p *painter) put(r image.Rectangle) {
	size := p.size
	shm.PutImage(p.conn, xproto.Drawable(p.window), p.gc, uint16(size.X), uint16(size.Y),
		uint16(r.Min.X), uint16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), int16(r.Min.X), int16(r.Min.Y),
		p.depth, xproto.ImageFormatZPixmap, 0, p.seg, 0)
	_, _ = xproto.GetInputFocus(p.conn).Reply()
}

// log is a copy of what was painted so far.
func (p *painter) log() map[uint32]time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.painted)
}

// state is that of the scene when number n was painted.
func (p *painter) state(n uint32) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.states[n]
	return s, ok
}

// move paints at a rate until the context ends; whole pictures, or the patch
// alone. It gives the number of pictures.
func (p *painter) move(ctx context.Context, whole bool) int {
	due, count := time.Now(), 0
	for ctx.Err() == nil {
		state := -1
		if whole {
			state = count
		}
		p.paint(state)
		count++
		due = due.Add(time.Second / fps)
		time.Sleep(time.Until(due))
	}
	return count
}

// change paints the patch alone about twice a second, at moments that no
// refresh rate can be in step with.
func (p *painter) change(ctx context.Context) int {
	count := 0
	for ctx.Err() == nil {
		p.paint(-1)
		count++
		time.Sleep(450*time.Millisecond + rand.N(100*time.Millisecond))
	}
	return count
}
