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
	"image"
	"log/slog"
	"math/rand/v2"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/pacing"
	"nearglass/pacing/packetize"
	"nearglass/telemetry"
)

// peer is what a session needs of its transport.
type peer interface {
	// Write sends a packet at once and says how it went out.
	Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error)
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

// Config is what a session works with. All fields but Log are needed.
type Config struct {
	Peer     peer
	Feedback <-chan cc.Feedback // what the receiver reports
	Bitrate  rate.Rate          // what the stream may use, above zero
	Pictures *gpu.Reader        // closed by the session
	// Encoder opens an encoder for pictures of one size; it is asked again
	// when the size changes.
	Encoder func(size image.Point) (encode.Encoder, error)
	FPS     int // most pictures a second, for the rate control
	// MaxPayloadBytes is the most RTP payload that a packet of this path holds.
	MaxPayloadBytes int
	Meter           *telemetry.Meter
	Log             *slog.Logger // nil discards
}

// Notice tells the host what the viewer should know.
type Notice struct {
	Size   image.Point // of the pictures from now on; zero: unchanged
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

	interval time.Duration // least time between two pictures
	rtt      time.Duration // 0 while unknown
	keyAt    time.Time     // when a viewer last got the key frame it asked for
	reportAt time.Time     // when the last sender report went out
	mute     bool          // the last packet could not be sent
	sentAt   time.Time     // when the last packet left
	excused  bool          // one key-frame request since then was let pass
	payloads []packetize.Payload
}

// New prepares a session; Run streams. It fails for a bitrate that is not above
// zero.
func New(c Config) (*Session, error) {
	control, err := cc.NewConstant(cc.ConstantConfig{Target: c.Bitrate})
	if err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.FPS <= 0 {
		c.FPS = 60
	}
	s := &Session{
		c:        c,
		control:  control,
		pacer:    pacing.New(pacing.Config{FirstSeq: uint16(rand.Uint32())}),
		notices:  make(chan Notice, 16),
		interval: time.Second / time.Duration(c.FPS),
	}
	s.video = newVideo(c, s.notices)
	return s, nil
}

// Notices carries changes of size and of state. It has room for a few; a
// reader that lags loses the oldest.
func (s *Session) Notices() <-chan Notice { return s.notices }

// RequestKey asks for a key frame, as a viewer that lost its picture does. Safe
// from any goroutine.
func (s *Session) RequestKey() { s.video.orders.change(func(o *order) { o.key = true }) }

// SetHidden tells whether the viewer is out of sight: then nothing is encoded,
// and when it is back the newest picture comes as a key frame. Safe from any
// goroutine.
func (s *Session) SetHidden(hidden bool) {
	s.video.orders.change(func(o *order) {
		o.key = o.key || (o.hidden && !hidden)
		o.hidden = hidden
	})
}

// Run streams until the context ends, which returns nil, or until the source
// ends, which returns why.
func (s *Session) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.video.run(ctx) }()
	err := s.loop(ctx, ended)
	cancel()
	if err == nil {
		err = <-ended
	}
	return err
}
