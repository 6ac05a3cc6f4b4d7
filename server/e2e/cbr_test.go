package e2e

import (
	"image"
	"testing"

	"nearglass/server/e2e/desk"
)

// TestEncoderHoldsTheRate: where the encoder holds the rate by itself the picture gets
// right too, no key frame comes while it moves, and a still screen is left alone. That a
// target which moves brings none is shown where it can be made to: over a path that is
// free it may stay where it is.
func TestEncoderHoldsTheRate(t *testing.T) {
	size := image.Pt(800, 600)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	w := fillScreen(t, x, size)
	v := watchSource(t, x, "desktop", "--rate-control", "cbr", "--full-size")
	v.waitRight(t, image.Rectangle{})
	before := v.stats(t)
	end := keepChanging(t, w)
	must(t, desk.Poll(within(t, patience), "two seconds of pictures", func() (bool, error) {
		return v.stats(t).Encoded > before.Encoded+120, nil
	}))
	end()
	v.waitRight(t, image.Rectangle{})
	v.waitQuiet(t)
	if after := v.stats(t); after.KeyFrames != before.KeyFrames {
		t.Errorf("%d key frames while pictures moved", after.KeyFrames-before.KeyFrames)
	}
}
