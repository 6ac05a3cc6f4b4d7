package lab

import (
	"math/rand/v2"
	"time"

	"nearglass/cc/rate"
)

// Content is what a source shows: how large each picture becomes.
type Content interface {
	// frame gives the bytes of the n-th picture, counted from 0 and taken at
	// since from the start of the stream, for an encoder with this target;
	// 0 means that nothing changed and no picture is made.
	frame(n int, since time.Duration, target rate.Rate, r *rand.Rand) int
}

// Steady is a CBR encoder on full motion: pictures of the target's size with a
// little noise, a first one of three times that.
type Steady struct {
	// Most bounds the rate that the content can fill; 0 means none.
	Most rate.Rate
}

// steadyNoise is the relative deviation of a picture's size: the project's
// rate control holds full motion within about that.
const steadyNoise = 0.05

// keyFactor is how much larger than a picture of motion the first one is.
const keyFactor = 3

func (s Steady) frame(n int, _ time.Duration, target rate.Rate, r *rand.Rand) int {
	if s.Most > 0 {
		target = min(target, s.Most)
	}
	size := float64(target.Bytes(frameInterval)) * max(0.5, 1+steadyNoise*r.NormFloat64())
	if n == 0 {
		size *= keyFactor
	}
	return max(1, int(size))
}

// source times the pictures of one stream.
type source struct {
	content  Content
	rand     *rand.Rand
	start    time.Time
	interval time.Duration
	tick     int  // captures so far
	n        int  // pictures so far
	want     bool // a picture that was not encoded yet
	encoding bool
	ready    time.Time // when the encoder is done
	size     int
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
		s.size = s.content.frame(s.n, now.Sub(s.start), target, s.rand)
		if s.size > 0 {
			s.n++
			s.encoding, s.ready = true, now.Add(encodeTime)
		}
	}
	return done
}
