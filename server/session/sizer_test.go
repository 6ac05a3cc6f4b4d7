package session

import (
	"image"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/pacing"
)

// sizes are those that encoders were opened for, in turn.
func (s *stand) sizes() []image.Point {
	var list []image.Point
	for _, e := range s.encoders {
		list = append(list, e.size)
	}
	return list
}

// move shows 30 pictures a second, all of which change.
func (s *stand) move(d time.Duration, size image.Point) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		if slot, ok := s.ring.Acquire(); ok {
			s.ring.Publish(slot, time.Now(), []image.Rectangle{{Max: size}}, 0)
		}
		settle(time.Second / 30)
	}
}

// told are the notices so far.
func (s *stand) told() []Notice {
	var list []Notice
	for {
		select {
		case n := <-s.session.Notices():
			list = append(list, n)
		default:
			return list
		}
	}
}

// videoRate is what pictures took in a time, sent for the first time.
func (p *fakePeer) videoRate(from, to time.Time) rate.Rate {
	sum := 0
	for i, pkt := range p.packets {
		if at := p.times[i]; (pkt.Class == pacing.Video || pkt.Class == pacing.KeyFrame) && !at.Before(from) && at.Before(to) {
			sum += len(pkt.Body) + int(pkt.HeadLen)
		}
	}
	return rate.Of(sum, to.Sub(from))
}

var (
	wideSource = image.Pt(400, 300)
	wideRungs  = []image.Point{{400, 300}, {300, 226}, {200, 150}}
)

// TestPicturesShrinkAndGrow: a path that carries not even the coarsest pictures
// gets smaller ones, each beginning with a key frame; on the still screen after
// that the source's own size comes back by itself. The viewer hears of the source's
// size alone.
func TestPicturesShrinkAndGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 300*rate.Kbps)
		defer s.end(t)
		s.size(wideSource.X, wideSource.Y)
		s.move(10*time.Second, wideSource)
		if got := s.sizes(); !slices.Equal(got, wideRungs) {
			t.Fatalf("encoders were opened for %v, want %v", got, wideRungs)
		}
		if f := s.session.c.Meter.Snapshot(time.Now()); f.Width != 200 || f.SizePercent != 50 || f.SizeReason == "" {
			t.Errorf("the figures say %+v", f)
		}
		settle(20 * time.Second)
		if got := s.sizes()[3:]; !slices.Equal(got, []image.Point{{300, 226}, {400, 300}}) {
			t.Errorf("on the still screen encoders were opened for %v", got)
		}
		for i, e := range s.encoders {
			if last := i == len(s.encoders)-1; e.closed == last || e.loads == 0 {
				t.Errorf("encoder %d of %v was loaded %d times; closed: %v", i, e.size, e.loads, e.closed)
			}
		}
		if told := s.told(); len(told) != 1 || told[0].Size != wideSource {
			t.Errorf("the viewer was told %+v", told)
		}
	})
}

func TestFullSizeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStandWith(t, 300*rate.Kbps, func(c *Config) { c.FullSize = true })
		defer s.end(t)
		s.size(wideSource.X, wideSource.Y)
		s.move(10*time.Second, wideSource)
		if got := s.sizes(); !slices.Equal(got, wideRungs[:1]) {
			t.Errorf("encoders were opened for %v", got)
		}
	})
}

// TestSourceChangesSizeBelowTheTop: the new source is sent at the rung that the
// path was found to need, and the viewer is told of its own size.
func TestSourceChangesSizeBelowTheTop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 300*rate.Kbps)
		defer s.end(t)
		s.size(wideSource.X, wideSource.Y)
		s.move(10*time.Second, wideSource)
		s.size(501, 401)
		s.move(time.Second, image.Pt(501, 401))
		if got := s.sizes()[3:]; !slices.Equal(got, []image.Point{{252, 202}}) {
			t.Errorf("encoders were opened for %v", got)
		}
		if told := s.told(); len(told) != 2 || told[1].Size != image.Pt(501, 401) {
			t.Errorf("the viewer was told %+v", told)
		}
	})
}

// TestHiddenViewerIsLeftAlone: neither sharpening nor growing, both long due,
// wakes the encoder of a viewer who is out of sight; back in sight the picture
// grows at once.
func TestHiddenViewerIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, 300*rate.Kbps)
		defer s.end(t)
		s.size(wideSource.X, wideSource.Y)
		s.move(10*time.Second, wideSource)
		s.session.SetHidden(true)
		settle(time.Hour)
		last := s.encoders[2]
		if n := len(s.encoders); n != 3 || last.closed {
			t.Fatalf("while hidden %d encoders were opened", n-3)
		}
		s.session.SetHidden(false)
		settle(100 * time.Millisecond)
		if got := s.sizes()[3:]; !slices.Equal(got, []image.Point{{300, 226}}) {
			t.Errorf("back in sight encoders were opened for %v", got)
		}
	})
}

// TestTargetIsKept: where even the coarsest pictures are too large they become
// fewer, so that the path gets no more than it carries and its queue stays short;
// and the picture that comes to rest is sharpened soon.
func TestTargetIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStandWith(t, 300*rate.Kbps, func(c *Config) { c.FullSize = true })
		defer s.end(t)
		s.size(wideSource.X, wideSource.Y)
		s.move(2*time.Second, wideSource) // the key frame is paid for
		begin := time.Now()
		s.move(8*time.Second, wideSource)
		end := time.Now()
		settle(time.Second)
		if r := s.peer.videoRate(begin, end); r < 250*rate.Kbps || r > 320*rate.Kbps {
			t.Errorf("%v of video were sent where 300 kbit/s are allowed", r)
		}
		if f := s.session.c.Meter.Snapshot(time.Now()); f.Refined == 0 {
			t.Errorf("a second after the movement: %+v", f)
		}
	})
}

func TestSizerPassesPicturesOfTheSourcesSize(t *testing.T) {
	s := newSizer(Config{})
	if changed, err := s.fit(image.Pt(33, 17)); !changed || err != nil {
		t.Fatalf("the first size: %v, %v", changed, err)
	}
	f := &gpu.Frame{Size: image.Pt(33, 17)}
	if p, err := s.picture(f); p != f || err != nil {
		t.Errorf("it is %v, %v", p, err)
	}
	if changed, err := s.fit(image.Pt(33, 17)); changed || err != nil {
		t.Errorf("the same size again: %v, %v", changed, err)
	}
}
