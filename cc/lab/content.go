package lab

import (
	"math/rand/v2"
	"time"

	"nearglass/cc/rate"
)

// Content is what a source shows: how large each picture becomes.
type Content interface {
	// frame gives the bytes of a picture taken at now, from the start of the
	// stream, by an encoder with this target that looked last at last; 0
	// means that nothing changed between and no picture is made.
	frame(last, now time.Duration, target rate.Rate, r *rand.Rand) int
	// share gives how much of the target the content fills on average
	// between two times.
	share(from, to time.Duration) float64
	// moves says when full motion begins.
	moves() time.Duration
}

// keyFactor is how much larger than a picture of motion the first one is.
const keyFactor = 3

// steadyNoise is the relative deviation of a picture's size: the project's
// rate control holds full motion within about that.
const steadyNoise = 0.05

// Steady is a CBR encoder on full motion: pictures of the target's size with a
// little noise.
type Steady struct {
	// Most bounds the rate that the content can fill; 0 means none.
	Most rate.Rate
}

func (s Steady) frame(_, _ time.Duration, target rate.Rate, r *rand.Rand) int {
	if s.Most > 0 {
		target = min(target, s.Most)
	}
	size := float64(target.Bytes(frameInterval)) * max(0.5, 1+steadyNoise*r.NormFloat64())
	return max(1, int(size))
}

func (Steady) share(time.Duration, time.Duration) float64 { return 1 }

func (Steady) moves() time.Duration { return 0 }

// Act is a part of a play.
type Act struct {
	From    time.Duration
	Content Content // nil: nothing changes
}

// Play is content that changes: the last act that has begun is shown, each
// from its own start.
type Play []Act

// frame gives the largest picture of all acts since the last look: a change
// that was passed over is still in the next picture.
func (p Play) frame(last, now time.Duration, target rate.Rate, r *rand.Rand) int {
	size := 0
	for i, a := range p {
		end := now
		if i+1 < len(p) {
			end = min(end, p[i+1].From-1)
		}
		if a.Content != nil && a.From <= end && end > last {
			size = max(size, a.Content.frame(last-a.From, end-a.From, target, r))
		}
	}
	return size
}

// at gives the act at a time and when it ends.
func (p Play) at(t time.Duration) (a Act, end time.Duration) {
	for _, next := range p {
		if next.From > t {
			return a, next.From
		}
		a = next
	}
	return a, 1 << 62
}

func (p Play) share(from, to time.Duration) float64 {
	if to <= from {
		return 0
	}
	sum := 0.0
	for t := from; t < to; {
		a, end := p.at(t)
		end = min(end, to)
		if a.Content != nil {
			sum += a.Content.share(t-a.From, end-a.From) * float64(end-t)
		}
		t = end
	}
	return sum / float64(to-from)
}

func (p Play) moves() time.Duration {
	for _, a := range p {
		if a.Content != nil && a.Content.moves() == 0 {
			return a.From
		}
	}
	return never
}
