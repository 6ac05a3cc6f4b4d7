package ratecontrol

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// TestChoice: at most as many as were asked for, none that changed a moment ago,
// none that is sharp enough, and nothing coarser is left out for what is chosen.
func TestChoice(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var s sharpness
		s.fit(epoch, image.Pt(1+rng.IntN(400), 1+rng.IntN(300)))
		for i := range s.blocks {
			s.note(i, 20+rng.IntN(6))
			s.blocks[i].changed = time.Duration(rng.IntN(5)) * time.Second
		}
		since, qp, most := epoch.Add(time.Duration(rng.IntN(6)-1)*time.Second), 18+rng.IntN(9), rng.IntN(len(s.blocks)+2)
		mask := s.choose(since, qp, most)
		n, coarsestLeft, sharpest := 0, 0, endOfScale
		for i, b := range s.blocks {
			may := b.changed <= since.Sub(epoch) && int(b.qp) > qp
			switch {
			case mask[i] && !may:
				t.Fatalf("seed %d: macroblock %+v was chosen to be at %d, unchanged since %v", seed, b, qp, since)
			case mask[i]:
				n, sharpest = n+1, min(sharpest, int(b.qp))
			case may:
				coarsestLeft = max(coarsestLeft, int(b.qp))
			}
		}
		l := s.still(since)
		if want := min(most, l.coarser(qp)); n != want || n > 0 && coarsestLeft > sharpest {
			t.Fatalf("seed %d: %d of %d chosen, the sharpest at %d, while one at %d is left", seed, n, want, sharpest, coarsestLeft)
		}
	}
}

// TestLevelsAreCounted: the counts are those of the macroblocks, after anything.
func TestLevelsAreCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	c, now := New(Config{Target: 3 * rate.Mbps}), epoch
	for n := range 2000 {
		now = now.Add(time.Duration(rng.IntN(60)) * time.Millisecond)
		kind := Kind(rng.IntN(3))
		d := c.Plan(now, Picture{Size: hd, Damage: wild(rng), Kind: kind, Missing: rng.IntN(4)})
		if again, ok := c.Redo(d, rng.IntN(1e5), false); ok {
			d = again
		}
		c.Done(now, kind, d.QP, rng.IntN(1e5))
		var want levels
		for _, b := range c.sharp.blocks {
			want[b.qp]++
		}
		if c.sharp.levels != want {
			t.Fatalf("after %d pictures: %v, want %v", n, c.sharp.levels, want)
		}
	}
}

// TestRestGetsSharpBesideAMovement: while a film plays on a page that was just
// opened, the page becomes sharp within two seconds, nothing of the film is
// encoded twice, and no picture holds the link for longer than two intervals.
func TestRestGetsSharpBesideAMovement(t *testing.T) {
	const target = 5 * rate.Mbps
	filmRows := 40 // of macroblocks, more than half of the picture
	damage := []image.Rectangle{image.Rect(0, 0, 1920, filmRows*mbSide)}
	s := newScreen(target)
	s.encode(Key, 0, newText)
	s.now = s.now.Add(3 * time.Second)
	s.encode(Motion, fullHD, newText)
	begin, sharp := s.now, time.Duration(0)
	for s.now.Sub(begin) < 3*time.Second {
		d := s.c.Plan(s.now, Picture{Size: fullHDSize, Damage: damage, Kind: Motion})
		s.c.Done(s.now, Motion, d.QP, int(s.film(d.QP, filmRows)))
		end := s.now.Add(frame)
		for {
			at, ok := s.c.NextRefine(s.now)
			if !ok || !at.Before(end) {
				break
			}
			s.now = at
			d, size := s.encode(Refine, 0, newText)
			if slices.Contains(d.Sharpen[:min(len(d.Sharpen), filmRows*120)], true) {
				t.Fatalf("after %v the film is refined", s.now.Sub(begin))
			}
			if float64(size) > 2*bytesIn(target, frame) {
				t.Errorf("after %v a refinement takes %d bytes", s.now.Sub(begin), size)
			}
		}
		if rest := slices.Max(s.qps[filmRows*120:]); sharp == 0 && rest <= 20 {
			sharp = s.now.Sub(begin)
		}
		s.now = end
	}
	t.Logf("the page is sharp after %v, the film is at %d", sharp, s.c.movement.qp)
	if sharp == 0 || sharp > 2*time.Second || s.c.movement.qp > 40 {
		t.Errorf("the page is sharp after %v, the film is at %d", sharp, s.c.movement.qp)
	}
}

// film is what a calm film over so many rows of macroblocks takes.
func (s *screen) film(qp, rows int) float64 {
	return textScroll.bytesPerPixel * float64(rows*120*mbPixels) * scale(steady, qp) * (0.9 + 0.2*s.rng.Float64())
}
