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

// clockStep is the unit of the number in the clock mode: fine enough for delays,
// and 32 bits of it last for days.
const clockStep = 100 * time.Microsecond

// NewPattern returns the backend of the test picture. It has three sources:
// "pattern" moves all over, and in "pattern:still" only the patch with the
// number changes, twice a second. In "pattern:clock" all moves, and the number is
// the wall clock at the capture, in tenths of a millisecond since 1970, modulo
// 2^32: who sees the picture knows how old it is.
func NewPattern() Backend { return pattern{} }

func (pattern) Name() string { return "pattern" }

func (pattern) Close() error { return nil }

func (pattern) List(context.Context) ([]Source, error) {
	return []Source{
		{ID: "pattern", Kind: KindPattern, Title: "Test pattern", Bounds: image.Rectangle{Max: defaultSize}, Scale: 1},
		{ID: "pattern:still", Kind: KindPattern, Title: "Still test pattern", Bounds: image.Rectangle{Max: defaultSize}, Scale: 1},
		{ID: "pattern:clock", Kind: KindPattern, Title: "Test pattern with the time", Bounds: image.Rectangle{Max: defaultSize}, Scale: 1},
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
		return &patternCapture{source: s, every: every, still: id == "pattern:still", clock: id == "pattern:clock", ramp: newRamp(size.X)}, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrNotFound, id)
}

type patternCapture struct {
	source Source
	every  time.Duration
	still  bool
	clock  bool
	ramp   []byte
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
		drawPattern(s, c.ramp, int(number), image.Rectangle{Max: s.Size})
		if c.clock {
			number = uint32(captured.UnixNano() / int64(clockStep))
		}
		DrawPatch(s.Pix, s.Stride, number)
		ring.Publish(s, captured, nil, 0)
		return
	}
	damage := []image.Rectangle{PatchBounds}
	if number == 1 {
		damage = nil
	}
	for _, r := range s.Stale {
		drawPattern(s, c.ramp, 0, r)
	}
	DrawPatch(s.Pix, s.Stride, number)
	ring.Publish(s, captured, damage, 0)
}

// ramp is a row of soft stripes with this period in pixels, long enough to be
// copied from any phase.
const rampPeriod = 512

func newRamp(width int) []byte {
	ramp := make([]byte, 0, 4*(width+rampPeriod))
	for p := range width + rampPeriod {
		v := byte(p)
		if p>>8&1 == 1 {
			v = ^v // up and down again, without an edge
		}
		ramp = append(ramp, 64+v>>1, 48+v>>2, 32+byte(p>>3)&0x1f, 0xff)
	}
	return ramp
}

// drawPattern fills r with stripes that drift down and right by two pixels a
// picture, and a brighter square that wanders, so that every part of the
// picture moves and motion compensation has something to find.
func drawPattern(s *gpu.Slot, ramp []byte, n int, r image.Rectangle) {
	box := wanderer(s.Size, n).Intersect(r)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		phase := (r.Min.X + y + rampPeriod - 4*n%rampPeriod) % rampPeriod
		copy(s.Pix[y*s.Stride+4*r.Min.X:y*s.Stride+4*r.Max.X], ramp[4*phase:])
	}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		line := s.Pix[y*s.Stride+4*box.Min.X : y*s.Stride+4*box.Max.X]
		for i := 0; i < len(line); i += 4 {
			line[i], line[i+1], line[i+2] = 240, 200, 120
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
