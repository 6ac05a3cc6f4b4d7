package encodelab

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"os/exec"
	"slices"

	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
)

// Quality is how a picture came out at the viewer.
type Quality struct {
	Unit int // index in Result.Sent
	// PSNR of luma in dB, at most MostPSNR.
	PSNR float64
	// SSIM of luma, over windows of 8 by 8 pixels, 1 at the best.
	SSIM float64
}

// MostPSNR stands for a picture without any error; above it nobody sees one.
const MostPSNR = 60

// judge decodes a stream as a viewer does and compares every so many units
// with what was painted.
func (r *Result) judge(ctx context.Context, w Workload, sample int) error {
	cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-flags", "low_delay", "-f", "h264", "-i", "-",
		"-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "nv12", "-")
	var stream bytes.Buffer
	for _, s := range r.Sent {
		for _, nal := range slices.Concat(s.placeholder, s.nals) {
			stream.Write([]byte{0, 0, 0, 1})
			stream.Write(nal)
		}
	}
	cmd.Stdin = &stream
	complaints := new(bytes.Buffer)
	cmd.Stderr = complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("ffmpeg is needed to judge pictures: %w", err)
	}
	err = r.compare(out, w, sample)
	if _, drained := io.Copy(io.Discard, out); err == nil {
		err = drained
	}
	if waited := cmd.Wait(); waited != nil || complaints.Len() > 0 {
		return fmt.Errorf("decoding: %v %s", waited, complaints)
	}
	return err
}

// compare paints the workload once more, along with the decoded pictures.
func (r *Result) compare(decoded io.Reader, w Workload, sample int) error {
	c, screen, painted := newCanvas(w.Size), w.open(), 0
	want, got := encode.NewNV12(w.Size), encode.NewNV12(w.Size)
	for i, s := range r.Sent {
		if err := s.decoded(decoded, got); err != nil {
			return fmt.Errorf("%d of %d units were decoded: %w", i, len(r.Sent), err)
		}
		for ; painted <= s.Picture; painted++ {
			screen.paint(c, painted)
		}
		if i%sample != 0 && s.Kind != ratecontrol.Refine && s.Picture != stopAfter {
			continue
		}
		want.Convert(c.frame())
		r.Quality = append(r.Quality, Quality{Unit: i, PSNR: psnr(got, want), SSIM: ssim(got, want)})
	}
	return nil
}

// decoded reads the picture of a unit, and before it that of its placeholder.
func (s Sent) decoded(from io.Reader, to encode.NV12) error {
	planes := [][]byte{to.Luma, to.Chroma}
	if s.Redone {
		planes = slices.Concat(planes, planes)
	}
	for _, plane := range planes {
		if _, err := io.ReadFull(from, plane); err != nil {
			return err
		}
	}
	return nil
}

func psnr(a, b encode.NV12) float64 {
	sum := 0
	for i, v := range a.Luma {
		d := int(v) - int(b.Luma[i])
		sum += d * d
	}
	if sum == 0 {
		return MostPSNR
	}
	return min(MostPSNR, 10*math.Log10(255*255*float64(len(a.Luma))/float64(sum)))
}

// ssim compares windows of 8 by 8 pixels, one beside the other, with the
// constants of Wang et al. 2004.
func ssim(a, b encode.NV12) float64 {
	const side = 8
	sum, windows := 0.0, 0
	for y := 0; y+side <= a.Size.Y; y += side {
		for x := 0; x+side <= a.Size.X; x += side {
			sum += window(a, b, image.Rect(x, y, x+side, y+side))
			windows++
		}
	}
	return sum / float64(max(windows, 1))
}

func window(a, b encode.NV12, r image.Rectangle) float64 {
	var sa, sb, saa, sbb, sab int
	for y := r.Min.Y; y < r.Max.Y; y++ {
		ra, rb := a.Luma[y*a.LumaStride:][r.Min.X:r.Max.X], b.Luma[y*b.LumaStride:][r.Min.X:r.Max.X]
		for i, p := range ra {
			va, vb := int(p), int(rb[i])
			sa, sb, saa, sbb, sab = sa+va, sb+vb, saa+va*va, sbb+vb*vb, sab+va*vb
		}
	}
	const c1, c2 = (0.01 * 255) * (0.01 * 255), (0.03 * 255) * (0.03 * 255)
	n := float64(r.Dx() * r.Dy())
	ma, mb := float64(sa)/n, float64(sb)/n
	va, vb, cov := float64(saa)/n-ma*ma, float64(sbb)/n-mb*mb, float64(sab)/n-ma*mb
	return (2*ma*mb + c1) * (2*cov + c2) / ((ma*ma + mb*mb + c1) * (va + vb + c2))
}
