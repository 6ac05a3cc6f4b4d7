package capture

import (
	"context"
	"image"
	"math/rand/v2"
	"testing"
	"time"

	"nearglass/gpu"
)

func TestPatchReadsBack(t *testing.T) {
	const stride = 4 * 200
	pix := make([]byte, stride*100)
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		want := random.Uint32()
		DrawPatch(pix, stride, want)
		blur(random, pix)
		if got, ok := ReadPatch(pix, stride); !ok || got != want {
			t.Fatalf("read %d %v, want %d", got, ok, want)
		}
	}
}

// blur adds the errors of a coarse encoder.
func blur(random *rand.Rand, pix []byte) {
	for i := range pix {
		pix[i] = byte(min(max(int(pix[i])+random.IntN(120)-60, 0), 255))
	}
}

func TestPatchRefusesWhatIsNone(t *testing.T) {
	const stride = 4 * 128
	black, white, noise := make([]byte, stride*80), make([]byte, stride*80), make([]byte, stride*80)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range white {
		white[i], noise[i] = 0xff, byte(random.Uint32())
	}
	for name, pix := range map[string][]byte{"black": black, "white": white, "noise": noise, "too short": white[:100], "empty": nil} {
		if n, ok := ReadPatch(pix, stride); ok {
			t.Errorf("%s reads as %d", name, n)
		}
	}
	DrawPatch(black, stride, 12345)
	for i := 4 * 16 * 3; i < 4*16*4; i++ { // one square turned white
		for y := range 16 {
			black[y*stride+i] = 0xff
		}
	}
	if n, ok := ReadPatch(black, stride); ok {
		t.Errorf("a patch with a wrong square reads as %d", n)
	}
}

func TestPatchScaled(t *testing.T) {
	const big, small = 4 * 128, 4 * 64
	pix, half := make([]byte, big*80), make([]byte, small*40)
	DrawPatch(pix, big, 0xdeadbeef)
	for y := range 40 {
		for x := range 64 {
			copy(half[y*small+4*x:y*small+4*x+4], pix[2*y*big+8*x:])
		}
	}
	if n, ok := ReadPatchScaled(half, small, 0.5); !ok || n != 0xdeadbeef {
		t.Errorf("read %x %v", n, ok)
	}
}

func TestPatternCounts(t *testing.T) {
	for id, still := range map[string]bool{"pattern": false, "pattern:still": true} {
		v := watch(t, NewPattern(), id, Options{Size: image.Pt(320, 240), FPS: 200})
		last, seen := uint32(0), 0
		eventually(t, "three numbers came", func() bool {
			if !v.take() {
				return false
			}
			n, ok := ReadPatch(v.pix, 4*v.size.X)
			if !ok || n <= last {
				t.Fatalf("%s: read %d %v after %d", id, n, ok, last)
			}
			if still && last > 0 && (len(v.last) != 1 || v.last[0] != PatchBounds) {
				t.Errorf("damage %v, want the patch alone", v.last)
			}
			last = n
			seen++
			return seen == 3
		})
	}
}

// The picture of the clock mode tells when it was captured.
func TestPatternTellsTheTime(t *testing.T) {
	before := time.Now()
	v := watch(t, NewPattern(), "pattern:clock", Options{Size: image.Pt(320, 240), FPS: 100})
	eventually(t, "a picture came", v.take)
	n, ok := ReadPatch(v.pix, 4*v.size.X)
	since := time.Duration(n-uint32(before.UnixNano()/int64(clockStep))) * clockStep
	if !ok || since > time.Since(before) {
		t.Errorf("read %d, %v, which is %v after the begin", n, ok, since)
	}
}

func TestPatternErrors(t *testing.T) {
	_, err := NewPattern().Open(context.Background(), "desktop", Options{})
	wantError(t, err, ErrNotFound)
	if _, err := NewPattern().Open(context.Background(), "pattern", Options{Size: image.Pt(100, 100)}); err == nil {
		t.Error("a pattern smaller than its patch was opened")
	}
}

// TestNothingIsPaintedForNobody checks that the sources of our own rest while
// nobody reads, and go on when somebody does.
func TestNothingIsPaintedForNobody(t *testing.T) {
	for _, b := range []Backend{NewPattern(), NewDemo()} {
		v := watch(t, b, b.Name(), Options{FPS: 100})
		eventually(t, "a picture came", v.take)
		v.reader.Close()
		time.Sleep(50 * time.Millisecond)
		number := func() uint64 {
			rd := v.ring.NewReader()
			f, err := rd.Take()
			rd.Close()
			if err != nil || f == nil {
				t.Fatal(err)
			}
			defer f.Release()
			return f.Number
		}
		first := number()
		time.Sleep(150 * time.Millisecond)
		if n := number() - first; n > 1 {
			t.Errorf("%s: %d pictures for nobody", b.Name(), n)
		}
		v.reader = v.ring.NewReader()
		v.take()
		eventually(t, "pictures go on", v.take)
	}
}

func BenchmarkPattern720p(b *testing.B) {
	s := &gpu.Slot{Pix: make([]byte, 4*1280*720), Size: defaultSize, Stride: 4 * 1280}
	ramp := newRamp(1280)
	for b.Loop() {
		drawPattern(s, ramp, 7, image.Rectangle{Max: s.Size})
	}
}
