package e2e

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// stillFor is how long a screen is watched for pictures that it should not
// cause. The host's figures may lag by the time that the page calls fresh.
const (
	stillFor  = 5 * time.Second
	figureLag = 2500 * time.Millisecond
)

// waitQuiet waits until the host has encoded nothing for a second or two and
// gives how many pictures it has encoded.
func (v *viewer) waitQuiet(t *testing.T) int {
	t.Helper()
	encoded, since := -1, time.Now()
	must(t, desk.Poll(within(t, patience), "the host to encode nothing", func() (bool, error) {
		if n := v.stats(t).Encoded; n != encoded {
			encoded, since = n, time.Now()
		}
		return time.Since(since) > figureLag+time.Second, nil
	}))
	return encoded
}

// encodedSince gives how many pictures were encoded since waitQuiet gave n, up
// to now. It waits until the figures are of now.
func (v *viewer) encodedSince(t *testing.T, n int) int {
	t.Helper()
	time.Sleep(figureLag)
	return v.stats(t).Encoded - n
}

// stillDesktop shows a terminal under a window manager.
func stillDesktop(t *testing.T) (*viewer, *desk.Xterm) {
	t.Helper()
	x := startX(t, desk.Screen{Width: 1280, Height: 720})
	_, err := desk.StartOpenbox(shared.ctx, x.Name())
	must(t, err)
	term, err := desk.StartXterm(shared.ctx, x.Name(), "-e", "sh", "-c", "ls -l /; exec sleep 600")
	must(t, err)
	v := watchDesktop(t, x)
	v.waitRight(t, image.Rectangle{})
	return v, term
}

// TestStillScreen: what does not change is not encoded, and a pointer that moves
// over it is not a change.
func TestStillScreen(t *testing.T) {
	v, term := stillDesktop(t)
	inside := windowPlace(t, v.x, term.Window).Inset(20)
	t.Run("nothing moves", func(t *testing.T) {
		n := v.waitQuiet(t)
		time.Sleep(stillFor)
		if more := v.encodedSince(t, n); more != 0 {
			t.Errorf("%d pictures of a still screen within %v", more, stillFor)
		}
	})
	t.Run("the host's pointer moves", func(t *testing.T) { v.testHostPointer(t, inside) })
	t.Run("the viewer's pointer moves", func(t *testing.T) { v.testViewerPointer(t, inside) })
	if db := v.waitRight(t, image.Rectangle{}); db < sharpDB {
		t.Errorf("the picture is at %.1f dB in the end", db)
	}
}

// windowPlace is where a window's content is on the screen.
func windowPlace(t *testing.T, x *desk.X, window uint32) image.Rectangle {
	t.Helper()
	out, err := desk.Xdotool(t.Context(), x.Name(), "getwindowgeometry", "--shell", fmt.Sprint(window))
	must(t, err)
	var id, left, top, w, h, screen int
	_, err = fmt.Sscanf(strings.TrimSpace(out), "WINDOW=%d\nX=%d\nY=%d\nWIDTH=%d\nHEIGHT=%d\nSCREEN=%d", &id, &left, &top, &w, &h, &screen)
	must(t, err)
	return image.Rect(left, top, left+w, top+h)
}

// spriteSpy notes each place at which the viewer draws the pointer.
const spriteSpy = `
	const sprite = document.querySelector("[data-testid=pointer]");
	window.spots = [];
	new MutationObserver(() => { if (!sprite.hidden) spots.push(sprite.style.transform) }).observe(sprite, { attributes: true });`

// pointerDrawn says whether the viewer draws the pointer, hot spot included,
// with its top left corner within a shape's size of this place in the picture.
const pointerDrawn = `(() => {
	const s = document.querySelector("[data-testid=pointer]"), p = nearglass.view;
	if (s.hidden) return false;
	const b = s.getBoundingClientRect(), x = p.left + %d, y = p.top + %d;
	return b.left <= x + 1 && x <= b.right && b.top <= y + 1 && y <= b.bottom;
})()`

// testHostPointer moves the pointer at the host for two seconds.
func (v *viewer) testHostPointer(t *testing.T, inside image.Rectangle) {
	v.moveAtHost(t, inside.Min)
	must(t, v.WaitFor(fmt.Sprintf(pointerDrawn, inside.Min.X, inside.Min.Y), patience))
	must(t, v.Run(spriteSpy))
	beam := v.spriteShape(t)
	n := v.waitQuiet(t)
	v.strokeAtHost(t, 40, 2*time.Second)
	if more := v.encodedSince(t, n); more != 0 {
		t.Errorf("%d pictures while the pointer moved over a still window", more)
	}
	spots, err := desk.Eval[int](v.Page, "new Set(spots).size")
	must(t, err)
	if spots < 20 {
		t.Errorf("the viewer drew the pointer at %d places; it was at 40", spots)
	}
	v.moveAtHost(t, image.Pt(1100, 650)) // the background
	must(t, v.WaitFor(fmt.Sprintf(pointerDrawn, 1100, 650), patience))
	if arrow := v.spriteShape(t); arrow == beam {
		t.Error("the pointer has the same shape over text and over the background")
	}
	t.Logf("the viewer drew the pointer at %d places", spots)
}

// strokeAtHost moves the pointer in so many steps of 5 pixels right and 3 down,
// as a mouse does.
func (v *viewer) strokeAtHost(t *testing.T, steps int, d time.Duration) {
	t.Helper()
	var args []string
	for range steps {
		args = append(args, "mousemove_relative", "5", "3", "sleep", fmt.Sprint(d.Seconds()/float64(steps)))
	}
	_, err := desk.Xdotool(t.Context(), v.x.Name(), args...)
	must(t, err)
}

func (v *viewer) moveAtHost(t *testing.T, at image.Point) {
	t.Helper()
	_, err := desk.Xdotool(t.Context(), v.x.Name(), "mousemove", fmt.Sprint(at.X), fmt.Sprint(at.Y))
	must(t, err)
}

func (v *viewer) spriteShape(t *testing.T) string {
	t.Helper()
	src, err := desk.Eval[string](v.Page, `document.querySelector("[data-testid=pointer]").src`)
	must(t, err)
	return src
}

// testViewerPointer moves the mouse over the picture for two seconds.
func (v *viewer) testViewerPointer(t *testing.T, inside image.Rectangle) {
	const cursor = `getComputedStyle(document.querySelector("[data-testid=stage]")).cursor`
	v.moveTo(t, image.Pt(1100, 650))
	must(t, v.WaitFor(cursor+".startsWith('url')", patience))
	arrow, err := desk.Eval[string](v.Page, cursor)
	must(t, err)
	v.moveTo(t, inside.Min)
	must(t, v.WaitFor(cursor+".startsWith('url') && "+cursor+" != "+fmt.Sprintf("%q", arrow), patience))
	n := v.waitQuiet(t)
	end := inside.Min
	for begin, i := time.Now(), 0; time.Since(begin) < 2*time.Second; i++ {
		end = inside.Min.Add(image.Pt(i*7%inside.Dx(), i*5%inside.Dy()))
		v.moveTo(t, end)
	}
	must(t, desk.Poll(within(t, patience), "the host's pointer to follow", func() (bool, error) {
		at, err := v.x.Pointer()
		return at == end, err
	}))
	if more := v.encodedSince(t, n); more != 0 {
		t.Errorf("%d pictures while the pointer moved over a still window", more)
	}
}

// moveTo moves the viewer's mouse to a pixel of the picture.
func (v *viewer) moveTo(t *testing.T, at image.Point) {
	t.Helper()
	x, y := v.toPage(t, at)
	must(t, v.Move(x, y))
}
