package e2e

import (
	"encoding/base64"
	"fmt"
	"image"
	"math"
	"testing"

	"nearglass/server/e2e/desk"
)

// Pictures are compared by the luma that the decoder gives, before the browser
// converts it to RGB: Chromium without a GPU takes 2.0 for the 2.1124 of
// BT.709 there, which shifts saturated blue by up to 12 of 255 and would count
// as luma. TestColors looks at the colors on the screen.

// luma is the Y plane of a picture, BT.709 of limited range.
type luma struct {
	size image.Point
	y    []byte
}

// lumaScript defines takeLuma, which copies the Y plane of a part of what a
// video element shows. It must be asked for inside the callback of the picture;
// an empty part means all of it. A part begins and ends at even numbers.
const lumaScript = `
window.takeLuma ??= async (video, part) => {
	const frame = new VideoFrame(video);
	try {
		const c = frame.colorSpace;
		if (!["I420", "NV12"].includes(frame.format) || c.matrix !== "bt709" || c.fullRange) {
			throw new Error("a picture in " + frame.format + " " + JSON.stringify(c));
		}
		const v = frame.visibleRect;
		const rect = part?.width ? part : { x: v.x, y: v.y, width: v.width, height: v.height };
		const all = new Uint8Array(frame.allocationSize({ rect }));
		const [{ offset, stride }] = await frame.copyTo(all, { rect });
		if (offset !== 0 || stride !== rect.width) throw new Error("planes of another shape");
		return { width: rect.width, height: rect.height, y: all.subarray(0, rect.width * rect.height) };
	} finally {
		frame.close();
	}
};
`

// readLuma reads what an expression of the page gives that takeLuma made.
func readLuma(p *desk.Page, expression string) (luma, error) {
	type reply struct {
		Width, Height int
		Y             string
	}
	r, err := desk.Eval[reply](p, fmt.Sprintf("(async () => { %s const l = await (%s); return { Width: l.width, Height: l.height, Y: l.y.toBase64() } })()", lumaScript, expression))
	if err != nil {
		return luma{}, err
	}
	y, err := base64.StdEncoding.DecodeString(r.Y)
	return luma{image.Pt(r.Width, r.Height), y}, err
}

// luma is the Y plane of what the viewer's video shows now.
func (v *viewer) luma() (luma, error) {
	return readLuma(v.Page, `takeLuma(document.querySelector("video"))`)
}

// even rounds a size up to what H.264 with 4:2:0 can have.
func even(p image.Point) image.Point { return image.Pt((p.X+1)&^1, (p.Y+1)&^1) }

// part cuts a part out.
func (l luma) part(r image.Rectangle) luma {
	out := luma{size: r.Size()}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		out.y = append(out.y, l.y[y*l.size.X+r.Min.X:y*l.size.X+r.Max.X]...)
	}
	return out
}

// full gives a sample of limited range (16 to 235) on the scale of 0 to 255.
func full(y byte) float64 { return (float64(y) - 16) * 255 / 219 }

// psnr compares with a picture of the same size, in decibels.
func (l luma) psnr(want *image.RGBA) float64 {
	var sum float64
	l.each(want, func(_ image.Point, wanted, got float64) { sum += (wanted - got) * (wanted - got) })
	if sum == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(255*255*float64(l.size.X*l.size.Y)/sum)
}

// clearly counts the pixels that differ by more than 30 of 255, and tells where
// they are.
func (l luma) clearly(want *image.RGBA) (count int, where image.Rectangle) {
	l.each(want, func(at image.Point, wanted, got float64) {
		if math.Abs(wanted-got) > 30 {
			count++
			where = where.Union(image.Rectangle{Min: at, Max: at.Add(image.Pt(1, 1))})
		}
	})
	return count, where
}

// differences puts the comparison into words.
func (l luma) differences(want *image.RGBA) string {
	count, where := l.clearly(want)
	return fmt.Sprintf("%.1f dB; %d pixels differ clearly, in %v", l.psnr(want), count, where)
}

func (l luma) each(want *image.RGBA, do func(at image.Point, wanted, got float64)) {
	for y := range l.size.Y {
		for x := range l.size.X {
			c := want.RGBAAt(want.Rect.Min.X+x, want.Rect.Min.Y+y)
			do(image.Pt(x, y), desk.Luma(c.R, c.G, c.B), full(l.y[y*l.size.X+x]))
		}
	}
}

func TestLumaPSNR(t *testing.T) {
	want := image.NewRGBA(image.Rect(10, 10, 12, 11)) // black
	for _, c := range []struct {
		y      []byte
		lo, hi float64
	}{
		{[]byte{16, 16}, math.Inf(1), math.Inf(1)},
		{[]byte{16, 17}, 49, 50}, // one of two pixels by 1.16
		{[]byte{235, 235}, 0, 0},
	} {
		if db := (luma{image.Pt(2, 1), c.y}).psnr(want); db < c.lo || db > c.hi {
			t.Errorf("%v against black: %.1f dB, not %v to %v", c.y, db, c.lo, c.hi)
		}
	}
}
