//go:build cgo

package encode

import (
	"image"
	"math"
	"testing"
)

// TestPSNRIsTheDecodersOwn: what is measured for a picture is what comes out when
// its bitstream is decoded and compared with the converted source; also where
// only part of the picture changed.
func TestPSNRIsTheDecodersOwn(t *testing.T) {
	size := image.Pt(320, 192)
	e := open(t, Config{Size: size, PSNR: true})
	var units []AccessUnit
	var sources [][]byte
	for i, f := range scroll(document, size, 6, 7) {
		if i%2 == 1 {
			f.Damage = []image.Rectangle{image.Rect(33, 17, 200, 90)}
		}
		load(t, e, f)
		sources = append(sources, sourceOf(e))
		units = append(units, encode(t, e, Order{QP: 18 + 5*i}))
	}
	for i, got := range decodeAll(t, units, size) {
		if want := psnrOf(lumaOf(got), sources[i]); math.Abs(want-units[i].PSNR) > 0.01 {
			t.Errorf("picture %d: %.3f dB were measured and %.3f came out", i, units[i].PSNR, want)
		}
	}
}

func psnrOf(got, want []byte) float64 {
	sum := 0.0
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		sum += d * d
	}
	return 10 * math.Log10(255*255*float64(len(want))/sum)
}

func TestPSNRIsMeasuredOnDemand(t *testing.T) {
	e := open(t, Config{Size: image.Pt(64, 64)})
	load(t, e, scroll(document, image.Pt(64, 64), 1, 1)[0])
	if u := encode(t, e, Order{QP: 30}); u.PSNR != 0 {
		t.Errorf("nobody asked, and it is %.2f dB", u.PSNR)
	}
}

// sourceOf is the luma of what was loaded, wherever the encoder keeps it.
func sourceOf(e *x264Encoder) []byte {
	e.parts.releaseAll()
	return lumaOf(e.parts.picture)
}

func lumaOf(p planes) []byte {
	var out []byte
	for y := range p.size.Y {
		out = append(out, p.luma[y*p.lumaStride:][:p.size.X]...)
	}
	return out
}

// BenchmarkPSNR1080p is what measuring adds to a picture of moving text.
func BenchmarkPSNR1080p(b *testing.B) {
	size := image.Pt(1920, 1080)
	frames := scroll(document, size, 10, 7)
	for name, psnr := range map[string]bool{"measured": true, "not": false} {
		b.Run(name, func(b *testing.B) {
			e := open(b, Config{Size: size, PSNR: psnr})
			for i := 0; b.Loop(); i++ {
				load(b, e, frames[i%len(frames)])
				encode(b, e, Order{QP: 22})
			}
		})
	}
}
