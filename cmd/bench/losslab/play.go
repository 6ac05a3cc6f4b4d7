package losslab

import (
	"context"
	"image"
	"sync"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/server/session"
	"nearglass/telemetry"
)

// encodeTime is what a picture takes from capture to packets, in software at this
// size, a busy machine's pauses aside.
const encodeTime = 5 * time.Millisecond

// Recording is one stream.
type Recording struct {
	Cell   Cell
	Repair session.Repair
	Seed   uint64

	origin time.Time
	length time.Duration
	units  []made // all that could be sent, in order
	shown  []shown

	bytes, resent, requests int
	repairs                 int
}

// made is a unit of the encoder.
type made struct {
	encode.AccessUnit
	at time.Time
}

// Play streams over a cell for a time. Inside testing/synctest that time is virtual.
func Play(c Cell, r session.Repair, length time.Duration, seed uint64) (*Recording, error) {
	origin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	rec := &Recording{Cell: c, Repair: r, Seed: seed, origin: origin, length: length}
	w := newWorld(c, r.ByReference(), origin, seed)
	ring := gpu.NewRing()
	meter := telemetry.NewMeter(origin)
	s, err := session.New(session.Config{
		Peer: w, Feedback: w.feedback, Repair: r, Gaps: r.ByReference(), Pictures: ring.NewReader(),
		Encoder: rec.open, FPS: FPS, FullSize: true, Meter: meter,
	})
	if err != nil {
		return nil, err
	}
	w.confirm = s.Confirm
	var parts sync.WaitGroup
	parts.Go(func() { w.run(ctx) })
	parts.Go(func() { show(ctx, ring) })
	err = s.Run(ctx)
	cancel()
	parts.Wait()
	rec.shown, rec.bytes, rec.resent, rec.requests = w.viewer.shown, w.bytes, w.resent, w.viewer.requests
	rec.repairs = int(meter.Snapshot(time.Now()).Repaired)
	return rec, err
}

// open opens the host's encoder for a stream, and keeps what it makes.
func (r *Recording) open(size image.Point) (encode.Encoder, error) {
	c := encode.Config{Size: size, FPS: FPS, Threads: 1}
	if r.Repair.ByReference() {
		c.Gaps, c.References = true, encode.MostReferences(size)
	}
	e, err := encode.Open(c)
	return &keeper{e, r, c.Gaps}, err
}

// keeper is an encoder that takes its time and whose units are kept.
type keeper struct {
	encode.Encoder
	to   *Recording
	gaps bool
}

// Encode keeps the unit.
func (k *keeper) Encode(o encode.Order) (encode.AccessUnit, error) {
	u, err := k.Encoder.Encode(o)
	if err == nil {
		time.Sleep(encodeTime)
		k.to.units = append(k.to.units, made{u, time.Now()})
	}
	return u, err
}

// Drop takes the unit back that was kept last. Its placeholder is sent where gaps
// are not taken.
func (k *keeper) Drop() (encode.AccessUnit, error) {
	u, err := k.Encoder.Drop()
	if err == nil {
		last := len(k.to.units) - 1
		k.to.units = k.to.units[:last]
		if !k.gaps {
			k.to.units = append(k.to.units, made{u, time.Now()})
		}
	}
	return u, err
}

// slots is enough for the newest picture, one that is encoded and one to paint.
const slots = 3

// show paints the scene into a ring until the context ends.
func show(ctx context.Context, ring *gpu.Ring) {
	scene := NewScene()
	stride := 4 * Size.X
	ring.Configure(Size, stride, gpu.BGRA, gpu.HostMemory(slots, stride*Size.Y))
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for n := 0; ; n++ {
		if slot, ok := ring.Acquire(); ok {
			scene.Draw(slot.Pix, slot.Stride, n)
			ring.Publish(slot, time.Now(), nil, 0)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
