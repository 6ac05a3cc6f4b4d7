package lab

import (
	"math/rand/v2"
	"time"

	"nearglass/cc/rate"
)

// source times the pictures of one stream: it stands for capture and encoder.
// A picture is taken every 60th of a second. While the pacer is full none is
// encoded, and the newest is taken later.
type source struct {
	content  Content
	rand     *rand.Rand
	begin    time.Time // of the stream, from which its content counts
	start    time.Time // of the first capture
	tick     int       // captures so far
	n        int       // pictures so far
	want     bool      // a capture that was not encoded yet
	encoding bool
	ready    time.Time // when the encoder is done
	size     int
	looked   time.Duration // when the content was last looked at, from begin
}

func (s *source) nextCapture() time.Time {
	return s.start.Add(time.Duration(s.tick) * time.Second / 60)
}

// next returns when the source has something to do.
func (s *source) next() time.Time {
	at := s.nextCapture()
	if s.encoding && s.ready.Before(at) {
		return s.ready
	}
	return at
}

// step advances to now. room says whether the pacer has room for a picture. It
// returns the size of a picture that is done, or 0.
func (s *source) step(now time.Time, target rate.Rate, room bool) int {
	for !s.nextCapture().After(now) {
		s.tick++
		s.want = true
	}
	done := 0
	if s.encoding && !now.Before(s.ready) {
		s.encoding, done = false, s.size
	}
	if s.want && !s.encoding && room {
		s.want = false
		s.encode(now, target)
	}
	return done
}

// encode begins a picture, if the content has changed.
func (s *source) encode(now time.Time, target rate.Rate) {
	since := now.Sub(s.begin)
	size := s.content.frame(s.looked, since, target, s.rand)
	s.looked = since
	if size <= 0 {
		return
	}
	if s.n == 0 {
		size = max(size, target.Bytes(keyFactor*frameInterval))
	}
	s.n++
	s.size, s.encoding, s.ready = size, true, now.Add(encodeTime)
}
