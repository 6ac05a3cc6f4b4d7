package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/capture"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
	"nearglass/pacing"
	"nearglass/pacing/packetize"
	"nearglass/server/transport"
)

// stageNames are what a picture goes through, in order.
var stageNames = []string{"grab", "convert", "encode", "packetize", "send"}

// stageCosts are sums over all pictures, a stage each.
type stageCosts [5]time.Duration

// line is the way of a picture through the packages of the host, one stage
// after the other in one process, so that the CPU of each can be read.
type line struct {
	painter *painter
	reader  *gpu.Reader
	encoder encode.Encoder
	rate    *ratecontrol.Controller
	peer    *transport.Peer
	seq     uint16
	frame   uint64
	put     time.Duration // CPU of the painter's own request
	cost    stageCosts
	bytes   int
}

// stages measures the CPU of a picture by stage on a scrolling page.
func (b *hostBench) stages(ctx context.Context) {
	b.say("stages")
	l, err := b.runLine(ctx)
	total := 0.0
	for i, name := range stageNames {
		ms := milliseconds(l.cost[i]) / float64(b.times.pictures)
		total += ms
		b.report.add(lower("CPU a picture, 1080p scroll: "+name, "ms", nil, nil), ms, err)
	}
	b.report.add(lower("CPU a picture, 1080p scroll: all", "ms", nil, nil), total, err)
	b.report.add(lower("size of a picture, 1080p scroll, mean", "kB", nil, nil), float64(l.bytes)/1e3/float64(b.times.pictures), err)
}

// runLine sends the pictures to a real viewer.
func (b *hostBench) runLine(ctx context.Context) (*line, error) {
	l := &line{painter: b.painter, rate: ratecontrol.New(ratecontrol.Config{FPS: fps})}
	l.rate.SetTarget(time.Now(), benchRate)
	s, err := newStand(loopback, transport.PeerConfig{HighProfile: true})
	if err != nil {
		return l, err
	}
	defer s.close()
	p, err := b.browser.NewPage()
	if err != nil {
		return l, err
	}
	defer p.Close()
	if err := p.Open(s.url); err != nil {
		return l, err
	}
	if l.peer, err = s.viewer(ctx); err != nil {
		return l, err
	}
	defer l.peer.Close()
	if l.encoder, err = encode.Open(encode.Config{Size: hostSize}); err != nil {
		return l, err
	}
	defer l.encoder.Close()
	l.measurePut()
	return l, l.run(ctx, b.source.name, b.times.pictures)
}

// measurePut finds what the painter's request costs this process, which would
// otherwise count as grabbing.
func (l *line) measurePut() {
	const times = 50
	start := ownCPU()
	for range times {
		l.painter.show()
	}
	l.put = (ownCPU() - start) / times
}

// run captures from the display and sends so many pictures.
func (l *line) run(ctx context.Context, display string, pictures int) error {
	backend, err := capture.OpenX11(display)
	if err != nil {
		return err
	}
	defer backend.Close()
	source, err := backend.Open(ctx, "desktop", capture.Options{})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ring := gpu.NewRing()
	l.reader = ring.NewReader()
	ended := make(chan error, 1)
	go func() { ended <- source.Run(ctx, ring) }()
	due := time.Now()
	for n := -1; n < pictures; n++ { // the first is a key frame and does not count
		if n == 0 {
			l.cost, l.bytes = stageCosts{}, 0
		}
		if err := l.picture(n + 1); err != nil {
			return err
		}
		due = due.Add(time.Second / 30)
		time.Sleep(time.Until(due))
	}
	stop()
	return <-ended
}

// picture paints one state and takes it through the stages.
func (l *line) picture(state int) error {
	l.painter.prepare(state)
	at := ownCPU()
	mark := func(stage int) {
		now := ownCPU()
		l.cost[stage] += now - at
		at = now
	}
	l.painter.show()
	f, err := l.take()
	if err != nil {
		return err
	}
	mark(0)
	l.cost[0] -= l.put
	captured := f.Captured
	err = l.encoder.Load(f)
	f.Release()
	mark(1)
	if err != nil {
		return err
	}
	au, err := l.encode(f)
	mark(2)
	if err != nil {
		return err
	}
	payloads := packetize.H264(nil, au.NALs, transport.MaxPayloadBytes)
	mark(3)
	err = l.send(payloads, captured)
	mark(4)
	return err
}

// take waits for the picture. What is painted is one request, so one picture
// holds it all.
func (l *line) take() (*gpu.Frame, error) {
	late := time.After(5 * time.Second)
	for {
		select {
		case <-l.reader.Ready():
		case <-late:
			return nil, errors.New("no picture came from the display")
		}
		f, err := l.reader.Take()
		if f != nil || err != nil {
			return f, err
		}
	}
}

func (l *line) encode(f *gpu.Frame) (encode.AccessUnit, error) {
	now := time.Now()
	kind := ratecontrol.Motion
	if l.frame == 0 {
		kind = ratecontrol.Key
	}
	l.frame++
	d := l.rate.Plan(now, ratecontrol.Picture{Size: f.Size, Kind: kind})
	au, err := l.encoder.Encode(encode.Order{QP: d.QP, Key: kind == ratecontrol.Key})
	if err != nil {
		return au, fmt.Errorf("encode: %w", err)
	}
	l.rate.Done(now, kind, au.QP, au.SizeBytes)
	l.bytes += au.SizeBytes
	return au, nil
}

func (l *line) send(payloads []packetize.Payload, captured time.Time) error {
	now := time.Now()
	for i, p := range payloads {
		l.seq++
		pkt := pacing.Packet{Class: pacing.Video, Frame: l.frame, Timestamp: uint32(l.frame) * 90000 / 30, Captured: captured,
			First: i == 0, Marker: i == len(payloads)-1, Head: p.Head, HeadLen: p.HeadLen, Body: p.Body, Seq: l.seq}
		if _, err := l.peer.Write(now, &pkt); err != nil {
			return err
		}
	}
	return nil
}
