package ratecontrol

import (
	"image"
	"math/rand/v2"
	"testing"
	"time"

	"nearglass/cc/rate"
)

var hd = image.Pt(1280, 720)

const hdPixels = 1280 * 720

// moving is a controller in the middle of a movement that its link carries at
// some middle QP, and the time of the next picture.
func moving(target rate.Rate) (*Controller, time.Time) {
	c, now := New(Config{Target: target}), time.Unix(1000, 0)
	for i := range 120 {
		kind := Motion
		if i == 0 {
			kind = Key
		}
		d := c.Plan(now, Picture{Size: hd, Kind: kind})
		c.Done(now, kind, d.QP, int(filmBytes(d.QP)))
		now = now.Add(time.Second / 60)
	}
	return c, now
}

// filmBytes halves every eight steps, from 80 kB at QP 12.
func filmBytes(qp int) float64 { return 80_000 * scale(steady, qp) / scale(steady, 12) }

// TestRedo: only a picture in motion that is far over its budget, by more than a
// second encoding is worth, is encoded again, and coarser.
func TestRedo(t *testing.T) {
	for name, tt := range map[string]struct {
		kind  Kind
		times float64 // of what it was allowed
		plus  int     // bytes
		want  bool
	}{
		"as allowed":           {Motion, 1, 0, false},
		"half as much more":    {Motion, 1.5, 0, false},
		"three times":          {Motion, 3, 0, true},
		"ten times":            {Motion, 10, 0, true},
		"a key frame":          {Key, 10, 1 << 20, false},
		"a refinement, barely": {Refine, 1.9, 0, false},
		"a large one, barely":  {Motion, 1.9, 0, false},
	} {
		c, now := moving(5 * rate.Mbps)
		c.movement.spare = 0 // no sharper QP is due, which would be held to less
		d := c.Plan(now, Picture{Size: hd, Kind: tt.kind})
		again, ok := c.Redo(d, int(tt.times*float64(d.AllowedBytes))+tt.plus, false)
		if ok != tt.want || ok && (again.QP < d.QP+redoSteps || again.QP > defaultMaxQP) || !ok && again.QP != d.QP {
			t.Errorf("%s: planned %+v, again %+v, %v", name, d, again, ok)
		}
		c.Done(now, tt.kind, again.QP, int(filmBytes(again.QP)))
	}
}

// TestRedoOfRefinement: one that is far over its budget is made of fewer
// macroblocks, as sharp, until a handful is left.
func TestRedoOfRefinement(t *testing.T) {
	c, now := moving(rate.Mbps)
	now = now.Add(5 * time.Second)
	d := c.Plan(now, Picture{Size: hd, Kind: Refine})
	if again, ok := c.Redo(d, d.AllowedBytes*3/2, false); ok {
		t.Errorf("half as much again was too much: %+v", again)
	}
	for left := marked(d.Sharpen); ; {
		again, ok := c.Redo(d, 10*d.AllowedBytes, false)
		if !ok {
			if left > 40 {
				t.Errorf("%d macroblocks were not made fewer", left)
			}
			break
		}
		n := marked(again.Sharpen)
		if again.QP != d.QP || n > left/9 || n == 0 {
			t.Fatalf("of %d macroblocks at QP %d, %d at %d are left", left, d.QP, n, again.QP)
		}
		left, d = n, again
	}
}

func marked(mask []bool) (n int) {
	for _, yes := range mask {
		if yes {
			n++
		}
	}
	return n
}

// part is damage of so many pixels, from the top of a picture.
func part(size image.Point, pixels int) []image.Rectangle {
	rows := pixels / size.X
	return []image.Rectangle{image.Rect(0, 0, size.X, rows), image.Rect(0, rows, pixels-rows*size.X, rows+1)}
}

// TestRedoOfSmallChange: a few bytes too many are sent, whatever the share.
func TestRedoOfSmallChange(t *testing.T) {
	c, now := moving(5 * rate.Mbps)
	now = now.Add(time.Second)
	d := c.Plan(now, Picture{Size: hd, Damage: part(hd, 400), Kind: Motion})
	if _, ok := c.Redo(Decision{QP: d.QP, AllowedBytes: 300}, 9000, false); ok {
		t.Error("9 kB, of which a link of 5 Mbit/s carries 10 in an interval, were dropped")
	}
	if _, ok := c.Redo(d, 60_000, false); !ok {
		t.Error("60 kB for a small change were sent")
	}
}

// TestRedoEnds: asked again and again of a picture that will not get smaller, it
// gives in at the coarsest QP at the latest; and of nothing planned it asks
// nothing.
func TestRedoEnds(t *testing.T) {
	c, now := moving(5 * rate.Mbps)
	d := c.Plan(now, Picture{Size: hd, Kind: Motion})
	for n := 0; ; n++ {
		again, ok := c.Redo(d, 1<<20, false)
		if !ok {
			break
		}
		if again.QP <= d.QP || n > 30 {
			t.Fatalf("after %d times it goes from QP %d to %d", n, d.QP, again.QP)
		}
		d = again
	}
	c.Done(now, Motion, d.QP, 1<<20)
	if _, ok := c.Redo(d, 1<<20, false); ok {
		t.Error("a picture that was sent is to be encoded again")
	}
}

// TestRedoKeepsItsBounds: whatever comes out, the QPs stay on the scale and what
// is learned stays finite.
func TestRedoKeepsItsBounds(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c, now := New(Config{Target: rate.Rate(rng.Int64N(int64(20 * rate.Mbps)))}), time.Unix(1000, 0)
		for range 2000 {
			now = now.Add(time.Duration(rng.Int64N(int64(50 * time.Millisecond))))
			kind := Kind(rng.IntN(3))
			d := c.Plan(now, Picture{Size: hd, Damage: part(hd, rng.IntN(hdPixels)), Kind: kind})
			size := int(rng.ExpFloat64() * 30_000)
			if again, ok := c.Redo(d, size, false); ok {
				d, size = again, int(rng.ExpFloat64()*30_000)
			}
			if d.QP < defaultRefineQP || d.QP > defaultMaxQP || d.PredictedBytes < 0 {
				t.Fatalf("seed %d: %+v", seed, d)
			}
			c.Done(now, kind, d.QP, size)
		}
	}
}

// A picture whose motion was looked for in haste is encoded again as it was ordered, and
// teaches nothing by its size; a small one is sent.
func TestRedoOfAHastyPicture(t *testing.T) {
	interval := 5e6 / 8 / defaultFPS
	for size, want := range map[float64]bool{0.5: false, 1.1: false, 2: true, 20: true} {
		c, now := moving(5 * rate.Mbps)
		c.movement.spare = 0
		d := c.Plan(now, Picture{Size: hd})
		density := c.movement.density
		again, ok := c.Redo(d, int(size*interval), true)
		if ok != want || again.QP != d.QP || c.movement.density != density {
			t.Errorf("%.1f intervals: again %v, at qp %d after %d", size, ok, again.QP, d.QP)
		}
	}
}

// One that would have been sharper than the one before is encoded as coarse as that: no
// second look at it is promised, and what it sends again would come on top.
func TestRedoOfAHastyStep(t *testing.T) {
	c, now := moving(5 * rate.Mbps)
	d := c.Plan(now, Picture{Size: hd})
	d.QP = c.movement.qp - 1
	again, ok := c.Redo(d, 2*5_000_000/8/defaultFPS, true)
	if !ok || again.QP != c.movement.qp || c.movement.fails[d.QP] != 0 {
		t.Errorf("again %v, at QP %d after %d in a movement at %d, %d failures", ok, again.QP, d.QP, c.movement.qp, c.movement.fails[d.QP])
	}
}
