package transport

import (
	"context"
	"encoding/json"
	"flag"
	"image"
	"math"
	"net"
	"os"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/server/session"
	"nearglass/telemetry"
)

// rampFile is where bench ramp wants the runs.
var rampFile = flag.String("ramp", "", "write what happened at the start of streams to this file")

// ramp is the start of one stream through the real stack: session, SRTP and
// sockets into a second pion peer. Times are microseconds from its begin.
type ramp struct {
	Name     string        `json:"name"`
	Link     rate.Rate     `json:"link"` // 0: loopback as it is
	Max      rate.Rate     `json:"max"`
	Plot     bool          `json:"plot"` // it stands in the docs
	Length   int64         `json:"length"`
	Arrivals []rampArrival `json:"arrivals"`
	Changes  []rampChange  `json:"changes"`

	first int // least size of a key frame
}

// rampArrival is an RTP packet at the viewer's socket.
type rampArrival struct {
	At    int64 `json:"at"`
	Bytes int   `json:"bytes"` // on the wire
	Found int64 `json:"found"` // the queue that it met
}

// rampChange is the controller's word from then on.
type rampChange struct {
	At     int64   `json:"at"`
	Kbps   float64 `json:"kbps"` // the encoder's target
	State  string  `json:"state"`
	Reason string  `json:"reason"`
}

// ramps are the streams to start.
var ramps = []ramp{
	{Name: "loopback", Max: 20 * rate.Mbps, Plot: true},
	{Name: "loopback, no bound", Max: 50 * rate.Mbps},
	{Name: "1 Mbit/s", Link: rate.Mbps, Max: 20 * rate.Mbps, Plot: true},
	{Name: "1 Mbit/s, a page of text first", Link: rate.Mbps, Max: 20 * rate.Mbps, first: textBytes},
	{Name: "20 Mbit/s", Link: 20 * rate.Mbps, Max: 50 * rate.Mbps},
}

// rampDelay is the propagation of the links that have a bottleneck, one way.
const rampDelay = 10 * time.Millisecond

// TestRamp starts streams through the real stack. As a test it only wants the
// whole to follow the path at all; how fast it does so depends on the machine
// and is measured by bench ramp, which runs this with -ramp.
func TestRamp(t *testing.T) {
	length, runs := 2*time.Second, []ramp{ramps[0], ramps[2]}
	if *rampFile != "" {
		length, runs = 5*time.Second, ramps
	}
	for i := range runs {
		t.Run(runs[i].Name, func(t *testing.T) { runs[i].run(t, length) })
	}
	if *rampFile == "" {
		return
	}
	data := must[[]byte](t)(json.Marshal(runs))
	check(t, os.WriteFile(*rampFile, data, 0o600))
}

// run starts one stream.
func (r *ramp) run(t *testing.T, length time.Duration) {
	c := sim.LinkConfig{}
	if r.Link > 0 {
		c.Rates, c.Delay = []sim.Step{{Rate: r.Link}}, rampDelay
	}
	conn := must[*net.UDPConn](t)(net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	check(t, conn.SetReadBuffer(receiveBufferBytes))
	socket := newShaped(conn, c, 1)
	t.Cleanup(func() { _ = socket.Close() })
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{socket: socket})
	v.wire.mute = true
	v.connect(p)

	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	begin := time.Now()
	r.stream(ctx, t, p, begin)
	r.Length = length.Microseconds()
	for _, a := range socket.passed() {
		r.Arrivals = append(r.Arrivals, rampArrival{a.at.Sub(begin).Microseconds(), a.bytes, a.found.Microseconds()})
	}
	second := r.delivered(length-time.Second, length)
	t.Logf("%v in the last second of %v; the controller: %+v", second, length, r.Changes[len(r.Changes)-1])
	if least := min(3*rate.Mbps, r.Link/3); r.Link > 0 && second < least {
		t.Errorf("%v arrived in the last second, and not even %v", second, least)
	}
}

// delivered is the rate at which packets arrived between two times.
func (r *ramp) delivered(from, to time.Duration) rate.Rate {
	sum := 0
	for _, a := range r.Arrivals {
		if at := time.Duration(a.At) * time.Microsecond; at >= from && at < to {
			sum += a.Bytes
		}
	}
	return rate.Of(sum, to-from)
}

// stream runs a session and notes what the controller says.
func (r *ramp) stream(ctx context.Context, t *testing.T, p *Peer, begin time.Time) {
	ring, meter := gpu.NewRing(), telemetry.NewMeter(begin)
	s := must[*session.Session](t)(session.New(session.Config{
		Peer: p, Feedback: p.Feedback(), MaxBitrate: r.Max, Pictures: ring.NewReader(), FPS: 60, Meter: meter,
		Encoder: func(image.Point) (encode.Encoder, error) { return &filmEncoder{least: r.first}, nil },
	}))
	go film(ctx, ring)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var last rampChange
	for {
		select {
		case err := <-ended:
			check(t, err)
			return
		case now := <-tick.C:
			f := meter.Snapshot(now)
			c := rampChange{now.Sub(begin).Microseconds(), f.TargetKbps, f.State, f.Reason}
			if c.Kbps != last.Kbps || c.State != last.State || c.Reason != last.Reason {
				r.Changes = append(r.Changes, c)
				last = c
			}
		}
	}
}

// film publishes 60 whole pictures a second, all of them changed.
func film(ctx context.Context, ring *gpu.Ring) {
	size := image.Pt(1280, 720)
	ring.Configure(size, 4*size.X, gpu.BGRA, gpu.HostMemory(3, 4*size.X*size.Y))
	tick := time.NewTicker(time.Second / 60)
	defer tick.Stop()
	for {
		if slot, ok := ring.Acquire(); ok {
			ring.Publish(slot, time.Now(), []image.Rectangle{{Max: size}}, 0)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// filmEncoder makes pictures whose sizes follow the QP as a film's do: halved
// every six steps. At the sharpest they would fill 27 Mbit/s, at the coarsest
// 0.6. A key frame has four times their size, and at least one that is given.
type filmEncoder struct{ pictures, least int }

const (
	filmSharpest = 15 // QP
	filmBytes    = 56_000
	filmHalving  = 6
	filmKey      = 4
	// textBytes is what x264 makes of the key frame of a page of text at the
	// coarsest QP: 30 kB at 1280x720, so as much at 1920x1080.
	textBytes = 67_000
)

func (e *filmEncoder) Load(*gpu.Frame) error { return nil }

func (e *filmEncoder) Encode(o encode.Order) (encode.AccessUnit, error) {
	key := o.Key || e.pictures == 0
	e.pictures++
	size := int(filmBytes * math.Exp2(float64(filmSharpest-o.QP)/filmHalving))
	head := byte(0x41)
	if key {
		size, head = max(filmKey*size, e.least), 0x65
	}
	nal := make([]byte, size)
	nal[0] = head
	return encode.AccessUnit{NALs: [][]byte{nal}, Key: key, QP: o.QP, SizeBytes: size}, nil
}

// Drop drops nothing: every picture is sent.
func (*filmEncoder) Drop() (encode.AccessUnit, error) {
	return encode.AccessUnit{}, encode.ErrNotDroppable
}

func (e *filmEncoder) Close() error { return nil }
