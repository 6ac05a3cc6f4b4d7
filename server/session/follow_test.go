package session

import (
	"context"
	"image"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/pacing"
	"nearglass/telemetry"
)

// pathPeer is a viewer behind a simulated link, on the bubble's clock. It
// reports as browsers do.
type pathPeer struct {
	feedback chan cc.Feedback

	mu       sync.Mutex
	link     *sim.Link
	sequence uint64
	media    map[uint64]uint16 // by transport-wide number
	written  int               // packets since the last Flush
	arrived  []sim.Delivery
	reported int // of arrived
	probes   map[uint32]bool
	payload  int
}

func newPathPeer(c sim.LinkConfig) *pathPeer {
	return &pathPeer{feedback: make(chan cc.Feedback), link: sim.NewLink(c, 1), media: map[uint64]uint16{}, probes: map[uint32]bool{}, payload: 1142}
}

// wireBytes is what a packet weighs beside its payload: RTP, its extensions,
// SRTP, UDP and IP.
const (
	rtpBytes = 12 + 20 + 16
	udpBytes = 8 + 20
)

func (p *pathPeer) Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sequence++
	size := rtpBytes + len(pkt.Body) + int(pkt.HeadLen) + int(pkt.PadBytes)
	p.link.Send(now, sim.Packet{Size: size + udpBytes, ID: p.sequence})
	p.media[p.sequence] = pkt.Seq
	p.written++
	s := cc.Sent{Sequence: p.sequence, SizeBytes: size, At: now, Probe: pkt.Probe, Resend: pkt.Class == pacing.Resend}
	if pkt.Probe != 0 {
		p.probes[pkt.Probe] = true
	}
	if pkt.Class != pacing.Padding {
		s.Frame, s.Last = pkt.Frame, pkt.Marker && !s.Resend
	}
	return s, nil
}

func (p *pathPeer) SenderReport(time.Time) error { return nil }

func (p *pathPeer) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written = 0
	return nil
}

func (p *pathPeer) MaxPayload() int { return p.payload }

// Steps of the viewer: how finely it tells arrivals apart, and how often it
// reports.
const (
	arrivalStep = 250 * time.Microsecond
	reportStep  = 50 * time.Millisecond
)

// run receives and reports until the context ends.
func (p *pathPeer) run(ctx context.Context, origin time.Time) {
	next := origin.Add(reportStep)
	for ctx.Err() == nil {
		time.Sleep(arrivalStep)
		now := time.Now()
		p.mu.Lock()
		for {
			d, ok := p.link.Receive(now)
			if !ok {
				break
			}
			p.arrived = append(p.arrived, d)
		}
		f := cc.Feedback{At: now}
		if !now.Before(next) {
			next = next.Add(reportStep)
			for ; p.reported < len(p.arrived); p.reported++ {
				d := p.arrived[p.reported]
				f.Acks = append(f.Acks, cc.Ack{Sequence: d.ID, Arrived: d.At.Sub(origin).Truncate(arrivalStep)})
				f.Received = append(f.Received, p.media[d.ID])
			}
		}
		p.mu.Unlock()
		if len(f.Acks) > 0 {
			select {
			case p.feedback <- f:
			case <-ctx.Done():
			}
		}
	}
}

// delivered gives the rate on the wire at which packets arrived in a time, and
// the longest queue that one of them had met.
func (p *pathPeer) delivered(from, to time.Time) (r rate.Rate, worst time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	bytes := 0
	for _, d := range p.arrived {
		if !d.At.Before(from) && d.At.Before(to) {
			bytes += d.Size
			worst = max(worst, d.Found)
		}
	}
	return rate.Of(bytes, to.Sub(from)), worst
}

// fullEncoder makes pictures whose size follows the QP as a film's does: halved
// every six steps, from 30 Mbit/s at the sharpest down to 0.7.
type fullEncoder struct{ pictures int }

func (e *fullEncoder) Load(*gpu.Frame) error { return nil }

func (e *fullEncoder) Encode(o encode.Order) (encode.AccessUnit, error) {
	key := o.Key || e.pictures == 0
	e.pictures++
	size := 64_000 * math.Exp2(float64(15-o.QP)/6)
	nal := make([]byte, int(size))
	nal[0] = 0x41
	if key {
		nal = make([]byte, 4*len(nal))
		nal[0] = 0x65
	}
	return encode.AccessUnit{NALs: [][]byte{nal}, Key: key, QP: o.QP, SizeBytes: len(nal)}, nil
}

// Drop drops nothing: every picture is sent.
func (*fullEncoder) Drop() (encode.AccessUnit, error) {
	return encode.AccessUnit{}, encode.ErrNotDroppable
}

func (e *fullEncoder) Close() error { return nil }

// follow plays a session over a link in virtual time, with 60 pictures a second,
// and gives the peer and what the session remembers.
func follow(t *testing.T, peer *pathPeer, d time.Duration, change func(*Config)) (Memory, *Session) {
	t.Helper()
	return followAnd(t, peer, d, change, d, func(*Session) {})
}

// followAnd is follow, and calls act after a while.
func followAnd(t *testing.T, peer *pathPeer, d time.Duration, change func(*Config), after time.Duration, act func(*Session)) (Memory, *Session) {
	t.Helper()
	ring := gpu.NewRing()
	c := Config{
		Peer: peer, Feedback: peer.feedback, Pictures: ring.NewReader(), FPS: 60, Meter: telemetry.NewMeter(time.Now()),
		Encoder: func(image.Point) (encode.Encoder, error) { return &fullEncoder{}, nil },
	}
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var others sync.WaitGroup
	begin := time.Now()
	others.Go(func() { peer.run(ctx, begin) })
	others.Go(func() { showFilm(ctx, ring) })
	others.Go(func() {
		time.Sleep(after)
		act(s)
	})
	if err := s.Run(ctx); err != nil {
		t.Errorf("the session ended with %v", err)
	}
	others.Wait()
	return s.Memory(), s
}

// showFilm publishes 60 whole pictures a second.
func showFilm(ctx context.Context, ring *gpu.Ring) {
	size := image.Pt(1280, 720)
	mem := make([]gpu.Memory, 3)
	for i := range mem {
		mem[i].Pix = make([]byte, 4*size.X*size.Y)
	}
	ring.Configure(size, 4*size.X, gpu.BGRA, mem)
	for ctx.Err() == nil {
		if slot, ok := ring.Acquire(); ok {
			ring.Publish(slot, time.Now(), []image.Rectangle{{Max: size}}, 0)
		}
		time.Sleep(time.Second / 60)
	}
}

// TestSessionFollowsThePath: a session that nobody tells a rate takes most of
// what the link carries, keeps its queue short, and follows a fall. How well it
// does that is the controller's matter and stands in cc's own tables; here its
// word has to reach the encoder and the pacer.
func TestSessionFollowsThePath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		after := func(d time.Duration) time.Time { return begin.Add(d) }
		peer := newPathPeer(sim.LinkConfig{Delay: 10 * time.Millisecond, Rates: []sim.Step{{Rate: 8 * rate.Mbps}, {At: 4 * time.Second, Rate: 2 * rate.Mbps}}})
		memory, s := follow(t, peer, 8*time.Second, nil)
		if r, worst := peer.delivered(after(2*time.Second), after(4*time.Second)); r < 6*rate.Mbps || worst > 100*time.Millisecond {
			t.Errorf("of 8 Mbit/s %v were used, with up to %v of queue", r, worst)
		}
		if r, worst := peer.delivered(after(6*time.Second), after(8*time.Second)); r < 1400*rate.Kbps || worst > 100*time.Millisecond {
			t.Errorf("after the fall to 2 Mbit/s %v were used, with up to %v of queue", r, worst)
		}
		if memory.Capacity < 1500*rate.Kbps || memory.Capacity > 3*rate.Mbps {
			t.Errorf("remembered is %+v", memory)
		}
		if f := s.c.Meter.Snapshot(time.Now()); f.State == "" || f.Reason == "" || f.TargetKbps > 2000 {
			t.Errorf("the figures say %+v", f)
		}
		if peer.written != 0 {
			t.Errorf("%d packets were never flushed", peer.written)
		}
	})
}

// TestSessionBounds: a fixed rate is kept whatever the path does, and the most
// that is allowed bounds what follows it.
func TestSessionBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		change      func(*Config)
		least, most rate.Rate
	}{
		"fixed":   {func(c *Config) { c.Bitrate = 3 * rate.Mbps }, 2300 * rate.Kbps, 3600 * rate.Kbps},
		"bounded": {func(c *Config) { c.MaxBitrate = 5 * rate.Mbps }, 4000 * rate.Kbps, 5700 * rate.Kbps},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			peer := newPathPeer(sim.LinkConfig{Delay: 10 * time.Millisecond, Rates: []sim.Step{{Rate: 20 * rate.Mbps}}})
			follow(t, peer, 4*time.Second, tt.change)
			if r, _ := peer.delivered(begin.Add(2*time.Second), begin.Add(4*time.Second)); r < tt.least || r > tt.most {
				t.Errorf("%s: %v were sent over 20 Mbit/s", name, r)
			}
		})
	}
}

// TestSessionProbesWhatItRemembers: with the memory of an earlier stream it is
// sooner at the same rate, by a probe train.
func TestSessionProbesWhatItRemembers(t *testing.T) {
	run := func(recall func() Route) (r rate.Rate, probes int) {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			peer := newPathPeer(sim.LinkConfig{Delay: 10 * time.Millisecond, Rates: []sim.Step{{Rate: 16 * rate.Mbps}}})
			follow(t, peer, 500*time.Millisecond, func(c *Config) { c.Recall = recall })
			r, _ = peer.delivered(begin, begin.Add(500*time.Millisecond))
			probes = len(peer.probes)
		})
		return r, probes
	}
	cold, _ := run(nil)
	warm, probes := run(func() Route { return Route{Memory: Memory{Capacity: 16 * rate.Mbps, At: time.Now().Add(-time.Minute)}} })
	if probes == 0 {
		t.Error("what is remembered was not probed")
	}
	if warm < cold*9/10 {
		t.Errorf("the first half second carried %v, and %v without the memory", warm, cold)
	}
}

// TestSessionTakesAnotherRoute: what the session is told of a new route reaches
// the controller, whose probe leaves, and what it remembers is no more that of
// the old one.
func TestSessionTakesAnotherRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		peer := newPathPeer(sim.LinkConfig{Delay: 10 * time.Millisecond, Rates: []sim.Step{{Rate: 16 * rate.Mbps}, {At: 2 * time.Second, Rate: 4 * rate.Mbps}}})
		reroute := func(s *Session) {
			if m := s.Memory(); m.Capacity < 10*rate.Mbps {
				t.Errorf("of the first route %+v is remembered", m)
			}
			s.RouteChanged(Route{Relayed: true}) // replaced before the loop takes it
			s.RouteChanged(Route{Memory: Memory{Capacity: 4 * rate.Mbps, At: time.Now().Add(-time.Minute)}, Relayed: true})
			time.Sleep(time.Millisecond)
			if m := s.Memory(); m != (Memory{}) {
				t.Errorf("of the second route %+v is remembered", m)
			}
		}
		memory, _ := followAnd(t, peer, 4*time.Second, nil, 2*time.Second, reroute)
		if len(peer.probes) == 0 {
			t.Error("what is remembered of the second route was not probed")
		}
		if memory.Capacity < 3*rate.Mbps || memory.Capacity > 5*rate.Mbps {
			t.Errorf("in the end %+v is remembered", memory)
		}
		if r, worst := peer.delivered(begin.Add(3*time.Second), begin.Add(4*time.Second)); r < 2800*rate.Kbps || worst > 100*time.Millisecond {
			t.Errorf("of 4 Mbit/s %v were used, with up to %v of queue", r, worst)
		}
	})
}

// TestPayloadFollowsThePath: a tunnel that is narrower than usual gets smaller
// packets from the next picture on.
func TestPayloadFollowsThePath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		peer := newPathPeer(sim.LinkConfig{})
		peer.payload = 500
		follow(t, peer, 500*time.Millisecond, nil)
		if r, _ := peer.delivered(begin, time.Now()); r == 0 {
			t.Fatal("nothing arrived")
		}
		for _, d := range peer.arrived {
			if d.Size > 500+rtpBytes+udpBytes {
				t.Fatalf("a packet of %d bytes on a path for payloads of 500", d.Size)
			}
		}
	})
}
