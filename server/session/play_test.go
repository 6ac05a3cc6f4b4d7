package session

import (
	"context"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/pacing"
	"nearglass/telemetry"
)

// stamped is an encoder that keeps pictures as x264 does, and writes into each what
// it is predicted from. Their size follows the QP as a film's does: halved every six
// steps. It stands in for x264.
type stamped struct {
	size    image.Point
	id      uint64
	number  uint64
	valid   []uint64
	changed bool // since the picture before
}

// stampedBytes is what a picture takes at QP 30 that is predicted from the one before,
// a key frame keyTimes as much, and one from farther back at most farTimes.
const (
	stampedBytes = 4000
	keyTimes     = 6
	farTimes     = 3
)

func (e *stamped) Load(*gpu.Frame) error { e.changed = true; return nil }

// sharpened is the share of a picture's macroblocks that are coded again.
func sharpened(mask []bool) float64 {
	n := 0
	for _, yes := range mask {
		if yes {
			n++
		}
	}
	return float64(n) / float64(max(len(mask), 1))
}

func (e *stamped) Encode(o encode.Order) (encode.AccessUnit, error) {
	e.number++
	e.valid = slices.DeleteFunc(e.valid, func(n uint64) bool {
		return o.Newest > 0 && n > o.Newest || n+encode.MaxReferences < e.number
	})
	u := encode.AccessUnit{Number: e.number, QP: o.QP}
	times := float64(keyTimes)
	if o.Key || len(e.valid) == 0 {
		u.Key, e.valid = true, nil
	} else {
		u.Reference = e.valid[len(e.valid)-1]
		times = min(1+float64(e.number-u.Reference-1)/4, farTimes)
	}
	if !e.changed && !u.Key {
		times *= sharpened(o.Sharpen) / 2
	}
	e.valid, e.changed = append(e.valid, e.number), false
	bytes := stampedBytes * times * math.Exp2(float64(30-o.QP)/6) * float64(e.size.X*e.size.Y) / float64(wideSource.X*wideSource.Y)
	nal := make([]byte, max(int(bytes), 1+stampBytes))
	nal[0] = 0x41
	stamp(nal, e.id, u.Number, u.Reference)
	u.NALs, u.SizeBytes = [][]byte{nal}, len(nal)
	return u, nil
}

func (*stamped) Drop() (encode.AccessUnit, error) {
	return encode.AccessUnit{}, encode.ErrNotDroppable
}

func (*stamped) Close() error { return nil }

// viewing is one viewer of a play.
type viewing struct {
	road
	joins time.Duration // when, from the beginning
	lies  bool          // its page says that it shows whatever was sent
}

// play is a screen on which pictures are shown to some viewers. What its roads lose
// and mute ends with its length, the pictures soon after; calm follows.
type play struct {
	viewers []viewing
	length  time.Duration
	seed    uint64
	size    image.Point   // of the screen
	then    image.Point   // its size from the middle on; zero: the same
	every   time.Duration // between pictures; 0: a 60th of a second
	change  func(*Config)
	midway  func(*Session) // is called of each in the middle; nil: nothing is
}

// calm is time enough for what was lost last: a browser asks for a key frame after
// 3 s without a picture.
const calm = 5 * time.Second

// watched is what a viewer saw of a play.
type watched struct {
	*browser
	session  *Session
	encoders []*stamped
	ends     time.Time // of the losses
}

// run plays in virtual time.
func (p play) run(t *testing.T) []*watched {
	t.Helper()
	ring := gpu.NewRing()
	ctx, cancel := context.WithTimeout(t.Context(), p.length+calm)
	defer cancel()
	list := make([]*watched, len(p.viewers))
	var all sync.WaitGroup
	for i, v := range p.viewers {
		all.Go(func() {
			time.Sleep(v.joins)
			list[i] = p.join(t, v, ring, p.seed*100+uint64(i))
			all.Go(func() { list[i].browser.run(ctx) })
			all.Go(func() {
				time.Sleep(p.length/2 - v.joins)
				if p.midway != nil {
					p.midway(list[i].session)
				}
			})
			if err := list[i].session.Run(ctx); err != nil {
				t.Errorf("the session of viewer %d ended with %v", i, err)
			}
		})
	}
	p.show(ring)
	all.Wait()
	return list
}

// join makes a viewer's session and browser.
func (p play) join(t *testing.T, v viewing, ring *gpu.Ring, seed uint64) *watched {
	lasts := p.length - v.joins
	if lose := v.lose; lose != nil {
		v.lose = func(at time.Duration, pkt *pacing.Packet, r *rand.Rand) bool { return at < lasts && lose(at, pkt, r) }
	}
	if mute := v.mute; mute != nil {
		v.mute = func(at time.Duration, r *rand.Rand) bool { return at < lasts && mute(at, r) }
	}
	b := newBrowser(v.road, seed)
	b.lies = v.lies
	w := &watched{browser: b, ends: time.Now().Add(lasts)}
	c := Config{
		Peer: b, Feedback: b.feedback, Pictures: ring.NewReader(), FPS: 60, Meter: telemetry.NewMeter(time.Now()), Gaps: true,
		Encoder: func(size image.Point) (encode.Encoder, error) {
			w.encoders = append(w.encoders, &stamped{size: size, id: uint64(len(w.encoders) + 1)})
			return w.encoders[len(w.encoders)-1], nil
		},
	}
	if p.change != nil {
		p.change(&c)
	}
	var err error
	if w.session, err = New(c); err != nil {
		t.Error(err)
	}
	b.session = w.session
	return w
}

// show publishes pictures until a little after the losses.
func (p play) show(ring *gpu.Ring) {
	size, every := p.size, p.every
	if every == 0 {
		every = time.Second / 60
	}
	configure(ring, size)
	for begin := time.Now(); time.Since(begin) < p.length+100*time.Millisecond; {
		if p.then != (image.Point{}) && size != p.then && time.Since(begin) >= p.length/2 {
			size = p.then
			configure(ring, size)
		}
		if slot, ok := ring.Acquire(); ok {
			ring.Publish(slot, time.Now(), []image.Rectangle{{Max: size}}, 0)
		}
		time.Sleep(every)
	}
}

func configure(ring *gpu.Ring, size image.Point) {
	mem := make([]gpu.Memory, 3)
	for i := range mem {
		mem[i].Pix = make([]byte, 4*size.X*size.Y)
	}
	ring.Configure(size, 4*size.X, gpu.BGRA, mem)
}

// longest is the longest time without a new picture while packets were lost.
func (w *watched) longest() (d time.Duration) {
	for i := 1; i < len(w.sights) && w.sights[i-1].at.Before(w.ends); i++ {
		d = max(d, w.sights[i].at.Sub(w.sights[i-1].at))
	}
	return d
}

// keys is how many key frames were encoded.
func (w *watched) keys() int { return int(w.session.c.Meter.Snapshot(time.Now()).KeyFrames) }

// right says whether the viewer shows the last picture of the last encoder, and never
// decoded one without what it refers to.
func (w *watched) right(t *testing.T) {
	t.Helper()
	if w.wrong > 0 {
		t.Errorf("%d of %d pictures were decoded without what they refer to", w.wrong, w.shown)
	}
	last := w.encoders[len(w.encoders)-1]
	if w.encoder != last.id || w.number != last.number {
		t.Errorf("picture %d of encoder %d is shown last, and %d of %d was coded", w.number, w.encoder, last.number, last.id)
	}
}
