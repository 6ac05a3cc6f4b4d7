package session

import (
	"image"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc/rate"
)

func TestFirstPictureWithAMark(t *testing.T) {
	const none = uint32(0)
	for name, tt := range map[string]struct {
		before []marked // pictures before the question
		ask    uint64
		after  []marked
		want   uint32
	}{
		"the next one":              {[]marked{{0, 10}}, 1, []marked{{0, 20}, {1, 30}, {1, 40}}, 30},
		"it was sent already":       {[]marked{{0, 10}, {3, 20}, {3, 30}, {4, 40}}, 3, nil, 20},
		"one that shows more":       {[]marked{{1, 10}}, 2, []marked{{5, 20}}, 20},
		"the first of the stream":   {nil, 2, []marked{{2, 10}}, 10},
		"none follows":              {[]marked{{1, 10}}, 2, []marked{{1, 20}}, none},
		"many were sent meanwhile":  {[]marked{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 9}, {10, 10}}, 8, nil, 8},
		"more than are remembered":  {[]marked{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 9}, {10, 10}}, 1, nil, 3},
		"asked where none is known": {nil, 1, nil, none},
	} {
		var m marks
		for _, p := range tt.before {
			m.sent(p)
		}
		found := m.await(tt.ask)
		for _, p := range tt.after {
			m.sent(p)
		}
		got := none
		select {
		case got = <-found:
		default:
		}
		if got != tt.want {
			t.Errorf("%s: the picture at %d, want %d", name, got, tt.want)
		}
	}
}

// A still picture that is sharpened after an input is newer by its timestamp, and
// does not show the input.
func TestSharpenedPictureShowsNoInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, rate.Mbps)
		defer s.end(t)
		s.size(1280, 720) // large enough for the first picture to be coarse
		s.marked(4)
		settle(20 * time.Millisecond)
		found := s.session.FirstWith(5)
		settle(5 * time.Second)
		if _, frames := s.peer.media(); len(frames) < 2 {
			t.Fatalf("frames %v: nothing was sharpened", frames)
		}
		select {
		case at := <-found:
			t.Fatalf("the picture at %d was captured before the input", at)
		default:
		}
		s.marked(5)
		settle(20 * time.Millisecond)
		select {
		case at := <-found:
			if newest := s.peer.packets[len(s.peer.packets)-1].Timestamp; at != newest {
				t.Errorf("the picture at %d, want that at %d", at, newest)
			}
		default:
			t.Error("the picture after the input was not found")
		}
	})
}

// marked publishes a picture that shows so many inputs.
func (s *stand) marked(mark uint64) {
	if slot, ok := s.ring.Acquire(); ok {
		s.ring.Publish(slot, time.Now(), []image.Rectangle{{Max: image.Pt(64, 64)}}, mark)
	}
}
