package pacing

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// On a narrow path the repeated packets take little of it, however often
// pictures end.
func TestTailGuardKeepsToItsShare(t *testing.T) {
	const narrow = 400 * rate.Kbps
	p := New(Config{Pace: 4 * narrow})
	p.SetBottleneck(start, Bottleneck{Rate: narrow, Depth: time.Second})
	bytes, repeats := 0, 0
	const pictures, every = 300, 33 * time.Millisecond
	for n := range pictures {
		at := start.Add(time.Duration(n) * every)
		enqueue(p, at, frame(uint64(n+1), Video, 1, 1200))
		for _, s := range walk(t, p, at, at.Add(every-1)) {
			if s.Class == Resend {
				bytes += s.sizeBytes()
				repeats++
			}
		}
	}
	if limit := narrow.Scale(guardShare).Bytes(pictures*every+guardSaved) + 1300; bytes > limit || repeats == 0 {
		t.Errorf("%d repeated packets of %d bytes, want some, of %d bytes at most", repeats, bytes, limit)
	}
}
