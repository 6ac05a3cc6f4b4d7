package server

import (
	"image"
	"sync"

	"nearglass/gpu/capture"
	"nearglass/signaling"
)

// demoDesk is the demo desktop with what a display server would keep: who
// holds what, and who wants to know where the pointer is.
type demoDesk struct {
	*capture.Demo

	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
}

func newDemoDesk() *demoDesk {
	return &demoDesk{Demo: capture.NewDemo(), watchers: map[chan struct{}]struct{}{}}
}

// subscribe gives a channel that is signalled when the pointer may have
// changed, and a function that ends it.
func (d *demoDesk) subscribe() (<-chan struct{}, func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := make(chan struct{}, 1)
	c <- struct{}{}
	d.watchers[c] = struct{}{}
	return c, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, c)
	}
}

func (d *demoDesk) moved() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (d *demoDesk) hands() hands {
	return &demoHands{desk: d, keys: map[string]bool{}, buttons: map[int]bool{}}
}

// demoHands act on the demo desktop for one viewer.
type demoHands struct {
	desk *demoDesk

	mu      sync.Mutex
	keys    map[string]bool // held, by code
	buttons map[int]bool    // held
}

func (h *demoHands) do(m signaling.Message, size image.Point) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.desk.moved()
	switch m := m.(type) {
	case signaling.Move:
		h.move(m.Spot, size)
	case signaling.Button:
		h.move(m.Spot, size)
		h.desk.Button(m.Button, m.Down)
		hold(h.buttons, m.Button, m.Down)
	case signaling.Wheel:
		h.move(m.Spot, size)
		h.desk.Wheel(m.DX/120, m.DY/120)
	case signaling.Key:
		h.desk.Key(m.Code, m.Down)
		hold(h.keys, m.Code, m.Down)
	case signaling.Text:
		h.desk.Text(m.Text)
	case signaling.Release:
		h.letGo()
	}
	return nil
}

// done is at once: the demo draws with its next picture what it is told.
func (h *demoHands) done() <-chan uint64 { return numbered(h.desk.Inputs()) }

func (h *demoHands) move(s signaling.Spot, size image.Point) {
	p := pixelOf(s, size)
	h.desk.Pointer(p.X, p.Y)
}

func (h *demoHands) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.letGo()
}

func (h *demoHands) letGo() {
	for code := range h.keys {
		h.desk.Key(code, false)
	}
	for button := range h.buttons {
		h.desk.Button(button, false)
	}
	clear(h.keys)
	clear(h.buttons)
}

// hold keeps a set of what is down.
func hold[T comparable](held map[T]bool, what T, down bool) {
	if down {
		held[what] = true
	} else {
		delete(held, what)
	}
}
