package capture

import (
	"context"
	"fmt"
	"image"
	"time"

	"nearglass/gpu"
)

// patternFPS is the pattern's default rate. At 60 the pictures would keep a
// fixed distance to the viewer's own 60 Hz refresh and a measurement of delay
// would depend on that distance; 57 sweeps over it three times a second.
const patternFPS = 57

// stillInterval is the time between two numbers in the still mode.
const stillInterval = 500 * time.Millisecond

var defaultSize = image.Pt(1280, 720)

type pattern struct{}

// NewPattern returns the backend of the test picture. It has two sources:
// "pattern" moves all over, and in "pattern:still" only the patch with the
// number changes, twice a second.
func NewPattern() Backend { return pattern{} }

func (pattern) Name() string { return "pattern" }

func (pattern) Close() error { return nil }

func (pattern) List(context.Context) ([]Source, error) {
	return []Source{
		{ID: "pattern", Kind: KindPattern, Title: "Test pattern", Bounds: image.Rectangle{Max: defaultSize}, Scale: 1},
		{ID: "pattern:still", Kind: KindPattern, Title: "Still test pattern", Bounds: image.Rectangle{Max: defaultSize}, Scale: 1},
	}, nil
}

func (p pattern) Open(ctx context.Context, id string, o Options) (Capture, error) {
	list, _ := p.List(ctx)
	for _, s := range list {
		if s.ID != id {
			continue
		}
		size := o.sizeOr(defaultSize)
		if !PatchBounds.In(image.Rectangle{Max: size}) {
			return nil, fmt.Errorf("a pattern of %v pixels is too small for its patch of %v", size, PatchBounds.Size())
		}
		s.Bounds = image.Rectangle{Max: size}
		every := interval(o.fpsOr(patternFPS))
		if id == "pattern:still" {
			every = stillInterval
		}
		return &patternCapture{source: s, every: every, still: id == "pattern:still"}, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrNotFound, id)
}

type patternCapture struct {
	source Source
	every  time.Duration
	still  bool
}

func (c *patternCapture) Source() Source { return c.source }

func (c *patternCapture) Place() Place { return Place{Size: c.source.Bounds.Size()} }

func (c *patternCapture) Run(ctx context.Context, ring *gpu.Ring) error {
	size := c.source.Bounds.Size()
	stride := size.X * gpu.BGRA.BytesPerPixel()
	ring.Configure(size, stride, gpu.BGRA, gpu.HostMemory(slots, stride*size.Y))
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for number := uint32(1); ; {
		for ring.Readers() == 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-ring.Wake():
			}
		}
		if s, ok := ring.Acquire(); ok {
			c.paint(ring, s, number)
			number++
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// paint draws picture number into the slot and publishes it.
func (c *patternCapture) paint(ring *gpu.Ring, s *gpu.Slot, number uint32) {
	captured := time.Now()
	if !c.still {
		drawPattern(s, s.Pix, int(number), image.Rectangle{Max: s.Size})
		DrawPatch(s.Pix, s.Stride, number)
		ring.Publish(s, captured, nil, 0)
		return
	}
	damage := []image.Rectangle{PatchBounds}
	if number == 1 {
		damage = nil
	}
	for _, r := range s.Stale {
		drawPattern(s, s.Pix, 0, r)
	}
	DrawPatch(s.Pix, s.Stride, number)
	ring.Publish(s, captured, damage, 0)
}

// drawPattern fills r with wide soft stripes that drift down and right by two
// pixels a picture, and a brighter square that wanders, so that every part of
// the picture moves and motion compensation has something to find.
func drawPattern(s *gpu.Slot, pix []byte, n int, r image.Rectangle) {
	box := wanderer(s.Size, n)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		line := pix[y*s.Stride+4*r.Min.X : y*s.Stride+4*r.Max.X]
		inY := y >= box.Min.Y && y < box.Max.Y
		rowPhase := uint32(y - 2*n)
		for x := r.Min.X; x < r.Max.X; x++ {
			o := 4 * (x - r.Min.X)
			p := uint32(x-2*n) + rowPhase
			v := byte(p)
			if p>>8&1 == 1 {
				v = ^v // up and down again, without an edge
			}
			line[o], line[o+1], line[o+2], line[o+3] = 64+v>>1, 48+v>>2, 32+byte(rowPhase>>2)&0x3f, 0xff
			if inY && x >= box.Min.X && x < box.Max.X {
				line[o], line[o+1], line[o+2] = 240, 200, 120
			}
		}
	}
}

// wanderer is the square of picture n: it bounces between the edges.
func wanderer(size image.Point, n int) image.Rectangle {
	side := min(size.X, size.Y) / 6
	p := image.Pt(bounce(7*n, size.X-side), bounce(5*n, size.Y-side))
	return image.Rectangle{Min: p, Max: p.Add(image.Pt(side, side))}
}

// bounce runs from 0 to span and back.
func bounce(n, span int) int {
	if span <= 0 {
		return 0
	}
	n %= 2 * span
	if n > span {
		return 2*span - n
	}
	return n
}
