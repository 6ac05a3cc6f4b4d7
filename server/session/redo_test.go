package session

import (
	"image"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/pacing"
)

// overshooter is an encoder whose pictures are all of one size, but for some that
// come out far too large unless they are coarse. It stands in for x264.
type overshooter struct {
	large     map[int]int // bytes of a picture, by its number from 0
	coarse    int         // QP from which none is large
	droppable bool

	loads, dropped int
	orders         []encode.Order
}

const (
	usualBytes       = 3000
	placeholderBytes = 40
)

func (e *overshooter) Load(*gpu.Frame) error { e.loads++; return nil }

func (e *overshooter) Encode(o encode.Order) (encode.AccessUnit, error) {
	key := o.Key || len(e.orders) == 0
	e.orders = append(e.orders, o)
	size := usualBytes
	if n, ok := e.large[e.loads-1]; ok && o.QP < e.coarse {
		size = n
	}
	return encode.AccessUnit{NALs: [][]byte{make([]byte, size)}, Key: key, QP: o.QP, SizeBytes: size}, nil
}

func (e *overshooter) Drop() (encode.AccessUnit, error) {
	if !e.droppable {
		return encode.AccessUnit{}, encode.ErrNotDroppable
	}
	e.dropped++
	return encode.AccessUnit{NALs: [][]byte{make([]byte, placeholderBytes)}, SizeBytes: placeholderBytes}, nil
}

func (e *overshooter) Close() error { return nil }

// TestTooLargeAPicture: a picture that came out far over its budget is not sent;
// a placeholder and a coarser one are, and each has its own number and timestamp.
// Where it cannot be dropped it is sent as it is.
func TestTooLargeAPicture(t *testing.T) {
	for name, tt := range map[string]struct {
		encoder             overshooter
		dropped, most, more int // pictures dropped, bytes of the largest after the key frame, units beyond one a picture
	}{
		"none":               {overshooter{droppable: true}, 0, usualBytes, 0},
		"one":                {overshooter{droppable: true, large: map[int]int{20: 200_000}, coarse: 18}, 1, usualBytes, 1},
		"one, at any QP":     {overshooter{droppable: true, large: map[int]int{20: 200_000}, coarse: 52}, 1, 200_000, 1},
		"one in a fixed row": {overshooter{large: map[int]int{20: 200_000}, coarse: 18}, 0, 200_000, 0},
		"the key frame":      {overshooter{droppable: true, large: map[int]int{0: 200_000}, coarse: 18}, 0, usualBytes, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := tt.encoder
				s := newStandWith(t, 10*rate.Mbps, func(c *Config) {
					c.Encoder = func(image.Point) (encode.Encoder, error) { return &e, nil }
				})
				defer s.end(t)
				s.size(wideSource.X, wideSource.Y)
				s.move(2*time.Second, wideSource)
				frames := s.peer.bytesByFrame(t)
				if e.dropped != tt.dropped || int(s.session.c.Meter.Snapshot(time.Now()).Redone) != tt.dropped {
					t.Errorf("%d pictures were dropped, want %d", e.dropped, tt.dropped)
				}
				if n := len(frames) - e.loads; n != tt.more {
					t.Errorf("%d units more than the %d pictures, want %d", n, e.loads, tt.more)
				}
				for frame, n := range frames {
					if frame > 1 && n > tt.most*21/20 { // with the packets' heads
						t.Errorf("unit %d has %d bytes, want at most %d", frame, n, tt.most)
					}
				}
			})
		})
	}
}

// bytesByFrame sums the payloads of each unit, and checks that units have
// timestamps of their own.
func (p *fakePeer) bytesByFrame(t *testing.T) map[uint64]int {
	t.Helper()
	sums, named := map[uint64]int{}, map[uint32]uint64{}
	for _, pkt := range p.packets {
		if pkt.Class != pacing.Video && pkt.Class != pacing.KeyFrame {
			continue
		}
		if other, ok := named[pkt.Timestamp]; ok && other != pkt.Frame {
			t.Errorf("units %d and %d have one timestamp", other, pkt.Frame)
		}
		named[pkt.Timestamp] = pkt.Frame
		sums[pkt.Frame] += len(pkt.Body) + int(pkt.HeadLen)
	}
	return sums
}
