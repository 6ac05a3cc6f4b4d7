package e2e

import (
	"image"
	"testing"

	"nearglass/server/e2e/desk"
)

// Where the demo desktop of 1280 by 720 has its notes and its sketch pad.
var (
	demoNotes = image.Rect(370, 120, 810, 300)
	demoPad   = image.Rect(370, 450, 810, 640)
)

// clearlyDiffers counts the pixels of a part by which two pictures of a viewer
// differ by more than 30 of 255.
func clearlyDiffers(a, b luma, r image.Rectangle) int {
	count := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			i := y*a.size.X + x
			if d := full(a.y[i]) - full(b.y[i]); d > 30 || d < -30 {
				count++
			}
		}
	}
	return count
}

// waitChanges waits until at least so many pixels of a part are clearly other
// than before.
func (v *viewer) waitChanges(t *testing.T, before luma, r image.Rectangle, pixels int, after string) {
	t.Helper()
	n := 0
	err := desk.Poll(within(t, patience), "the picture to change after "+after, func() (bool, error) {
		now, err := v.luma()
		if err == nil && now.size == before.size {
			n = clearlyDiffers(before, now, r)
		}
		return n >= pixels, err
	})
	if err != nil {
		t.Errorf("%v; %d pixels did, %d are needed", err, n, pixels)
	}
}

// TestDemo: without a display there is a desktop to try.
func TestDemo(t *testing.T) {
	size := image.Pt(1280, 720)
	h := startHost(t, desk.HostOptions{})
	v := &viewer{Page: newPage(t, size), host: h}
	pair(t, v.Page, h.PairURL)
	must(t, v.WaitFor("document.querySelectorAll('[data-testid=source]').length == 1", patience))
	must(t, v.Run("document.querySelector('[data-testid=source]').click()"))
	waitLive(t, v.Page)
	must(t, v.WaitFor("nearglass.sourceId == 'demo' && nearglass.frames > 20", patience)) // it moves by itself
	before, err := v.luma()
	must(t, err)
	if before.size != size {
		t.Fatalf("the demo is %v", before.size)
	}
	x, y := v.toPage(t, demoNotes.Min.Add(image.Pt(200, 60)))
	must(t, v.Click(desk.Left, x, y))
	for _, k := range [][2]string{{"KeyH", "h"}, {"KeyA", "a"}, {"KeyL", "l"}, {"KeyL", "l"}, {"KeyO", "o"}} {
		must(t, v.Key(k[0], k[1]))
	}
	v.waitChanges(t, before, demoNotes, 100, "typing")
	before, err = v.luma()
	must(t, err)
	x, y = v.toPage(t, demoPad.Min.Add(image.Pt(100, 80)))
	must(t, v.Press(desk.Left, x, y))
	for i := range 20 {
		must(t, v.Move(x+float64(i*8), y+float64(i%2*20)))
	}
	must(t, v.Release(desk.Left, x+160, y))
	v.waitChanges(t, before, demoPad, 200, "drawing")
}
