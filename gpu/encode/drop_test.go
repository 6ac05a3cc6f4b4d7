//go:build cgo

package encode

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"nearglass/gpu"
	"nearglass/gpu/encode/h264"
)

// decodedSums are the MD5 sums of the pictures, in NV12, that ffmpeg makes of
// units. It fails when ffmpeg complains.
func decodedSums(t *testing.T, units []AccessUnit) []string {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	cmd := exec.Command("ffmpeg", "-v", "error", "-xerror", "-f", "h264", "-i", "-", "-vsync", "passthrough", "-pix_fmt", "nv12", "-f", "framemd5", "-")
	var complaints bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(annexB(units)), &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("ffmpeg does not decode the stream: %v %s", err, complaints.String())
	}
	var sums []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") {
			fields := strings.Fields(line)
			sums = append(sums, fields[len(fields)-1])
		}
	}
	return sums
}

// reconstruction is the picture that x264 itself made of the unit it gave last,
// in memory that the next picture reuses.
func reconstruction(e *x264Encoder) planes {
	img, size := e.out.Img, CodedSize(e.config.Size)
	return planes{
		size: size, lumaStride: int(img.IStride[0]), chromaStride: int(img.IStride[1]),
		luma:   unsafe.Slice((*byte)(img.Plane[0]), int(img.IStride[0])*size.Y),
		chroma: unsafe.Slice((*byte)(img.Plane[1]), int(img.IStride[1])*size.Y/2),
	}
}

// sum is the MD5 sum of the picture.
func (p planes) sum() string {
	h := md5.New()
	for y := range p.size.Y {
		h.Write(p.luma[y*p.lumaStride:][:p.size.X])
	}
	for y := range p.size.Y / 2 {
		h.Write(p.chroma[y*p.chromaStride:][:p.size.X])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// off is the mean square error of luma in a part of the picture.
func (p *planes) off(want *planes, r image.Rectangle) float64 {
	sum := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			d := int(p.luma[y*p.lumaStride+x]) - int(want.luma[y*want.lumaStride+x])
			sum += d * d
		}
	}
	return float64(sum) / (mbSide * mbSide)
}

// screen is what the drops are tried on: pages that are exchanged, scroll, and
// change in small places, at random.
type screen struct {
	rng   *rand.Rand
	pages []*image.RGBA
	now   *image.RGBA
	page  int
	top   int
}

const tallPage = 600

func newScreen(size image.Point, seed uint64) *screen {
	s := &screen{rng: rand.New(rand.NewPCG(seed, 11)), now: image.NewRGBA(image.Rectangle{Max: size})}
	tall := image.Pt(size.X, tallPage)
	s.pages = []*image.RGBA{document.page(tall, 1), terminal.page(tall, 2), photo(tall), document.page(tall, 3)}
	return s
}

// change gives the next frame: with its damage, or of a picture that changed in
// every place.
func (s *screen) change() *gpu.Frame {
	var damage []image.Rectangle
	switch s.rng.IntN(5) {
	case 0: // another scene
		s.page, s.top = s.rng.IntN(len(s.pages)), s.rng.IntN(tallPage-s.now.Rect.Dy())
		s.paint()
	case 1, 2: // a scroll
		s.top = min(max(s.top+s.rng.IntN(41)-20, 0), tallPage-s.now.Rect.Dy())
		s.paint()
	default: // something small
		at := image.Pt(s.rng.IntN(s.now.Rect.Dx()), s.rng.IntN(s.now.Rect.Dy()))
		r := image.Rectangle{at, at.Add(image.Pt(1+s.rng.IntN(60), 1+s.rng.IntN(30)))}
		ink := color.RGBA{uint8(s.rng.Uint32()), uint8(s.rng.Uint32()), uint8(s.rng.Uint32()), 255}
		draw.Draw(s.now, r, image.NewUniform(ink), image.Point{}, draw.Src)
		damage = []image.Rectangle{r}
	}
	f := bgra(s.now, 0, s.now.Rect.Size())
	f.Damage = damage
	return f
}

func (s *screen) paint() {
	draw.Draw(s.now, s.now.Rect, s.pages[s.page], image.Pt(0, s.top), draw.Src)
}

// stream is what is sent, and what a decoder has to make of it.
type stream struct {
	t       *testing.T
	e       *x264Encoder
	units   []AccessUnit
	sums    []string
	qps     []int // at which each macroblock was sent last
	drops   int
	refused int
	next    uint32 // frame_num
}

// encode encodes the loaded picture and drops it again up to so many times; a
// new frame may come in between.
func (s *stream) encode(scene *screen, o Order, drops int) {
	for ; ; drops-- {
		u := encode(s.t, s.e, o)
		if u.Key != (o.Key || len(s.units) == 0) {
			s.t.Errorf("unit %d after %d dropped ones: key is %v", len(s.units), s.drops, u.Key)
		}
		if drops == 0 || !s.drop(u) {
			s.send(u, reconstruction(s.e).sum())
			s.check(u)
			return
		}
		if scene.rng.IntN(3) == 0 {
			load(s.t, s.e, scene.change())
		}
		o = Order{QP: MinQP + 9 + scene.rng.IntN(36), Sharpen: s.some(scene.rng)}
	}
}

// some are macroblocks to sharpen: none, all, or any.
func (s *stream) some(rng *rand.Rand) []bool {
	mask := make([]bool, len(s.e.parts.blocks))
	share := rng.IntN(3)
	for i := range mask {
		mask[i] = share == 2 || share == 1 && rng.IntN(5) == 0
	}
	return mask
}

// drop drops the unit and sends what stands for it.
func (s *stream) drop(u AccessUnit) bool {
	instead, err := s.e.Drop()
	if errors.Is(err, ErrNotDroppable) {
		s.refused++
		return false
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if instead.Key || instead.SizeBytes > 40*len(u.NALs) || len(instead.NALs) != len(u.NALs) || instead.QP != u.QP {
		s.t.Errorf("a placeholder of %d bytes for %d slices: %+v", instead.SizeBytes, len(u.NALs), instead)
	}
	s.drops++
	s.send(instead, s.sums[len(s.sums)-1])
	return true
}

// send notes a unit and what a decoder shows after it.
func (s *stream) send(u AccessUnit, sum string) {
	if u.Key {
		s.next = 0
	}
	mask := uint32(1)<<(s.e.sets.sps.Log2MaxFrameNumMinus4+4) - 1
	for _, nal := range u.NALs {
		if t := h264.TypeOf(nal); t != h264.TypeSlice && t != h264.TypeIDR {
			continue
		}
		h, err := h264.ParseSliceHeader(nal, &s.e.sets.sps, &s.e.sets.pps)
		if err != nil || h.FrameNum != s.next&mask {
			s.t.Fatalf("unit %d: %v, frame_num is %d, want %d", len(s.units), err, h.FrameNum, s.next&mask)
		}
	}
	s.next++
	s.units, s.sums = append(s.units, u), append(s.sums, sum)
}

// check holds every macroblock to the QP that it was coded at last: one that was
// taken for unchanged although it is not would be off by much more.
func (s *stream) check(u AccessUnit) {
	s.t.Helper()
	if s.qps == nil {
		s.qps = make([]int, len(s.e.parts.blocks))
	}
	made := reconstruction(s.e)
	for i, b := range s.e.parts.blocks {
		if u.Key || b.was || b.taken {
			s.qps[i] = u.QP
		}
		step := math.Exp2(float64(s.qps[i]-4) / 6)
		if got, most := made.off(s.e.parts.source(i), s.e.parts.area(i)), 2+step*step/2; got > most {
			s.t.Errorf("unit %d at qp %d: macroblock %d, sent at %d, is off by %.1f, want at most %.1f", len(s.units)-1, u.QP, i, s.qps[i], got, most)
		}
	}
}

// Whatever is dropped and whatever comes after it: what ffmpeg shows is what
// x264 has, to the bit, and what x264 has is the screen.
func TestDroppedPictures(t *testing.T) {
	for _, c := range []struct {
		Config
		drops int
	}{
		{Config{Threads: 1}, 150},
		{Config{Threads: 2}, 700},
		{Config{Threads: 4, References: 4}, 250},
		{Config{Threads: 2, References: 3, Profile: h264.High}, 250},
		{Config{Threads: 4, Preset: "superfast"}, 150},
	} {
		t.Run(fmt.Sprintf("%d threads, %d references, %s, %s", c.Threads, c.References, c.Profile, c.Preset), func(t *testing.T) {
			c.Size = image.Pt(322, 178)
			s, scene := &stream{t: t, e: open(t, c.Config)}, newScreen(c.Size, uint64(c.Threads))
			for s.drops < c.drops {
				for range scene.rng.IntN(3) { // none: the picture is refined
					load(t, s.e, scene.change())
				}
				if len(s.units) == 0 {
					load(t, s.e, scene.change())
				}
				o := Order{QP: MinQP + 9 + scene.rng.IntN(36), Key: scene.rng.IntN(150) == 0, Sharpen: s.some(scene.rng)}
				s.encode(scene, o, max(0, scene.rng.IntN(8)-3))
			}
			if s.refused == 0 {
				t.Error("nothing was refused")
			}
			got := decodedSums(t, s.units)
			if len(got) != len(s.sums) {
				t.Fatalf("%d units gave %d pictures", len(s.sums), len(got))
			}
			for i := range got {
				if got[i] != s.sums[i] {
					t.Fatalf("unit %d (key %v, %d bytes) does not decode to what x264 has", i, s.units[i].Key, s.units[i].SizeBytes)
				}
			}
			t.Logf("%d units, %d of them placeholders", len(got), s.drops)
		})
	}
}

func TestDropRefuses(t *testing.T) {
	size := image.Pt(64, 48)
	for _, c := range []Config{{References: 1}, {}, {References: 4}} {
		c.Size = size
		e := open(t, c)
		refused := func(when string) {
			t.Helper()
			if _, err := e.Drop(); !errors.Is(err, ErrNotDroppable) {
				t.Errorf("%d references, %s: %v", e.config.References, when, err)
			}
		}
		refused("nothing was encoded")
		load(t, e, bgra(document.page(size, 1), 0, size))
		for range 2 {
			encode(t, e, Order{QP: 30, Key: true})
			refused("a key frame")
		}
		for range 3 { // what was sent in between counts anew
			encode(t, e, Order{QP: 28})
			for range e.config.References - 1 {
				encode(t, e, Order{QP: 26})
				if _, err := e.Drop(); err != nil {
					t.Errorf("%d references: %v", e.config.References, err)
				}
				refused("dropped already")
			}
			encode(t, e, Order{QP: 27})
			refused("as many as there are references")
		}
		e.Close()
		if _, err := e.Drop(); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
}
