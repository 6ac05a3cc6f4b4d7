package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"time"

	"nearglass/server/e2e/desk"
)

// mode is what one kind of content gave.
type mode struct {
	delays series
	shown  int
	took   time.Duration
}

// result is what was measured of one peer, over all visits.
type result struct {
	motion, small, changes mode
	input                  series
	psnr                   []float64 // dB, a whole screen each
	moving, still          []float64 // cores, a visit each
	err                    error     // the first that happened
}

func orNew(r *result) *result {
	if r == nil {
		return &result{}
	}
	return r
}

func (r *result) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// tail is how long a picture may take to be counted.
const tail = 700 * time.Millisecond

// measure runs every mode.
func (g *glass) measure(ctx context.Context, s served, r *result) error {
	before, start := groupCPU(s.groups...), time.Now()
	g.run(ctx, &r.motion, g.times.motion, func(ctx context.Context) { g.painter.move(ctx, true) })
	r.moving = append(r.moving, cores(groupCPU(s.groups...)-before, time.Since(start)-tail))
	if err := g.quality(ctx, r); err != nil {
		return err
	}
	g.run(ctx, &r.small, g.times.small, func(ctx context.Context) { g.painter.move(ctx, false) })
	time.Sleep(time.Second) // a host may sharpen the picture
	g.run(ctx, &r.changes, g.times.changes, func(ctx context.Context) { g.painter.change(ctx) })
	if err := g.press(r); err != nil {
		return err
	}
	time.Sleep(1500 * time.Millisecond)
	before, start = groupCPU(s.groups...), time.Now()
	time.Sleep(g.times.still)
	r.still = append(r.still, cores(groupCPU(s.groups...)-before, time.Since(start)))
	return ctx.Err()
}

func cores(cpu, wall time.Duration) float64 { return cpu.Seconds() / wall.Seconds() }

// run paints for a time and collects when each picture was seen.
func (g *glass) run(ctx context.Context, m *mode, d time.Duration, paint func(context.Context)) {
	watching, stop := context.WithCancel(ctx)
	seen := watch(watching, g.viewer, patchAt)
	painting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	start := time.Now()
	paint(painting)
	end := time.Now()
	time.Sleep(tail)
	stop()
	painted := g.painter.log()
	for n, at := range painted {
		if at.Before(start) {
			delete(painted, n)
		}
	}
	delays := (<-seen).delays(painted)
	m.delays = append(m.delays, delays...)
	m.shown += len(delays)
	m.took += end.Sub(start)
}

// quality takes whole screens of the viewer while the picture moves and
// compares them with what was painted under their numbers.
func (g *glass) quality(ctx context.Context, r *result) error {
	d, err := desk.OpenDisplay(g.viewer.name)
	if err != nil {
		return err
	}
	defer d.Close()
	// The pointer is not in the picture that this is compared with.
	g.fingers.moveTo(glassSize.Sub(image.Pt(1, 1)))
	defer g.fingers.moveTo(pointerRest)
	moving, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); g.painter.move(moving, true) }()
	time.Sleep(time.Second) // the first pictures of a movement are coarser
	var shots []*image.RGBA
	for range g.times.grabs {
		time.Sleep(400 * time.Millisecond)
		shot, err := d.Grab(image.Rectangle{Max: glassSize})
		if err != nil {
			stop()
			return err
		}
		shots = append(shots, shot)
	}
	stop()
	<-done
	for _, shot := range shots {
		if db, ok := g.compare(shot); ok {
			r.psnr = append(r.psnr, db)
		}
	}
	return nil
}

// chromeRows at the top of the screen are left out when pictures are compared:
// our viewer has the tab of its toolbar there.
const chromeRows = 24

// compare gives the luma PSNR of a viewer's screen, false when its number
// cannot be read.
func (g *glass) compare(shot *image.RGBA) (float64, bool) {
	n, ok := readShot(shot)
	if !ok {
		return 0, false
	}
	state, ok := g.painter.state(n)
	if !ok {
		return 0, false
	}
	part := image.Rectangle{Min: image.Pt(0, chromeRows), Max: glassSize}
	want := g.picture.rgba(state, n).SubImage(part).(*image.RGBA)
	return min(desk.LumaPSNR(shot.SubImage(part).(*image.RGBA), want), 99), true
}

// pressWait is how long the answer to a press is waited for.
const pressWait = 3 * time.Second

// press presses a key and a mouse button at the viewer in turn, each answered
// at the source by the next number, and times its appearance at the viewer.
func (g *glass) press(r *result) error {
	g.fingers.moveTo(image.Pt(720, 410))
	g.fingers.button(true) // gives the page the keyboard
	g.fingers.button(false)
	time.Sleep(500 * time.Millisecond)
	number := g.painter.react(true)
	defer g.painter.react(false)
	var missed int
	for i := range g.times.presses {
		push := []func(bool){g.fingers.key, g.fingers.button}[i%2]
		start := time.Now()
		push(true)
		at, ok := awaitNumber(g.viewer, patchAt, pressWait, func(n uint32) bool { return n > number })
		push(false)
		if ok {
			r.input = append(r.input, at.Sub(start))
		} else {
			missed++
		}
		time.Sleep(200*time.Millisecond + rand.N(100*time.Millisecond))
		number = g.painter.react(true)
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d presses changed nothing at the viewer: %w", missed, g.times.presses, errPresses)
	}
	return nil
}

var errPresses = errors.New("input was lost")
