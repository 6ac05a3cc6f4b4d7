//go:build cgo

package encode

import (
	"image"
	"testing"

	"nearglass/gpu/encode/h264"
)

// BenchmarkEncode1080p reports a frame of each movement: the time of
// conversion and encoding together, and the bytes.
func BenchmarkEncode1080p(b *testing.B) {
	size := image.Pt(1920, 1080)
	for _, c := range []struct {
		name string
		th   theme
		step int
		conf Config
	}{
		{"document by 7", document, 7, Config{}},
		{"document by 7, 1 thread", document, 7, Config{Threads: 1}},
		{"document by 7, high", document, 7, Config{Profile: h264.High}},
		{"document by 7, superfast", document, 7, Config{Preset: "superfast"}},
		{"terminal by 51", terminal, 51, Config{}},
		{"terminal by 51, high", terminal, 51, Config{Profile: h264.High}},
		{"terminal by 120", terminal, 120, Config{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			frames := scroll(c.th, size, 10, c.step)
			c.conf.Size = size
			e := open(b, c.conf)
			load(b, e, frames[0])
			encode(b, e, Order{QP: 22})
			bytes, convert := 0, 0.0
			at, way := 0, 1
			for b.Loop() {
				if at+way < 0 || at+way >= len(frames) {
					way = -way // and back: every frame is one step away
				}
				at += way
				load(b, e, frames[at])
				u := encode(b, e, Order{QP: 22})
				bytes += u.SizeBytes
				convert += u.Convert.Seconds() * 1e3
			}
			b.ReportMetric(float64(bytes)/float64(b.N), "bytes/frame")
			b.ReportMetric(convert/float64(b.N), "convert-ms")
		})
	}
}

// BenchmarkSmallChange1080p is a typed letter.
func BenchmarkSmallChange1080p(b *testing.B) {
	size := image.Pt(1920, 1080)
	f := bgra(document.page(size, 1), 0, size)
	e := open(b, Config{Size: size})
	load(b, e, f)
	encode(b, e, Order{QP: 20})
	f.Damage = []image.Rectangle{image.Rect(400, 400, 412, 418)}
	for b.Loop() {
		for y := 400; y < 418; y++ {
			for x := 4 * 400; x < 4*412; x++ {
				f.Pix[y*f.Stride+x] ^= 0x5a
			}
		}
		load(b, e, f)
		encode(b, e, Order{QP: 20})
	}
}
