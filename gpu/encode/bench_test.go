//go:build cgo

package encode

import (
	"fmt"
	"image"
	"slices"
	"testing"
	"time"

	"nearglass/gpu"
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
		{"document by 7, 16 references", document, 7, Config{References: MaxReferences}},
		{"document by 7, 16 references, gaps", document, 7, Config{References: MaxReferences, Gaps: true}},
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

// BenchmarkReferences1080p encodes each picture with one, two and four
// references kept, in turn, so that what else the machine does meets all alike.
func BenchmarkReferences1080p(b *testing.B) {
	size := image.Pt(1920, 1080)
	frames := scroll(document, size, 10, 7)
	kept := []int{1, 2, 4}
	took := make([][]float64, len(kept))
	var encoders []Encoder
	for _, n := range kept {
		e := open(b, Config{Size: size, Threads: 1, References: n})
		load(b, e, frames[0])
		encode(b, e, Order{QP: 22})
		encoders = append(encoders, e)
	}
	for i := 0; b.Loop(); i++ {
		f := frames[max(i%18-9, 9-i%18)]
		for k := range kept {
			k = (k + i) % len(kept)
			load(b, encoders[k], f)
			took[k] = append(took[k], encode(b, encoders[k], Order{QP: 22}).Encode.Seconds()*1e3)
		}
	}
	for k, n := range kept {
		slices.Sort(took[k])
		b.ReportMetric(took[k][len(took[k])/2], fmt.Sprintf("ms-with-%d", n))
	}
}

// BenchmarkDrop1080p drops the first picture of another page, encodes it again
// and reports the time of each step.
func BenchmarkDrop1080p(b *testing.B) {
	size := image.Pt(1920, 1080)
	e := open(b, Config{Size: size, Threads: 1})
	var pages []*gpu.Frame
	for seed := range uint64(4) {
		pages = append(pages, bgra(document.page(size, seed), 0, size))
	}
	load(b, e, pages[0])
	encode(b, e, Order{QP: 22})
	var first, drop, again time.Duration
	placeholder := 0
	for i := 1; b.Loop(); i++ {
		load(b, e, pages[i%len(pages)])
		first += encode(b, e, Order{QP: 22}).Encode
		begin := time.Now()
		u, err := e.Drop()
		if err != nil {
			b.Fatal(err)
		}
		drop += time.Since(begin)
		placeholder += u.SizeBytes
		again += encode(b, e, Order{QP: 34}).Encode
	}
	for name, d := range map[string]time.Duration{"encode-ms": first, "drop-ms": drop, "again-ms": again} {
		b.ReportMetric(d.Seconds()*1e3/float64(b.N), name)
	}
	b.ReportMetric(float64(placeholder)/float64(b.N), "placeholder-bytes")
}
