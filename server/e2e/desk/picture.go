package desk

import (
	"fmt"
	"image"
	"image/color"
	"math"
)

// Luma is the BT.709 luma of a colour, 0 to 255, from its R'G'B'.
func Luma(r, g, b uint8) float64 {
	return 0.2126*float64(r) + 0.7152*float64(g) + 0.0722*float64(b)
}

// LumaPSNR compares two pictures of the same size by their luma and gives
// decibels; +Inf when they are equal. Their coordinates may differ. It panics
// when the sizes do, because no figure would mean anything then.
func LumaPSNR(a, b *image.RGBA) float64 {
	mustMatch(a, b)
	var sum float64
	size := a.Rect.Size()
	for y := range size.Y {
		ra, rb := row(a, y), row(b, y)
		for i := 0; i < len(ra); i += 4 {
			d := Luma(ra[i], ra[i+1], ra[i+2]) - Luma(rb[i], rb[i+1], rb[i+2])
			sum += d * d
		}
	}
	if sum == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(255*255*float64(size.X*size.Y)/sum)
}

// Different counts the pixels that differ by more than tolerance in any of
// red, green and blue, and gives the rectangle that holds them all, counted
// from the pictures' corners. It panics when the sizes differ.
func Different(a, b *image.RGBA, tolerance int) (count int, where image.Rectangle) {
	mustMatch(a, b)
	for y := range a.Rect.Dy() {
		ra, rb := row(a, y), row(b, y)
		for i := 0; i < len(ra); i += 4 {
			if max(apart(ra[i], rb[i]), apart(ra[i+1], rb[i+1]), apart(ra[i+2], rb[i+2])) > tolerance {
				count++
				where = where.Union(image.Rect(i/4, y, i/4+1, y+1))
			}
		}
	}
	return count, where
}

// Mean gives the mean colour of a part of a picture.
func Mean(img *image.RGBA, r image.Rectangle) color.RGBA {
	r = r.Intersect(img.Rect)
	var sum [3]int
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			i := img.PixOffset(x, y)
			for c := range sum {
				sum[c] += int(img.Pix[i+c])
			}
		}
	}
	n := max(1, r.Dx()*r.Dy())
	round := func(v int) uint8 { return uint8((v + n/2) / n) }
	return color.RGBA{round(sum[0]), round(sum[1]), round(sum[2]), 255}
}

// Apart gives the largest difference of two colours in red, green and blue.
func Apart(a, b color.RGBA) int {
	return max(apart(a.R, b.R), apart(a.G, b.G), apart(a.B, b.B))
}

func apart(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

// row gives the pixels of a row, counted from the top of the picture.
func row(img *image.RGBA, y int) []byte {
	start := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y+y)
	return img.Pix[start : start+4*img.Rect.Dx()]
}

func mustMatch(a, b *image.RGBA) {
	if a.Rect.Size() != b.Rect.Size() {
		panic(fmt.Sprintf("pictures of %v and %v cannot be compared", a.Rect.Size(), b.Rect.Size()))
	}
}
