//go:build cgo

package encode

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"nearglass/gpu"
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

// levels are what H.264 table A-1 allows: macroblocks a second, in a picture, and in
// the picture buffer.
var levels = map[uint32]struct{ second, picture, buffer int }{
	31: {108000, 3600, 18000}, 32: {216000, 5120, 20480}, 40: {245760, 8192, 32768}, 41: {245760, 8192, 32768},
	42: {522240, 8704, 34816}, 50: {589824, 22080, 110400}, 51: {983040, 36864, 184320}, 52: {2073600, 36864, 184320},
}

// The level that the stream names holds what it asks of a decoder, references
// included, and the picture buffer that it asks for is that of its references.
func TestLevelOfReferences(t *testing.T) {
	for _, c := range []struct {
		size       image.Point
		references int
		level      uint32
	}{
		{image.Pt(1280, 720), MaxReferences, 50},
		{image.Pt(1366, 768), MaxReferences, 50},
		{image.Pt(1920, 1080), 2, 42},
		{image.Pt(1920, 1080), 4, 42},
		{image.Pt(1920, 1080), MostReferences(image.Pt(1920, 1080)), 51},
		{image.Pt(2560, 1440), MostReferences(image.Pt(2560, 1440)), 51},
		{image.Pt(3840, 2160), MostReferences(image.Pt(3840, 2160)), 52},
	} {
		e := open(t, Config{Size: c.size, References: c.references, Gaps: true})
		load(t, e, &gpu.Frame{Size: c.size, Stride: 4 * c.size.X, Format: gpu.BGRA, Pix: make([]byte, 4*c.size.X*c.size.Y)})
		encode(t, e, Order{QP: 40})
		s := e.sets.sps
		if s.LevelIDC != c.level || int(s.MaxNumRefFrames) != c.references || int(s.VUI.MaxDecFrameBuffering) != c.references || !s.GapsInFrameNum {
			t.Errorf("%v, %d references: level %d, %d kept in a buffer of %d, gaps allowed: %v",
				c.size, c.references, s.LevelIDC, s.MaxNumRefFrames, s.VUI.MaxDecFrameBuffering, s.GapsInFrameNum)
		}
		size := macroblocks(CodedSize(c.size))
		mbs, l := size.X*size.Y, levels[s.LevelIDC]
		if 60*mbs > l.second || mbs > l.picture || c.references*mbs > l.buffer {
			t.Errorf("%v, %d references: %d macroblocks are beyond level %d", c.size, c.references, mbs, s.LevelIDC)
		}
		e.Close()
	}
}
