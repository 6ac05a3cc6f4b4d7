package gpu

import (
	"image"
	"testing"
	"testing/synctest"
	"time"
)

// A reader sees when pictures were published and how long each took, with the
// one before the time it asks for, so that a gap can be told.
func TestPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRing()
		rd := r.NewReader()
		r.Configure(image.Pt(2, 2), 8, BGRA, []Memory{{Pix: make([]byte, 16)}, {Pix: make([]byte, 16)}, {Pix: make([]byte, 16)}})
		start := time.Now()
		if list, asking := rd.Published(start); len(list) != 0 || !asking.IsZero() {
			t.Errorf("at the start: %v, %v", list, asking)
		}
		for i := range 600 {
			s, ok := r.Acquire()
			if !ok {
				t.Fatal("no slot")
			}
			captured := time.Now()
			time.Sleep(time.Duration(i%3) * time.Millisecond)
			r.Publish(s, captured, nil, 0)
			time.Sleep(10*time.Millisecond - time.Duration(i%3)*time.Millisecond)
		}
		list, _ := rd.Published(time.Now().Add(-time.Second))
		if len(list) != 101 {
			t.Errorf("in the last second of 100 a second: %d, want those and the one before", len(list))
		}
		for i, p := range list[1:] {
			if gap := p.At.Sub(list[i].At); gap < 8*time.Millisecond || gap > 12*time.Millisecond || p.Grab > 2*time.Millisecond {
				t.Errorf("picture %d: gap %v, grab %v", i, gap, p.Grab)
			}
		}
		if list, _ := rd.Published(start); len(list) != len(r.activity.last) {
			t.Errorf("since the start: %d, want all that are remembered", len(list))
		}
		r.Asking(start)
		if _, asking := rd.Published(start); !asking.Equal(start) {
			t.Errorf("asking since %v", asking)
		}
	})
}
