package session

import (
	"context"
	"errors"
	"image"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/pacing"
	"nearglass/telemetry"
)

// fakePeer records what is written. It stands in for a WebRTC connection.
type fakePeer struct {
	packets []pacing.Packet
	times   []time.Time
	flushed int // how many of the packets a Flush has sent
	reports int
	fail    error
	next    uint64
}

func (p *fakePeer) Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error) {
	if p.fail != nil {
		return cc.Sent{}, p.fail
	}
	p.next++
	p.packets = append(p.packets, *pkt)
	p.times = append(p.times, now)
	return cc.Sent{Sequence: p.next, SizeBytes: len(pkt.Body) + int(pkt.HeadLen), At: now}, nil
}

func (p *fakePeer) SenderReport(time.Time) error { p.reports++; return nil }

func (p *fakePeer) Flush() error { p.flushed = len(p.packets); return nil }

func (p *fakePeer) MaxPayload() int { return 1142 }

// media counts the packets that carry a picture and the pictures they belong to.
func (p *fakePeer) media() (packets int, frames map[uint64]bool) {
	frames = map[uint64]bool{}
	for _, pkt := range p.packets {
		if pkt.Class == pacing.Video || pkt.Class == pacing.KeyFrame {
			packets++
			frames[pkt.Frame] = true
		}
	}
	return packets, frames
}

// fakeEncoder makes access units of fixed sizes. It stands in for x264.
type fakeEncoder struct {
	size     image.Point
	orders   []encode.Order
	loads    int
	closed   bool
	keyBytes int
}

func (e *fakeEncoder) Load(f *gpu.Frame) error {
	if f.Size != e.size {
		return errors.New("picture of another size")
	}
	e.loads++
	return nil
}

func (e *fakeEncoder) Encode(o encode.Order) (encode.AccessUnit, error) {
	key := o.Key || len(e.orders) == 0
	e.orders = append(e.orders, o)
	n, head := 2000, byte(0x41)
	if key {
		n, head = e.keyBytes, 0x65
	}
	nal := make([]byte, n)
	nal[0] = head
	return encode.AccessUnit{NALs: [][]byte{nal}, Key: key, QP: o.QP, SizeBytes: n}, nil
}

// Drop drops nothing: every picture is sent.
func (*fakeEncoder) Drop() (encode.AccessUnit, error) {
	return encode.AccessUnit{}, encode.ErrNotDroppable
}

func (e *fakeEncoder) Close() error { e.closed = true; return nil }

// stand is a session with fakes around it and a real ring in front.
type stand struct {
	ring     *gpu.Ring
	peer     *fakePeer
	encoders []*fakeEncoder
	feedback chan cc.Feedback
	session  *Session
	ended    chan error
	cancel   context.CancelFunc
}

func newStand(t *testing.T, target rate.Rate) *stand {
	t.Helper()
	return newStandWith(t, target, func(*Config) {})
}

func newStandWith(t *testing.T, target rate.Rate, change func(*Config)) *stand {
	t.Helper()
	s := &stand{ring: gpu.NewRing(), peer: &fakePeer{}, feedback: make(chan cc.Feedback), ended: make(chan error, 1)}
	c := Config{
		Peer: s.peer, Feedback: s.feedback, Bitrate: target, Pictures: s.ring.NewReader(),
		Encoder: func(size image.Point) (encode.Encoder, error) {
			e := &fakeEncoder{size: size, keyBytes: 20_000}
			s.encoders = append(s.encoders, e)
			return e, nil
		},
		FPS: 60, Meter: telemetry.NewMeter(time.Now()),
	}
	change(&c)
	var err error
	if s.session, err = New(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.cancel = cancel
	go func() { s.ended <- s.session.Run(ctx) }()
	return s
}

// size gives the ring pictures of w by h.
func (s *stand) size(w, h int) {
	mem := make([]gpu.Memory, 3)
	for i := range mem {
		mem[i].Pix = make([]byte, 4*w*h)
	}
	s.ring.Configure(image.Pt(w, h), 4*w, gpu.BGRA, mem)
}

// picture publishes one with all of it changed.
func (s *stand) picture() {
	if slot, ok := s.ring.Acquire(); ok {
		s.ring.Publish(slot, time.Now(), []image.Rectangle{{Max: image.Pt(64, 64)}}, 0)
	}
}

// acknowledge tells the session that all it sent has arrived.
func (s *stand) acknowledge() {
	f := cc.Feedback{At: time.Now()}
	for i, pkt := range s.peer.packets {
		f.Acks = append(f.Acks, cc.Ack{Sequence: uint64(i + 1)})
		f.Received = append(f.Received, pkt.Seq)
	}
	s.feedback <- f
}

// settle lets the session work for d of the bubble's time.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (s *stand) end(t *testing.T) {
	t.Helper()
	s.cancel()
	if err := <-s.ended; err != nil {
		t.Errorf("a cancelled session ended with %v", err)
	}
}

func TestPictureArrivesWholeAndStillnessIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 10*rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		s.picture()
		settle(8 * time.Second) // sharpening and tail guard are over
		packets, frames := s.peer.media()
		if packets < 18 || !frames[1] {
			t.Fatalf("%d packets of frames %v", packets, frames)
		}
		if first := s.peer.packets[0]; first.Class != pacing.KeyFrame || !first.First {
			t.Errorf("the first packet is %+v", first)
		}
		before := len(s.peer.packets)
		settle(10 * time.Minute)
		if n := len(s.peer.packets) - before; n != 0 {
			t.Errorf("a still screen sent %d packets", n)
		}
		if s.peer.reports == 0 {
			t.Error("no sender report")
		}
	})
}

func TestKeyFrameIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		s.picture()
		settle(5 * time.Second)
		spread := s.peer.times[17].Sub(s.peer.times[0])
		if spread < 40*time.Millisecond { // 20 kB at the pace of 2.5 Mbit/s are 64 ms, less the burst
			t.Errorf("20 kB left within %v at 2.5 Mbit/s", spread)
		}
	})
}

func TestOneFrameInIsOneFrameOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 50*rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		for range 60 {
			s.picture()
			settle(time.Second / 60)
		}
		if _, frames := s.peer.media(); len(frames) != 60 {
			t.Errorf("60 pictures came out as %d", len(frames))
		}
	})
}

func TestPictureWaitsWhileThePacerIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		for range 60 {
			s.picture()
			settle(time.Second / 60)
			if q := s.session.c.Meter.Snapshot(time.Now()).QueueMs; q > 250 {
				t.Fatalf("%v ms wait in the pacer", q)
			}
		}
	})
}

func TestKeyFrameRequestsAreSpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 50*rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		s.picture()
		settle(3 * time.Second)
		for range 10 {
			s.feedback <- cc.Feedback{At: time.Now(), KeyFrame: true}
			settle(10 * time.Millisecond)
		}
		if n := s.session.c.Meter.Snapshot(time.Now()).KeyFrames; n != 2 {
			t.Errorf("ten requests within 100 ms gave %d key frames, want the first and one more", n)
		}
	})
}

// asker is an encoder during whose key frames the viewer asks for one: it has not
// seen them yet.
type asker struct {
	fakeEncoder
	ask func()
}

func (e *asker) Encode(o encode.Order) (encode.AccessUnit, error) {
	u, err := e.fakeEncoder.Encode(o)
	if u.Key {
		e.ask()
	}
	return u, err
}

// TestAskedForWhileItIsMade: a key frame also answers the requests that come before it
// is on its way.
func TestAskedForWhileItIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *stand
		s = newStandWith(t, 50*rate.Mbps, func(c *Config) {
			c.Encoder = func(size image.Point) (encode.Encoder, error) {
				return &asker{fakeEncoder{size: size, keyBytes: 20_000}, func() { s.session.requestKey(telemetry.KeyViewer) }}, nil
			}
		})
		defer s.end(t)
		s.size(64, 64)
		s.picture()
		settle(time.Second)
		s.session.requestKey(telemetry.KeyResume)
		settle(time.Second)
		if n := s.session.c.Meter.Snapshot(time.Now()).KeyFrames; n != 2 {
			t.Errorf("%d key frames, want the first and one more", n)
		}
	})
}

// A receiver asks for a key frame when nothing came for 3 s. Each answer would
// bring the next request, and a still screen would never be still.
func TestStillScreenStaysStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 50*rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		s.picture()
		settle(800 * time.Millisecond) // sharpening is over
		s.acknowledge()
		settle(4 * time.Second)
		keys := func() uint64 { return s.session.c.Meter.Snapshot(time.Now()).KeyFrames }
		s.feedback <- cc.Feedback{At: time.Now(), KeyFrame: true}
		settle(100 * time.Millisecond)
		if n := keys(); n != 1 {
			t.Errorf("the request of a quiet receiver gave %d key frames more", n-1)
		}
		s.feedback <- cc.Feedback{At: time.Now(), KeyFrame: true}
		settle(100 * time.Millisecond)
		if n := keys(); n != 2 {
			t.Errorf("a repeated request gave %d key frames more, want one", n-1)
		}
	})
}

// A receiver that misses something is no bored one, and what the cache has
// forgotten only a key frame can replace.
func TestLossBeforeStillnessIsAnswered(t *testing.T) {
	for name, ask := range map[string]func(*stand) cc.Feedback{
		"a request": func(*stand) cc.Feedback { return cc.Feedback{KeyFrame: true} },
		"a NACK":    func(s *stand) cc.Feedback { return cc.Feedback{Nacks: []uint16{s.peer.packets[0].Seq}} },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStand(t, 50*rate.Mbps)
			defer s.end(t)
			s.size(64, 64)
			s.picture()
			settle(4 * time.Second)
			s.feedback <- ask(s)
			settle(100 * time.Millisecond)
			if n := s.session.c.Meter.Snapshot(time.Now()).KeyFrames; n != 2 {
				t.Errorf("%s after a lost picture gave %d key frames more, want one", name, n-1)
			}
		})
	}
}

func TestNackIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 50*rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		s.picture()
		settle(100 * time.Millisecond)
		lost := s.peer.packets[3].Seq
		s.feedback <- cc.Feedback{At: time.Now(), Nacks: []uint16{lost}}
		settle(50 * time.Millisecond)
		if !slices.ContainsFunc(s.peer.packets, func(pkt pacing.Packet) bool { return pkt.Class == pacing.Resend && pkt.Seq == lost }) {
			t.Errorf("packet %d was not resent", lost)
		}
	})
}

func TestNewSizeOpensANewEncoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 50*rate.Mbps)
		defer s.end(t)
		for _, size := range []image.Point{{64, 64}, {128, 96}} {
			s.size(size.X, size.Y)
			s.picture()
			settle(100 * time.Millisecond)
			if n := <-s.session.Notices(); n.Size != size {
				t.Errorf("notice %+v, want size %v", n, size)
			}
		}
		if len(s.encoders) != 2 || !s.encoders[0].closed || s.encoders[1].closed {
			t.Errorf("%d encoders, the first closed: %v", len(s.encoders), s.encoders[0].closed)
		}
	})
}

func TestHiddenViewerCostsNothingAndComesBackWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 50*rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		s.picture()
		settle(3 * time.Second)
		s.session.SetHidden(true)
		before := len(s.encoders[0].orders)
		for range 30 {
			s.picture()
			settle(time.Second / 60)
		}
		if n := len(s.encoders[0].orders) - before; n != 0 {
			t.Errorf("%d pictures encoded for a hidden viewer", n)
		}
		s.session.SetHidden(false)
		settle(100 * time.Millisecond)
		orders := s.encoders[0].orders[before:]
		if len(orders) == 0 || !orders[0].Key {
			t.Errorf("back in sight: %+v", orders)
		}
	})
}

func TestEndsCarryTheirReason(t *testing.T) {
	closed := errors.New("the window was closed")
	for name, c := range map[string]struct {
		do   func(*stand)
		want error
	}{
		"source":    {func(s *stand) { s.ring.Close(closed) }, closed},
		"hidden":    {func(s *stand) { s.session.SetHidden(true); synctest.Wait(); s.ring.Close(closed) }, closed},
		"peer":      {func(s *stand) { close(s.feedback) }, errPeerGone},
		"plain end": {func(s *stand) { s.ring.Close(nil) }, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, 50*rate.Mbps)
				s.size(64, 64)
				synctest.Wait()
				c.do(s)
				settle(time.Second)
				err := <-s.ended
				if !errors.Is(err, c.want) && !(errors.Is(c.want, io.EOF) && err != nil) {
					t.Errorf("ended with %v, want %v", err, c.want)
				}
				s.cancel()
			})
		})
	}
}

func TestPausedSourceIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 50*rate.Mbps)
		defer s.end(t)
		s.ring.SetState(gpu.State{Paused: true, Reason: "the window is minimised"})
		settle(10 * time.Millisecond)
		if n := <-s.session.Notices(); !n.Paused || n.Reason != "the window is minimised" {
			t.Errorf("notice %+v", n)
		}
	})
}

func TestNetworkThatIsDownForAMomentEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 50*rate.Mbps)
		defer s.end(t)
		s.size(64, 64)
		s.peer.fail = errors.New("the network is unreachable")
		s.picture()
		settle(100 * time.Millisecond)
		s.peer.fail = nil
		s.picture()
		settle(100 * time.Millisecond)
		if n, _ := s.peer.media(); n == 0 {
			t.Error("nothing was sent when the network was back")
		}
	})
}
