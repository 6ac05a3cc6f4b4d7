// Package session runs one viewer's stream: it takes pictures from a ring,
// has them encoded, and sends the packets when they are due.
//
// Two goroutines work on it. The loop (loop.go) owns the pacer, the controller
// and the transport; it never encodes, because a picture takes longer than the
// pacer may wait. The video goroutine (video.go) owns the ring's reader, the
// encoder and the rate control. They exchange small values: an order one way,
// an encoded picture the other. control.go is the one place where the
// controller's estimate becomes the encoder's target and the pacer's rate.
package session

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
	"nearglass/pacing"
	"nearglass/pacing/packetize"
	"nearglass/telemetry"
)

// peer is what a session needs of its transport.
type peer interface {
	// Write takes a packet that leaves with the next Flush at the latest, and
	// says how it went out.
	Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error)
	// Flush sends what is still collected; it is due after each turn of writing.
	Flush() error
	// MaxPayload is the most RTP payload, in bytes, that a packet of the path at
	// hand holds.
	MaxPayload() int
	// SenderReport tells the receiver how RTP and wall clock belong together.
	SenderReport(now time.Time) error
}

// controller decides the rates.
type controller interface {
	OnSent(now time.Time, s cc.Sent)
	OnFeedback(now time.Time, acks []cc.Ack) cc.Update
	OnTick(now time.Time) cc.Update
	Deadline() time.Time
}

// follower is a controller that learns something of the route.
type follower interface {
	Memory(now time.Time) cc.Memory
	RouteChanged(now time.Time, m cc.Memory, relayed bool) cc.Update
}

// Route is what is known of a route before packets take it.
type Route struct {
	Memory  Memory // of earlier streams over it; the zero value is none
	Relayed bool   // a relay passes the packets on
}

// Memory is what a controller knew of a route, for the next stream over it.
type Memory = cc.Memory

// Config is what a session works with. The fields without a meaning for zero are
// needed.
type Config struct {
	Peer     peer
	Feedback <-chan cc.Feedback // what the receiver reports
	// Bitrate fixes what the stream may use. Zero: it follows the path.
	Bitrate rate.Rate
	// MaxBitrate bounds a stream that follows the path. Zero: cc's own bound.
	MaxBitrate rate.Rate
	// Recall tells what is known of the route; it is asked when Run begins. Nil:
	// nothing is.
	Recall func() Route
	NoRTX  bool // the viewer takes no packet twice
	// Repair leaves ways to repair losses out, for measuring. Empty: RepairAuto.
	Repair Repair
	// Gaps says that the viewer takes from the packets what a picture depends on,
	// so that pictures that nothing depends on may be missing. Encoders then keep
	// encode.MostReferences.
	Gaps     bool
	Pictures *gpu.Reader // closed by the session
	// Encoder opens an encoder for pictures of one size; it is asked again
	// when the size changes.
	Encoder func(size image.Point) (encode.Encoder, error)
	FPS     int // most pictures a second, for the rate control; 0 means 60
	// QP is the sharpest of pictures in motion; 0 leaves it to ratecontrol.
	QP int
	// MaxAverage bounds the average of the video over the whole stream; 0: nothing
	// does.
	MaxAverage rate.Rate
	// ByEncoder leaves the size of the pictures to the encoder, which then is one that holds
	// a rate by itself (encode.Config.Control).
	ByEncoder bool
	// RedoEvery has one picture in so many dropped and encoded again although it was
	// not too large, to try what viewers make of that. 0: none.
	RedoEvery int
	// FullSize sends no smaller pictures when the path carries even the coarsest
	// no more.
	FullSize bool
	// Alarm opens what wakes the loop. Nil: Go's timer, which can be a millisecond
	// late.
	Alarm func() (Alarm, error)
	Meter *telemetry.Meter
	Log   *slog.Logger // nil discards
}

// Notice tells the host what the viewer should know.
type Notice struct {
	Size   image.Point // of the source's pictures from now on, however small they are sent; zero: unchanged
	Paused bool
	Reason string // why it is paused
}

// Session streams to one viewer.
type Session struct {
	c       Config
	control controller
	video   *video
	pacer   *pacing.Pacer
	notices chan Notice
	reroute chan Route // the newest that the loop has not taken yet

	interval time.Duration // least time between two pictures
	rtt      time.Duration // 0 while unknown
	keyAt    time.Time     // when a key frame was last asked for or enqueued
	keyDue   bool          // one was asked for and is not enqueued yet
	keyBytes int           // size of the one that was enqueued last
	reportAt time.Time     // when the last sender report went out
	mute     bool          // the last packet could not be sent
	sentAt   time.Time     // when the last packet left
	excused  bool          // one key-frame request since then was let pass
	state    string        // the controller's, as it was logged last
	due      time.Time     // when the alarm is to go off; zero: not at all
	deaf     bool          // it could not be set once
	newest   uint64        // number of the picture that was enqueued last
	mender   mender
	confirms chan []uint32 // RTP timestamps of pictures that the viewer shows
	resumes  chan struct{}
	outcomes outcomes
	pathSize pacing.PathSize
	relayed  bool         // a relay passes the packets on
	heardAt  time.Time    // when a report of packets came last
	pulseAt  time.Time    // when a small packet was last sent for want of one
	most     atomic.Int32 // what Largest answers; 0: what the peer says
	memory   atomic.Pointer[Memory]
	payloads []packetize.Payload
}

// New prepares a session; Run streams. It fails for a bitrate below zero.
func New(c Config) (*Session, error) {
	if c.Bitrate < 0 || c.MaxBitrate < 0 || c.MaxAverage < 0 {
		return nil, fmt.Errorf("a stream of %s, at most %s and %s on the average: a rate is not below zero", c.Bitrate, c.MaxBitrate, c.MaxAverage)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.FPS <= 0 {
		c.FPS = 60
	}
	s := &Session{
		c:        c,
		pacer:    pacing.New(pacing.Config{FirstSeq: uint16(rand.Uint32()), NoRTX: !c.resends(), Echo: c.auto() && c.Bitrate == 0}),
		notices:  make(chan Notice, 16),
		reroute:  make(chan Route, 1),
		confirms: make(chan []uint32, confirmQueue),
		resumes:  make(chan struct{}, 1),
		interval: time.Second / time.Duration(c.FPS),
	}
	s.startMending()
	s.video = newVideo(c, s.notices)
	return s, nil
}

// Notices carries changes of size and of state. It has room for a few; a
// reader that lags loses the oldest.
func (s *Session) Notices() <-chan Notice { return s.notices }

// Resume makes up for what was lost while the viewer's connection was restarted: by
// reference where the viewer takes those from the packets, for it still has what it
// had, and else with a key frame. Safe from any goroutine.
func (s *Session) Resume() {
	select {
	case s.resumes <- struct{}{}:
	default: // the loop has yet to come to the one before
	}
}

func (s *Session) requestKey(why string) {
	s.video.orders.change(func(o *order) { o.key, o.why = true, why })
}

// SetHidden tells whether the viewer is out of sight: then nothing is encoded,
// and when it is back the newest picture comes as a key frame. Safe from any
// goroutine.
func (s *Session) SetHidden(hidden bool) {
	s.video.orders.change(func(o *order) {
		if o.hidden && !hidden {
			o.key, o.why = true, telemetry.KeyResume
		}
		o.hidden = hidden
	})
}

// FirstWith gives once the RTP timestamp of the first picture that was captured
// after the input of this number was applied, which is gpu.Frame.Mark. Only the
// newest question is answered. Safe from any goroutine.
func (s *Session) FirstWith(mark uint64) <-chan uint32 { return s.video.marks.await(mark) }

// RouteChanged tells that the packets take another route from now on. Safe from
// any goroutine. With a fixed bitrate it has no effect.
func (s *Session) RouteChanged(r Route) {
	for {
		select {
		case s.reroute <- r:
			return
		default:
		}
		select {
		case <-s.reroute:
		default:
		}
	}
}

// newController chooses who decides the rates.
func (s *Session) newController() (controller, error) {
	if s.c.Bitrate > 0 {
		return cc.NewConstant(cc.ConstantConfig{Target: s.c.Bitrate})
	}
	c := cc.Config{Max: s.mostTarget(), FrameInterval: s.interval}
	if s.c.Recall != nil {
		route := s.c.Recall()
		c.Memory, c.Relayed = route.Memory, route.Relayed
		s.relayed = route.Relayed
	}
	return cc.New(c), nil
}

// mostTarget bounds what is looked for of the path: what a bound on the average would
// never let be used need not be found. 0: cc's own bound.
func (s *Session) mostTarget() rate.Rate {
	peak := ratecontrol.Peak(s.c.MaxAverage)
	if peak == 0 || s.c.MaxBitrate > 0 && s.c.MaxBitrate < peak {
		return s.c.MaxBitrate
	}
	return peak
}

// Memory is what the stream has learned of its route by the last report; the zero
// value when it has learned nothing. Safe from any goroutine, also after Run.
func (s *Session) Memory() Memory {
	if m := s.memory.Load(); m != nil {
		return *m
	}
	return Memory{}
}

// Run streams until the context ends, which returns nil, or until the source
// ends, which returns why. It is called once.
func (s *Session) Run(ctx context.Context) error {
	var err error
	if s.control, err = s.newController(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.video.run(ctx) }()
	err = s.loop(ctx, ended)
	cancel()
	if err == nil {
		err = <-ended
	}
	return err
}
