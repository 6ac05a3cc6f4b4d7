package e2e

import (
	"context"
	"image"
	"image/color"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// recordPlaces notes every place that the picture is shown in from now on.
const recordPlaces = `(() => {
	window.places = new Set();
	const note = () => {
		const r = document.querySelector("video").getBoundingClientRect();
		places.add([r.left, r.top, r.width, r.height].join(" "));
		requestAnimationFrame(note);
	};
	note();
})()`

// TestSmallerPictures: on a path too narrow for a film its pictures are sent
// smaller, and are shown where they were: the place does not move by a pixel, and
// a click lands on the pixel that was meant. Afterwards they grow again.
func TestSmallerPictures(t *testing.T) {
	size := image.Pt(800, 600)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	ground := openWindow(t, x, image.Rectangle{Max: size}, "ground")
	v := watchSource(t, x, "desktop", "--bitrate", "300k")
	v.fit(t, desk.Viewport{Width: 1001, Height: 640})
	must(t, v.Run(recordPlaces))

	end := play(t, ground, size)
	for _, received := range []string{"< 800", "== 400"} {
		v.waitWidth(t, received)
		for _, spot := range spotsOf(size) {
			v.testLandsScaled(t, ground, spot, size)
		}
	}
	end()
	ground.Fill(image.Rectangle{Max: size}, color.RGBA{40, 90, 160, 255})
	v.waitWidth(t, "== 800")
	v.waitRight(t, image.Rectangle{})
	v.testLands(t, ground, at(311, 222), at(311, 222))

	places, err := desk.Eval[[]string](v.Page, "[...places]")
	must(t, err)
	if len(places) != 1 {
		t.Errorf("the picture was shown in several places: %q", places)
	}
}

// play shows a film that no narrow path carries, until it is ended.
func play(t *testing.T, w *desk.Window, size image.Point) (end func()) {
	t.Helper()
	var pictures []*image.RGBA
	for i := range 4 {
		p := photo(size.Add(image.Pt(7*i, 5*i)), 40).SubImage(image.Rectangle{image.Pt(7*i, 5*i), size.Add(image.Pt(7*i, 5*i))})
		pictures = append(pictures, p.(*image.RGBA))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second / 20)
		defer tick.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			if w.Draw(image.Point{}, pictures[i%len(pictures)]) != nil {
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-done }
}

// waitWidth waits until the width of the received picture is as wanted.
func (v *viewer) waitWidth(t *testing.T, wanted string) {
	t.Helper()
	must(t, v.WaitFor(`document.querySelector("video").videoWidth `+wanted, patience))
}

// testLandsScaled clicks a pixel of a source of this size, however small its
// picture is sent.
func (v *viewer) testLandsScaled(t *testing.T, ground *desk.Window, spot, size image.Point) {
	t.Helper()
	type place struct{ Left, Top, Width, Height float64 }
	p, err := desk.Eval[place](v.Page, `({ Left: nearglass.view.left, Top: nearglass.view.top, Width: nearglass.view.width, Height: nearglass.view.height })`)
	must(t, err)
	ground.Forget()
	must(t, v.Click(desk.Left, p.Left+(float64(spot.X)+0.5)*p.Width/float64(size.X), p.Top+(float64(spot.Y)+0.5)*p.Height/float64(size.Y)))
	if e := waitEvent(t, ground, "the click", isRelease(1)); e.Root != spot {
		t.Errorf("a click on %v, in a smaller picture, came at %v", spot, e.Root)
	}
}
