package encode

import (
	"bytes"
	"image"
	"math"
	"os/exec"
	"testing"

	"nearglass/gpu"
)

// annexB writes access units as a byte stream.
func annexB(units []AccessUnit) []byte {
	var s []byte
	for _, u := range units {
		for _, nal := range u.NALs {
			s = append(append(s, 0, 0, 0, 1), nal...)
		}
	}
	return s
}

// decodeAll lets ffmpeg decode units of pictures of the given size, and fails
// when it complains or when it does not give one picture for each unit.
func decodeAll(t *testing.T, units []AccessUnit, size image.Point) []planes {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	cmd := exec.Command("ffmpeg", "-v", "error", "-xerror", "-f", "h264", "-i", "-", "-vsync", "passthrough", "-pix_fmt", "nv12", "-f", "rawvideo", "-")
	cmd.Stdin = bytes.NewReader(annexB(units))
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	raw, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("ffmpeg does not decode the stream: %v %s", err, complaints.String())
	}
	size = CodedSize(size)
	area := size.X * size.Y
	if len(raw) != len(units)*area*3/2 {
		t.Fatalf("%d units of %v gave %d bytes, which is %.2f pictures", len(units), size, len(raw), float64(len(raw))/float64(area)/1.5)
	}
	var out []planes
	for ; len(raw) > 0; raw = raw[area*3/2:] {
		out = append(out, planes{size: size, luma: raw[:area], chroma: raw[area : area*3/2], lumaStride: size.X, chromaStride: size.X})
	}
	return out
}

// lumaPSNR compares what was decoded with the exact luma of the source, in
// dB. The source counts in real numbers, so that the conversion's own
// rounding is part of the figure.
func lumaPSNR(got planes, f *gpu.Frame) float64 {
	sum := 0.0
	for y := range f.Size.Y {
		row := f.Pix[y*f.Stride:]
		for x := range f.Size.X {
			p := row[4*x : 4*x+3]
			want, _, _ := exactYUV(float64(p[2]), float64(p[1]), float64(p[0]))
			d := want - float64(got.luma[y*got.lumaStride+x])
			sum += d * d
		}
	}
	return 10 * math.Log10(255*255*float64(f.Size.X*f.Size.Y)/sum)
}

// rgbAt converts a decoded pixel as a viewer does.
func rgbAt(p planes, x, y int) [3]float64 {
	luma := (float64(p.luma[y*p.lumaStride+x]) - 16) * 255 / 219
	at := y/2*p.chromaStride + x&^1
	cb := (float64(p.chroma[at]) - 128) * 255 / 224
	cr := (float64(p.chroma[at+1]) - 128) * 255 / 224
	r, b := luma+1.5748*cr, luma+1.8556*cb
	g := (luma - 0.2126*r - 0.0722*b) / 0.7152
	return [3]float64{min(max(r, 0), 255), min(max(g, 0), 255), min(max(b, 0), 255)}
}
