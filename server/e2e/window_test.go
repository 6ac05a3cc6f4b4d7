package e2e

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"net/url"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// painted is a window and the picture that it must give, covered or not.
type painted struct {
	*desk.Window
	image *image.RGBA
}

// openPainted opens a black window under the window manager.
func openPainted(t *testing.T, x *desk.X, place image.Rectangle, title string) *painted {
	t.Helper()
	p := &painted{Window: openWindow(t, x, place, title)}
	_, err := desk.FindWindow(t.Context(), x.Name(), title)
	must(t, err)
	p.resized(place.Size())
	for i, c := range colors {
		p.fill(image.Rect(0, 0, 30, 40).Add(image.Pt(i%10*36+7, i/10*55+9)), c)
	}
	return p
}

func (p *painted) fill(r image.Rectangle, c color.RGBA) {
	p.Fill(r, c)
	draw.Draw(p.image, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// resized keeps what was painted, on black.
func (p *painted) resized(size image.Point) {
	img := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(img, img.Rect, image.Black, image.Point{}, draw.Src)
	if p.image != nil {
		draw.Draw(img, p.image.Rect, p.image, image.Point{}, draw.Src)
	}
	p.image = img
}

func (p *painted) source() string { return fmt.Sprintf("window:0x%x", p.ID) }

// waitImage waits until the viewer shows this picture.
func (v *viewer) waitImage(t *testing.T, want *image.RGBA) {
	t.Helper()
	var last string
	err := desk.Poll(within(t, patience), "the right picture", func() (bool, error) {
		got, err := v.luma()
		switch {
		case err != nil:
			last = err.Error() // no picture yet
			return false, nil
		case got.size != even(want.Rect.Size()):
			last = fmt.Sprintf("the picture is %v, the window %v", got.size, want.Rect.Size())
			return false, nil
		}
		got = got.part(image.Rectangle{Max: want.Rect.Size()})
		last = got.differences(want)
		return got.psnr(want) >= sharpDB, nil
	})
	if err != nil {
		t.Fatalf("%v; last: %s", err, last)
	}
}

// watchWindow shows a painted window under a window manager and watches it.
func watchWindow(t *testing.T) (*viewer, *painted) {
	t.Helper()
	x := startX(t, desk.Screen{Width: 1280, Height: 720})
	_, err := desk.StartOpenbox(shared.ctx, x.Name())
	must(t, err)
	w := openPainted(t, x, image.Rect(100, 100, 500, 340), "the-window")
	v := watchSource(t, x, w.source())
	v.waitImage(t, w.image)
	return v, w
}

// TestWindow: a window is shown as it would look alone, wherever it is.
func TestWindow(t *testing.T) {
	v, w := watchWindow(t)
	t.Run("covered", func(t *testing.T) {
		place, err := w.Place()
		must(t, err)
		cover := openWindow(t, v.x, place.Inset(-40), "cover")
		must(t, cover.Raise())
		cover.Fill(image.Rect(0, 0, 900, 900), color.RGBA{90, 200, 90, 255})
		settle(t, v.x, image.Rectangle{}, time.Now())
		w.fill(image.Rect(50, 150, 250, 230), color.RGBA{255, 255, 255, 255})
		v.waitImage(t, w.image)
	})
	t.Run("moved", func(t *testing.T) {
		must(t, w.Set(image.Rect(650, 350, 1050, 590)))
		w.fill(image.Rect(20, 200, 120, 220), color.RGBA{0, 128, 255, 255})
		v.waitImage(t, w.image)
		place, err := w.Place()
		must(t, err)
		v.clickLands(t, w.Window, image.Pt(200, 100), place.Min.Add(image.Pt(200, 100)))
	})
	t.Run("partly outside", func(t *testing.T) {
		must(t, w.Set(image.Rect(-100, 500, 300, 740)))
		w.fill(image.Rect(0, 100, 50, 150), color.RGBA{255, 128, 0, 255})
		v.waitImage(t, w.image)
	})
	t.Run("resized", func(t *testing.T) {
		for _, size := range []image.Point{{600, 400}, {371, 253}} {
			must(t, w.Set(image.Rectangle{Min: image.Pt(200, 150), Max: image.Pt(200, 150).Add(size)}))
			w.resized(size)
			v.waitImage(t, w.image)
		}
		place, err := w.Place()
		must(t, err)
		v.clickLands(t, w.Window, image.Pt(370, 252), place.Min.Add(image.Pt(370, 252)))
	})
	if n := v.sessions(); n != 1 {
		t.Errorf("the viewer needed %d streams, not 1", n)
	}
}

// TestWindowMinimized: it says so, and comes back with what changed meanwhile.
func TestWindowMinimized(t *testing.T) {
	v, w := watchWindow(t)
	id := fmt.Sprint(w.ID)
	for range 2 {
		_, err := desk.Xdotool(t.Context(), v.x.Name(), "windowminimize", id)
		must(t, err)
		waitState(t, v.Page, "paused", "minimi")
		t.Log(pageState(v.Page))
		w.fill(image.Rect(5, 5, 105, 105), color.RGBA{200, 0, 100, 255})
		_, err = desk.Xdotool(t.Context(), v.x.Name(), "windowmap", id)
		must(t, err)
		waitLive(t, v.Page)
		v.waitImage(t, w.image)
	}
}

// TestWindowClosed: the stream ends, and the viewer reads why.
func TestWindowClosed(t *testing.T) {
	v, w := watchWindow(t)
	w.Close()
	waitState(t, v.Page, "ended", "The window was closed")
	must(t, desk.Poll(within(t, patience), "the host to end the stream", func() (bool, error) {
		return v.logged("viewer ended"), nil
	}))
	must(t, v.Run(`document.querySelector("[data-testid=verdict-back]").click()`))
	must(t, v.WaitFor("nearglass.state == 'sources'", patience))
}

// TestUnknownSource: a source that never was is no reason to try for ever.
func TestUnknownSource(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	h := startHost(t, desk.HostOptions{Display: x.Name()})
	p := newPage(t, image.Pt(640, 480))
	pair(t, p, h.PairURL)
	for _, source := range []string{"window:0xffffffff", "display:../..", "nope"} {
		must(t, p.Run("location.hash = '#/watch/"+url.PathEscape(source)+"'"))
		waitState(t, p, "failed", "")
		must(t, p.Run(`document.querySelector("[data-testid=verdict-back]").click()`))
		must(t, p.WaitFor("nearglass.state == 'sources'", patience))
	}
}
