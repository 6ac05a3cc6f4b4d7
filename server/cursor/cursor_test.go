package cursor

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeSource is a pointer that tests move.
type fakeSource struct {
	mu        sync.Mutex
	at        image.Point
	pic       picture
	looks     int
	listening bool
	err       error
}

func (f *fakeSource) point() (image.Point, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	return f.at, true, f.err
}

func (f *fakeSource) picture() (picture, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pic, f.err
}

func (f *fakeSource) listen(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listening = on
}

func (f *fakeSource) close() {}

func (f *fakeSource) set(at image.Point, pic picture) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.pic = at, pic
}

// looked is how often the position was read since the last call.
func (f *fakeSource) looked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.looks
	f.looks = 0
	return n
}

// dot is a shape of one color.
func dot(argb uint32) picture {
	return picture{size: image.Pt(2, 1), hot: image.Pt(1, 0), argb: []uint32{argb, 0}}
}

func ready(s *Subscription) bool {
	synctest.Wait()
	select {
	case <-s.Ready():
		return true
	default:
		return false
	}
}

func TestLooksAsOftenAsNeeded(t *testing.T) {
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprintf("told %v", told), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src, sig := &fakeSource{pic: dot(0xff000000)}, newSignals()
				sig.told.Store(told)
				tr := start(src, sig)
				defer tr.Close()
				within := func(what string, d time.Duration, low, high int) {
					t.Helper()
					time.Sleep(d)
					synctest.Wait()
					if n := src.looked(); n < low || n > high {
						t.Errorf("%s: %d looks in %v, want %d to %d", what, n, d, low, high)
					}
				}
				within("nobody watches", 10*time.Second, 0, 0)
				s := tr.Subscribe()
				time.Sleep(2 * time.Second)
				src.looked()
				if told {
					within("rest", 2*time.Second, 7, 9)
					time.Sleep(2 * time.Second)
					src.looked()
					within("asleep", 10*time.Second, 9, 11)
					for range 1000 {
						notify(sig.moved)
						time.Sleep(time.Millisecond)
					}
					within("a second of 1000 Hz motion", 0, 240, 255)
				} else {
					within("rest", 2*time.Second, 18, 22)
					time.Sleep(2 * time.Second)
					src.looked()
					within("asleep", 10*time.Second, 38, 42)
					tr.Nudge()
					within("after a nudge", time.Second, 58, 62)
					within("the next second", time.Second, 28, 32)
				}
				s.Close()
				synctest.Wait()
				src.looked()
				within("nobody watches again", 10*time.Second, 0, 0)
			})
		})
	}
}

func TestSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, sig := &fakeSource{at: image.Pt(3, 4), pic: dot(0xff0000ff)}, newSignals()
		sig.told.Store(true)
		tr := start(src, sig)
		defer tr.Close()
		s := tr.Subscribe()
		check := func(what string, wantReady bool, wantX int, wantVisible bool) string {
			t.Helper()
			if got := ready(s); got != wantReady {
				t.Errorf("%s: ready %v, want %v", what, got, wantReady)
			}
			x, _, visible, id := s.Pointer()
			if x != wantX || visible != wantVisible {
				t.Errorf("%s: x %d visible %v, want %d %v", what, x, visible, wantX, wantVisible)
			}
			return id
		}
		first := check("start", true, 3, true)
		time.Sleep(lookTold + spacing)
		check("rest", false, 3, true)
		src.set(image.Pt(9, 4), dot(0xff0000ff))
		notify(sig.moved)
		check("motion", true, 9, true)
		src.set(image.Pt(9, 4), dot(0))
		notify(sig.changed)
		if id := check("hidden", true, 9, false); id == first {
			t.Error("the hidden shape has the id of the first")
		}
		src.set(image.Pt(9, 4), dot(0xff0000ff))
		notify(sig.changed)
		if id := check("shown again", true, 9, true); id != first {
			t.Errorf("the same shape has the ids %s and %s", first, id)
		}
		second := tr.Subscribe()
		if !ready(second) {
			t.Error("a second subscription is not ready at once")
		}
		close(sig.gone)
		check("gone", true, 9, false)
		<-tr.Done()
		if !errors.Is(tr.Err(), ErrGone) {
			t.Errorf("err %v, want ErrGone", tr.Err())
		}
	})
}

func TestShapeHasStraightAlpha(t *testing.T) {
	p := picture{size: image.Pt(3, 1), hot: image.Pt(2, 0), argb: []uint32{0xff102030, 0x80402000, 0x00000000}}
	s, err := p.shape()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(s.PNG))
	if err != nil {
		t.Fatal(err)
	}
	want := []color.NRGBA{{0x10, 0x20, 0x30, 0xff}, {0x80, 0x40, 0, 0x80}, {}}
	for x, w := range want {
		if got := color.NRGBAModel.Convert(img.At(x, 0)); got != w {
			t.Errorf("pixel %d: %v, want %v", x, got, w)
		}
	}
	if s.Size != p.size || s.Hot != p.hot {
		t.Errorf("size %v hot %v, want %v %v", s.Size, s.Hot, p.size, p.hot)
	}
	if _, err := (picture{size: image.Pt(9, 9)}).shape(); err == nil {
		t.Error("a picture without pixels became a shape")
	}
	if s, err := (picture{}).shape(); err != nil || s.Size != image.Pt(1, 1) {
		t.Errorf("no cursor: %v %v", s.Size, err)
	}
}

func TestShapeCacheKeepsTheLast(t *testing.T) {
	c := newShapeCache()
	for i := range maxShapes + 6 {
		c.put(fmt.Sprint(i), Shape{Size: image.Pt(i, i)})
	}
	for i := range maxShapes + 6 {
		if _, ok := c.get(fmt.Sprint(i)); ok != (i >= 6) {
			t.Errorf("shape %d kept: %v", i, ok)
		}
	}
}
