package encodelab

import (
	"image"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/encode/ratecontrol"
	"nearglass/pacing/packetize"
)

// frameTime is the interval between two pictures of a screen.
const frameTime = time.Second / FPS

// mostQueued is how much may wait for the link before a picture is held back
// and merged with the next, as in a session.
const mostQueued = 3 * frameTime

// Sent is one unit as it went over the link. Times are virtual.
type Sent struct {
	Picture           int // number of the picture that it shows
	Kind              ratecontrol.Kind
	QP                int
	SizeBytes         int
	AllowedBytes      int
	Captured, Arrived time.Duration
	// Encode is what conversion and encoding took, CPU what they and the cutting
	// into packets took of all processors.
	Encode, CPU time.Duration

	// Redone is true when it took the place of one that was too large.
	Redone bool

	placeholder, nals [][]byte
}

// session is one peer's stream: an encoder that is busy with one picture at a
// time, and a link.
type session struct {
	encoder encoder
	wire    wire
	cpu     func() time.Duration
	takes   time.Duration // as Options.Takes

	damage  gpu.Region // of what was captured and not encoded
	waiting bool
	busy    time.Duration // until then the encoder is
	shown   int           // picture that was encoded last
	sent    []Sent
	skipped int // captured and never sent, after the warm-up

	payloads []packetize.Payload
}

// picture is one state of the screen on its way to the sessions.
type picture struct {
	canvas *canvas
	number int
	damage []image.Rectangle
}

func (p picture) captured() time.Duration { return time.Duration(p.number) * frameTime }

// step brings a session to the time of the next picture.
func (s *session) step(p picture) error {
	now, end := p.captured(), p.captured()+frameTime
	if len(p.damage) > 0 {
		if s.waiting && now >= warmUp {
			s.skipped++
		}
		s.damage.AddAll(p.damage, p.canvas.bounds())
		s.waiting = true
	}
	if s.waiting {
		start := max(now, s.busy, s.wire.free-mostQueued)
		if start >= end {
			return nil
		}
		if err := s.fresh(start, p); err != nil {
			return err
		}
	}
	return s.sharpen(now, end)
}

// fresh encodes the newest picture.
func (s *session) fresh(start time.Duration, p picture) error {
	f := &gpu.Frame{
		Number: uint64(p.number) + 1, Size: p.canvas.size, Stride: p.canvas.stride, Format: gpu.BGRA, Pix: p.canvas.pix,
		Damage: append([]image.Rectangle{}, s.damage.Rects()...),
	}
	s.damage.Reset()
	s.waiting, s.shown = false, p.number
	return s.encode(start, f, p.captured())
}

// sharpen encodes the last picture again while there is time and reason to.
func (s *session) sharpen(now, end time.Duration) error {
	for {
		at, ok := s.encoder.again(max(now, s.busy))
		if at = max(at, s.busy); !ok || at >= end {
			return nil
		}
		if err := s.encode(at, nil, at); err != nil {
			return err
		}
	}
}

// encode makes one unit and sends it. A process that waits for a processor says
// nothing about an encoder, so the time it took is that by the clock, but no
// more than the processors' time that it used.
func (s *session) encode(start time.Duration, f *gpu.Frame, captured time.Duration) error {
	wall, cpu := time.Now(), s.cpu()
	u, err := s.encoder.encode(start, f)
	took := min(time.Since(wall), s.cpu()-cpu)
	if err != nil {
		return err
	}
	if s.takes > 0 {
		took = s.takes
	}
	if u.nals == nil {
		s.busy = start
		return nil
	}
	s.busy = start + took
	s.payloads = packetize.H264(s.payloads[:0], u.nals, payloadBytes)
	s.sent = append(s.sent, Sent{
		Picture: s.shown, Kind: u.kind, QP: u.qp, SizeBytes: u.sizeBytes, AllowedBytes: u.allowed,
		Captured: captured, Arrived: s.wire.send(s.busy, u.sizeBytes), Encode: took, CPU: s.cpu() - cpu,
		Redone: u.placeholder != nil, placeholder: u.placeholder, nals: u.nals,
	})
	return nil
}
