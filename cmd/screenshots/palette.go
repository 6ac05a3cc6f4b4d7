package main

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
)

// colors is how many a picture keeps: what one byte a pixel can name.
const colors = 256

// swatch is a color of the picture and how often it occurs.
type swatch struct {
	rgb   [3]uint8
	count int
}

// box is a group of colors that will become one.
type box []swatch

// save writes a picture as PNG with a palette of its own, which makes a third
// of the size of true color and shows no difference on flat surfaces.
func save(path string, img *image.RGBA) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(f, reduce(img)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// reduce gives the picture in at most 256 colors, by median cut (Heckbert
// 1982) with the box of the largest weighted spread cut first.
func reduce(img *image.RGBA) *image.Paletted {
	counts := map[[3]uint8]int{}
	for i := 0; i < len(img.Pix); i += 4 {
		counts[[3]uint8(img.Pix[i:])]++
	}
	var all box
	for rgb, n := range counts {
		all = append(all, swatch{rgb, n})
	}
	// A map has no order; the same picture shall give the same file.
	slices.SortFunc(all, func(a, b swatch) int { return slices.Compare(a.rgb[:], b.rgb[:]) })
	out := image.NewPaletted(img.Rect, nil)
	index := map[[3]uint8]uint8{}
	for i, b := range cut(all) {
		out.Palette = append(out.Palette, b.mean())
		for _, s := range b {
			index[s.rgb] = uint8(i)
		}
	}
	for i := range out.Pix {
		out.Pix[i] = index[[3]uint8(img.Pix[4*i:])]
	}
	return out
}

func cut(all box) []box {
	boxes := []box{all}
	for len(boxes) < colors {
		worst, channel, most := -1, 0, 0.0
		for i, b := range boxes {
			if c, spread := b.spread(); spread > most {
				worst, channel, most = i, c, spread
			}
		}
		if worst < 0 {
			break // each box holds one color
		}
		low, high := boxes[worst].halves(channel)
		boxes[worst] = low
		boxes = append(boxes, high)
	}
	return boxes
}

// spread gives the channel whose values differ most, and the sum of their
// squared distances from the mean.
func (b box) spread() (channel int, sum float64) {
	mean := b.average()
	for c := range 3 {
		var s float64
		for _, w := range b {
			d := float64(w.rgb[c]) - mean[c]
			s += d * d * float64(w.count)
		}
		if s > sum {
			channel, sum = c, s
		}
	}
	return channel, sum
}

// halves cuts a box at the mean of one channel; both halves hold something.
func (b box) halves(channel int) (low, high box) {
	mean := b.average()[channel]
	slices.SortStableFunc(b, func(x, y swatch) int { return cmp.Compare(x.rgb[channel], y.rgb[channel]) })
	at := slices.IndexFunc(b, func(s swatch) bool { return float64(s.rgb[channel]) > mean })
	at = min(max(at, 1), len(b)-1)
	return b[:at:at], b[at:]
}

func (b box) average() (mean [3]float64) {
	n := 0.0
	for _, s := range b {
		n += float64(s.count)
		for c := range 3 {
			mean[c] += float64(s.rgb[c]) * float64(s.count)
		}
	}
	for c := range 3 {
		mean[c] /= n
	}
	return mean
}

func (b box) mean() color.Color {
	m := b.average()
	return color.RGBA{R: uint8(m[0] + 0.5), G: uint8(m[1] + 0.5), B: uint8(m[2] + 0.5), A: 0xff}
}
