package capture

import (
	"context"
	"errors"
	"fmt"
	"image"

	"golang.org/x/image/draw"

	"nearglass/gpu"
)

// Snapshot takes one picture of a source, scaled down to fit into most; a zero
// most leaves it as it is. It opens a capture of its own, so that running ones
// are not disturbed. A source that is paused, such as a minimised window,
// gives an error that says so.
func Snapshot(ctx context.Context, b Backend, id string, most image.Point) (*image.RGBA, error) {
	c, err := b.Open(ctx, id, Options{})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ring := gpu.NewRing()
	defer ring.Close(nil)
	rd := ring.NewReader()
	defer rd.Close()
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, ring) }()

	picture, err := firstPicture(ctx, rd, done, most)
	cancel()
	if err == nil || !errors.Is(err, errEnded) {
		<-done
	}
	return picture, err
}

// errEnded marks that the capture itself has ended, so that nothing more comes
// on its channel.
var errEnded = errors.New("the capture ended")

func firstPicture(ctx context.Context, rd *gpu.Reader, done <-chan error, most image.Point) (*image.RGBA, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case err := <-done:
			if err == nil {
				err = ctx.Err()
			}
			return nil, fmt.Errorf("%w before its first picture: %w", errEnded, err)
		case <-rd.Ready():
		}
		f, err := rd.Take()
		if err != nil {
			return nil, err
		}
		if f != nil {
			defer f.Release()
			return scaled(f, most), nil
		}
		if st := rd.State(); st.Paused {
			return nil, errors.New(st.Reason)
		}
	}
}

// scaled converts a frame to RGBA, no larger than most.
func scaled(f *gpu.Frame, most image.Point) *image.RGBA {
	src := &bgra{pix: f.Pix, stride: f.Stride, bounds: f.Bounds()}
	full := src.rgba()
	size := fit(f.Size, most)
	if size == f.Size {
		return full
	}
	dst := image.NewRGBA(image.Rectangle{Max: size})
	// ApproxBiLinear takes the average over the source pixels only down to
	// half size, so large pictures are halved first.
	for full.Rect.Dx() >= 2*size.X && full.Rect.Dy() >= 2*size.Y {
		full = halved(full)
	}
	draw.ApproxBiLinear.Scale(dst, dst.Rect, full, full.Rect, draw.Src, nil)
	return dst
}

// fit returns the largest size with the shape of size that fits into most.
func fit(size, most image.Point) image.Point {
	if most.X <= 0 || most.Y <= 0 || (size.X <= most.X && size.Y <= most.Y) {
		return size
	}
	w, h := most.X, size.Y*most.X/size.X
	if h > most.Y {
		w, h = size.X*most.Y/size.Y, most.Y
	}
	return image.Pt(max(w, 1), max(h, 1))
}

// halved returns the picture at half size, each pixel the mean of four.
func halved(src *image.RGBA) *image.RGBA {
	w, h := src.Rect.Dx()/2, src.Rect.Dy()/2
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		a, b := src.Pix[2*y*src.Stride:], src.Pix[(2*y+1)*src.Stride:]
		d := dst.Pix[y*dst.Stride:]
		for x := 0; x < 4*w; x++ {
			i := x&^3*2 + x&3
			d[x] = uint8((int(a[i]) + int(a[i+4]) + int(b[i]) + int(b[i+4]) + 2) / 4)
		}
	}
	return dst
}

// bgra reads pixels as gpu.BGRA has them.
type bgra struct {
	pix    []byte
	stride int
	bounds image.Rectangle
}

func (b *bgra) rgba() *image.RGBA {
	dst := image.NewRGBA(b.bounds)
	for y := range b.bounds.Dy() {
		s, d := b.pix[y*b.stride:], dst.Pix[y*dst.Stride:]
		for i := 0; i < 4*b.bounds.Dx(); i += 4 {
			d[i], d[i+1], d[i+2], d[i+3] = s[i+2], s[i+1], s[i], 0xff
		}
	}
	return dst
}
