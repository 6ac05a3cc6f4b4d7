package e2e

import (
	"image"
	"testing"

	"nearglass/server/e2e/desk"
)

// TestEncoderHoldsTheRate: where the encoder holds the rate by itself the picture gets
// right too, a target that moves brings no key frame, and a still screen is left alone.
func TestEncoderHoldsTheRate(t *testing.T) {
	size := image.Pt(800, 600)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	w := fillScreen(t, x, size)
	v := watchSource(t, x, "desktop", "--rate-control", "cbr", "--full-size")
	v.waitRight(t, image.Rectangle{})
	before, targets := v.stats(t), map[float64]bool{}
	end := keepChanging(t, w)
	must(t, desk.Poll(within(t, patience), "the target to move while pictures do", func() (bool, error) {
		s := v.stats(t)
		targets[s.TargetKbps] = true
		return len(targets) > 3 && s.Encoded > before.Encoded+120, nil
	}))
	end()
	v.waitRight(t, image.Rectangle{})
	v.waitQuiet(t)
	if after := v.stats(t); after.KeyFrames != before.KeyFrames {
		t.Errorf("%d key frames while the target moved", after.KeyFrames-before.KeyFrames)
	}
}
