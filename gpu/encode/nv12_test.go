package encode

import (
	"bytes"
	"image"
	"testing"
)

// A picture that is converted by its damage is the same as one converted whole.
func TestNV12FollowsDamage(t *testing.T) {
	size := image.Pt(99, 61)
	part, whole := NewNV12(size), NewNV12(size)
	f := bgra(document.page(size, 1), 0, size)
	part.Convert(f)
	r := image.Rect(11, 7, 40, 33)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		clear(f.Pix[y*f.Stride+4*r.Min.X : y*f.Stride+4*r.Max.X])
	}
	whole.Convert(f)
	if bytes.Equal(part.Luma, whole.Luma) {
		t.Fatal("nothing changed")
	}
	f.Damage = []image.Rectangle{r}
	part.Convert(f)
	if !bytes.Equal(part.Luma, whole.Luma) || !bytes.Equal(part.Chroma, whole.Chroma) {
		t.Error("converting the damage gives another picture than converting all")
	}
}
