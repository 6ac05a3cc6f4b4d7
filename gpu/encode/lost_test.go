//go:build cgo

package encode

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"nearglass/gpu/encode/h264"
)

// receiver is a viewer that loses units, and takes one only if it has what that
// is predicted from.
type receiver struct {
	units []AccessUnit
	sums  []string        // what the encoder has for each
	has   map[uint64]bool // by number
}

func (r *receiver) take(u AccessUnit, sum string) {
	if !u.Key && !r.has[u.Reference] {
		return
	}
	if u.Key {
		clear(r.has)
	}
	r.has[u.Number] = true
	r.units, r.sums = append(r.units, u), append(r.sums, sum)
}

// newest is the newest picture up to number that the viewer has; 0 for none.
func (r *receiver) newest(number uint64) uint64 {
	for ; number > 0 && !r.has[number]; number-- {
	}
	return number
}

// coded holds what the unit says of itself against its own slice headers.
func coded(t *testing.T, e *x264Encoder, u AccessUnit) {
	t.Helper()
	for _, nal := range u.NALs {
		if h264.TypeOf(nal) != h264.TypeSlice {
			continue
		}
		h, err := h264.ParseSliceHeader(nal, &e.sets.sps, &e.sets.pps)
		if err != nil {
			t.Fatal(err)
		}
		back := uint64(1)
		if h.ListModified {
			back = uint64(h.Modifications[0].Value) + 1
		}
		if u.Number-back != u.Reference {
			t.Errorf("unit %d says that it refers to %d, its slices that it is %d back", u.Number, u.Reference, back)
		}
	}
}

// Whatever is lost, in bursts or alone, and however late the encoder hears of
// it: what a viewer can decode are the encoder's own pictures, to the bit, and
// there is a key frame only where no reference was left.
func TestLostPictures(t *testing.T) {
	for _, c := range []struct {
		Config
		late int // pictures until the encoder hears of a loss
	}{
		{Config{References: 4, Threads: 1}, 1},
		{Config{References: MaxReferences, Threads: 2}, 0},
		{Config{References: MaxReferences, Threads: 4}, 6},
		{Config{References: MaxReferences, Threads: 2, Profile: h264.High}, 3},
	} {
		t.Run(fmt.Sprintf("%d references, %d late, %s, %d threads", c.References, c.late, c.Profile, c.Threads), func(t *testing.T) {
			c.Size, c.Gaps = image.Pt(322, 178), true
			e, scene := open(t, c.Config), newScreen(c.Size, uint64(10*c.References+c.late))
			r := &receiver{has: map[uint64]bool{}}
			kept := map[uint64]bool{} // what the encoder may still refer to
			lost, burst, keys, repairs := 0, 0, 0, 0
			for number := uint64(1); number <= 400; number++ {
				load(t, e, scene.change())
				o := Order{QP: MinQP + 9 + scene.rng.IntN(36)}
				if heard := number - min(number, uint64(1+c.late)); heard > 0 && !r.has[heard] {
					o.Newest = r.newest(heard)
				}
				u := encode(t, e, o)
				coded(t, e, u)
				for n := range kept {
					if o.Newest > 0 && n > o.Newest || n+uint64(c.References) < number {
						delete(kept, n)
					}
				}
				allowed := len(kept) == 0
				kept[number] = true
				switch {
				case u.Number != number || u.Key != (u.Reference == 0) || u.Key && !allowed:
					t.Fatalf("picture %d with newest %d came as %d, key %v, of %d", number, o.Newest, u.Number, u.Key, u.Reference)
				case u.Key:
					keys++
				case !u.Key && !kept[u.Reference]:
					t.Fatalf("picture %d refers to %d, which was given up", number, u.Reference)
				case u.Reference+1 < number:
					repairs++
				}
				if burst--; burst < 0 && scene.rng.IntN(12) == 0 {
					burst = scene.rng.IntN(c.References - 2 - min(c.late, c.References-3) + c.late/6)
				}
				if burst >= 0 && number > 1 {
					lost++
					continue
				}
				r.take(u, reconstruction(e).sum())
			}
			got := decodedSums(t, r.units)
			if !slices.Equal(got, r.sums) {
				t.Fatalf("%d units were decoded to %d pictures, which are not the encoder's own", len(r.units), len(got))
			}
			if repairs == 0 {
				t.Error("nothing was repaired")
			}
			t.Logf("%d lost, %d repairs, %d key frames, %d decoded", lost, repairs, keys, len(r.units))
		})
	}
}

// The level says what the references take, and 16 fit at 1080p.
func TestLevelOfReferences(t *testing.T) {
	for _, c := range []struct {
		references int
		level      uint32
	}{{2, 42}, {4, 42}, {MaxReferences, 51}} {
		e := open(t, Config{Size: image.Pt(1920, 1080), References: c.references, Gaps: true})
		load(t, e, bgra(document.page(image.Pt(1920, 1080), 1), 0, image.Pt(1920, 1080)))
		encode(t, e, Order{QP: 40})
		if s := e.sets.sps; s.LevelIDC != c.level || int(s.MaxNumRefFrames) != c.references || !s.GapsInFrameNum {
			t.Errorf("%d references: level %d, %d kept, gaps allowed: %v", c.references, s.LevelIDC, s.MaxNumRefFrames, s.GapsInFrameNum)
		}
		e.Close()
	}
}
