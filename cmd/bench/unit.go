package main

import (
	"context"
	"errors"
	"image"
	"sync"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/capture"
	"nearglass/gpu/encode"
	"nearglass/pacing"
	"nearglass/server/e2e/desk"
	"nearglass/server/session"
	"nearglass/server/transport"
	"nearglass/telemetry"
)

// unitSize is the picture of the row "write of the access unit".
var unitSize = image.Pt(640, 360)

// benchRate is fixed, so that the row measures the way and no controller.
const benchRate = 20 * rate.Mbps

// writeClock is a transport that notes when the first packet of each picture
// was written. The capture time names the picture: it comes through the
// encoder and the pacer unchanged.
type writeClock struct {
	*transport.Peer
	mu    sync.Mutex
	first map[time.Time]time.Time // by capture time
}

// Write notes the time and writes.
func (w *writeClock) Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error) {
	if pkt.First && pkt.Class != pacing.Resend {
		at := time.Now()
		w.mu.Lock()
		if _, again := w.first[pkt.Captured]; !again {
			w.first[pkt.Captured] = at
		}
		w.mu.Unlock()
	}
	return w.Peer.Write(now, pkt)
}

// measureUnits streams the test pattern to the page by our own session and
// transport, in this process, and gives the time from the write of each access
// unit's first packet until its picture stands on the viewer's screen.
func measureUnits(ctx context.Context, p *desk.Page, viewer *screen, c transport.PeerConfig, d time.Duration) (series, error) {
	s, err := newStand(loopback, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := p.Open(s.url); err != nil {
		return nil, err
	}
	peer, err := s.viewer(ctx)
	if err != nil {
		return nil, err
	}
	clock := &writeClock{Peer: peer, first: map[time.Time]time.Time{}}
	defer peer.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	captured, err := streamPattern(ctx, clock)
	if err != nil {
		return nil, err
	}
	if _, ok := awaitNumber(viewer, image.Point{}, 10*time.Second, func(n uint32) bool { return n > fps }); !ok {
		return nil, errors.New("the pattern did not appear on the viewer's screen")
	}
	watching, stop := context.WithTimeout(ctx, d)
	defer stop()
	seen := <-watch(watching, viewer, image.Point{})
	return seen.delays(clock.written(captured())), nil
}

// written gives the time of writing by number.
func (w *writeClock) written(captured map[uint32]time.Time) map[uint32]time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[uint32]time.Time{}
	for n, at := range captured {
		if first, ok := w.first[at]; ok {
			out[n] = first
		}
	}
	return out
}

// streamPattern runs the pattern and a session until the context ends. The
// function that it gives tells which number was captured when.
func streamPattern(ctx context.Context, peer *writeClock) (func() map[uint32]time.Time, error) {
	source, err := capture.NewPattern().Open(ctx, "pattern", capture.Options{Size: unitSize, FPS: fps})
	if err != nil {
		return nil, err
	}
	ring := gpu.NewRing()
	s, err := session.New(session.Config{
		Peer: peer, Feedback: peer.Feedback(), Bitrate: benchRate, Pictures: ring.NewReader(), FPS: 60,
		NoRTX: !peer.RTX(), Meter: telemetry.NewMeter(time.Now()),
		Encoder: func(size image.Point) (encode.Encoder, error) { return encode.Open(encode.Config{Size: size}) },
	})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	captured := map[uint32]time.Time{}
	go noteNumbers(ctx, ring.NewReader(), func(n uint32, at time.Time) {
		mu.Lock()
		defer mu.Unlock()
		captured[n] = at
	})
	go func() { _ = source.Run(ctx, ring) }()
	go func() { _ = s.Run(ctx) }()
	return func() map[uint32]time.Time {
		mu.Lock()
		defer mu.Unlock()
		return captured
	}, nil
}

// noteNumbers reads the numbers of a ring's pictures.
func noteNumbers(ctx context.Context, r *gpu.Reader, note func(uint32, time.Time)) {
	defer r.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.Ready():
		}
		f, err := r.Take()
		if err != nil {
			return
		}
		if f == nil {
			continue
		}
		if n, ok := capture.ReadPatch(f.Pix, f.Stride); ok {
			note(n, f.Captured)
		}
		f.Release()
	}
}
