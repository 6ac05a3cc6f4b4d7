package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"nearglass/cc"
	"nearglass/cc/lab"
	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/cmd/bench/wire"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/pacing"
	"nearglass/server/session"
	"nearglass/server/transport"
	"nearglass/telemetry"
)

// feedbackCmd records what sessions sent and what a browser reported, for the
// tests of cc/lab. It is run by hand.
type feedbackCmd struct {
	Dir    string        `help:"Where to write." default:"cc/lab/testdata/feedback"`
	Length time.Duration `help:"Of each recording." default:"6s" placeholder:"TIME"`
}

// feedbackCase is a link to record over.
type feedbackCase struct {
	name, what string
	rate       rate.Rate // that the second half of a recording is judged by
	link       sim.LinkConfig
}

var feedbackCases = []feedbackCase{
	{name: "open", what: "no bottleneck and no delay"},
	{name: "narrow", what: "1 Mbit/s", rate: rate.Mbps, link: sim.LinkConfig{
		Rates: []sim.Step{{Rate: rate.Mbps}}, Delay: linkOneWay, Queue: sim.Queue{Limit: linkQueue}}},
	{name: "plain", what: "6 Mbit/s", rate: 6 * rate.Mbps, link: sim.LinkConfig{
		Rates: []sim.Step{{Rate: 6 * rate.Mbps}}, Delay: linkOneWay, Queue: sim.Queue{Limit: linkQueue}}},
	{name: "fall", what: "10 Mbit/s, 3 from the second third on", rate: 3 * rate.Mbps, link: sim.LinkConfig{
		Rates: []sim.Step{{Rate: 10 * rate.Mbps}, {At: 2 * time.Second, Rate: 3 * rate.Mbps}}, Delay: linkOneWay, Queue: sim.Queue{Limit: linkQueue}}},
	{name: "loss", what: "6 Mbit/s, 2 % lost", rate: 6 * rate.Mbps, link: sim.LinkConfig{
		Rates: []sim.Step{{Rate: 6 * rate.Mbps}}, Delay: linkOneWay, Queue: sim.Queue{Limit: linkQueue}, Loss: sim.Loss{Random: 0.02}}},
	{name: "radio", what: "6 Mbit/s, as over WiFi: delivered every 4 ms, 3 ms of jitter", rate: 6 * rate.Mbps, link: sim.LinkConfig{
		Rates: []sim.Step{{Rate: 6 * rate.Mbps}}, Delay: linkOneWay, Queue: sim.Queue{Limit: linkQueue},
		Jitter: sim.Jitter{Sigma: 3 * time.Millisecond, Keep: true}, Aggregation: sim.Aggregation{Every: 4 * time.Millisecond}}},
	{name: "outage", what: "6 Mbit/s, nothing for 700 ms in the middle", rate: 6 * rate.Mbps, link: sim.LinkConfig{
		Rates: []sim.Step{{Rate: 6 * rate.Mbps}}, Delay: linkOneWay, Queue: sim.Queue{Limit: time.Second},
		Outages: sim.Outages{From: 2 * time.Second, Length: 700 * time.Millisecond}}},
}

// Run records all of them.
func (c feedbackCmd) Run(ctx context.Context, s settings) (err error) {
	runtime.GOMAXPROCS(runtime.NumCPU() + 2) // as for bench link
	stage := linkStage{grain: newGrain()}
	if stage.dir, err = os.MkdirTemp("", "nearglass-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(stage.dir)
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	if stage.wire, err = wire.Open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.wire.Close()) }()
	only := map[string]bool{}
	for _, name := range s.Only {
		only[name] = true
	}
	for _, f := range feedbackCases {
		if len(only) > 0 && !only[f.name] {
			continue
		}
		if err := c.record(ctx, &stage, f); err != nil {
			return fmt.Errorf("record %s: %w", f.name, err)
		}
	}
	return nil
}

// record records one stream from its begin on.
func (c feedbackCmd) record(ctx context.Context, g *linkStage, f feedbackCase) error {
	g.wire.Shape(wire.Shape{})
	ctx, cancel := context.WithTimeout(ctx, c.Length+time.Minute)
	defer cancel()
	var s *stand
	if err := g.wire.Near.Do(func() (err error) {
		s, err = newStand(g.wire.Near.Addr.String(), transport.PeerConfig{HighProfile: true})
		return err
	}); err != nil {
		return err
	}
	defer s.close()
	b, err := g.browser(ctx, g.wire.Far)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.FirstPage().Open(s.url); err != nil {
		return err
	}
	peer, err := s.viewer(ctx)
	if err != nil {
		return err
	}
	defer peer.Close()
	shape := wire.Shape{Forward: f.link, Back: sim.LinkConfig{Delay: f.link.Delay}, Seed: 1}
	t := newTap(peer, g.wire.Shape(shape))
	if err := t.stream(ctx, g.grain, c.Length); err != nil {
		return err
	}
	return t.write(filepath.Join(c.Dir, f.name+".txt"), f)
}

// tap is a transport that notes what is sent and what is reported.
type tap struct {
	*transport.Peer
	begun    time.Time
	feedback chan cc.Feedback

	mu  sync.Mutex
	rec lab.Recording
}

func newTap(p *transport.Peer, begun time.Time) *tap {
	return &tap{Peer: p, begun: begun, feedback: make(chan cc.Feedback, 128)}
}

// since gives a time as a recording counts it.
func (t *tap) since(at time.Time) time.Duration { return at.Sub(t.begun) }

// Write notes the packet and writes it.
func (t *tap) Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error) {
	s, err := t.Peer.Write(now, pkt)
	if err == nil {
		t.mu.Lock()
		noted := s
		noted.At = time.Time{}.Add(t.since(now))
		t.rec.Sent = append(t.rec.Sent, noted)
		t.mu.Unlock()
	}
	return s, err
}

// listen notes feedback and passes it on.
func (t *tap) listen(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-t.Peer.Feedback():
			if len(f.Acks) > 0 {
				t.mu.Lock()
				t.rec.Feedbacks = append(t.rec.Feedbacks, lab.Report{At: t.since(f.At), Acks: f.Acks})
				t.mu.Unlock()
			}
			select {
			case t.feedback <- f:
			case <-ctx.Done():
			}
		}
	}
}

// stream runs a session that shows the grain.
func (t *tap) stream(ctx context.Context, g *grain, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	ring, meter := gpu.NewRing(), telemetry.NewMeter(time.Now())
	s, err := session.New(session.Config{
		Peer: t, Feedback: t.feedback, NoRTX: !t.RTX(), Pictures: ring.NewReader(), FPS: grainFPS, Meter: meter,
		Encoder: func(size image.Point) (encode.Encoder, error) { return encode.Open(encode.Config{Size: size}) },
	})
	if err != nil {
		return err
	}
	go t.listen(ctx)
	go showGrain(ctx, g, ring)
	go tellRates(ctx, meter)
	return s.Run(ctx)
}

// showGrain publishes the grain's pictures.
func showGrain(ctx context.Context, g *grain, ring *gpu.Ring) {
	stride := 4 * grainSize.X
	ring.Configure(grainSize, stride, gpu.BGRA, gpu.HostMemory(3, stride*grainSize.Y))
	tick := time.NewTicker(time.Second / grainFPS)
	defer tick.Stop()
	for n := 0; ; n++ {
		if slot, ok := ring.Acquire(); ok {
			g.draw(slot.Pix, stride, n)
			ring.Publish(slot, time.Now(), []image.Rectangle{{Max: grainSize}}, 0)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// tellRates prints what the controller does, for the person who records.
func tellRates(ctx context.Context, meter *telemetry.Meter) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			f := meter.Snapshot(now)
			fmt.Fprintf(os.Stderr, "%8.0f kbit/s target, %5.1f ms in the pacer, QP %d, %s: %s\n", f.TargetKbps, f.QueueMs, f.QP, f.State, f.Reason)
		}
	}
}

// write stores the recording.
func (t *tap) write(file string, f feedbackCase) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rec.Link = f.rate
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "# What a session sent to Chromium and what that reported, by \"bench feedback\":\n# %s.\n", f.what)
	return errors.Join(t.rec.Write(out), out.Close())
}
