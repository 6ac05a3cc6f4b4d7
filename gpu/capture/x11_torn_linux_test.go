package capture

import (
	"image"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
)

// TestTornPictures has a program paint a screen in one color after the other, and
// each in two requests: the upper half, and the lower half when the capture has
// taken the damage of the upper one and not yet copied it.
func TestTornPictures(t *testing.T) {
	startX(t, 113, "640x480")
	for _, test := range []struct {
		name   string
		copies int
		torn   bool
	}{{"copied once", 1, true}, {"copied again", mostCopies, false}} {
		t.Run(test.name, func(t *testing.T) {
			p := &tornPainter{xclient: newClient(t, 113)}
			// At 4 pictures a second a copy has an eighth of a second, however busy the
			// machine is.
			v := watchChanged(t, openX(t, 113), "desktop", Options{FPS: 4, Mark: p.lower}, func(c Capture) { c.(*x11Capture).copies = test.copies })
			eventually(t, "the first picture came", v.take)
			const pictures = 6
			torn := 0
			for n := range uint32(pictures) {
				if p.upper(0x203040*(n+1)) != v.next() {
					torn++
				}
				v.shows("the whole screen in one color", func() []byte { return plain(image.Pt(640, 480), p.color.Load()) })
			}
			t.Logf("%d of %d pictures torn", torn, pictures)
			if want := map[bool]int{true: pictures}[test.torn]; torn != want {
				t.Errorf("%d of %d pictures are torn, want %d", torn, pictures, want)
			}
		})
	}
}

// tornPainter paints a screen in halves.
type tornPainter struct {
	*xclient
	color atomic.Uint32
	armed atomic.Bool // the lower half has yet to be painted
}

// upper paints the upper half.
func (p *tornPainter) upper(color uint32) uint32 {
	p.color.Store(color)
	p.armed.Store(true)
	p.fill(p.root, image.Rect(0, 0, 640, 240), color)
	return color
}

// lower paints the lower half. A capture calls it between taking damage and copying.
func (p *tornPainter) lower() uint64 {
	if p.armed.Swap(false) {
		_ = xproto.PolyFillRectangleChecked(p.conn, xproto.Drawable(p.root), p.gc, []xproto.Rectangle{{Y: 240, Width: 640, Height: 240}}).Check()
	}
	return 0
}

// next waits for the next picture and gives the color of its last pixel.
func (v *viewer) next() uint32 {
	v.t.Helper()
	eventually(v.t, "the next picture came", v.take)
	pix := v.pix[len(v.pix)-4:]
	return uint32(pix[0]) | uint32(pix[1])<<8 | uint32(pix[2])<<16
}

func TestAgain(t *testing.T) {
	const every = 16 * time.Millisecond
	for _, test := range []struct {
		name         string
		copies, most int
		took         time.Duration
		want         bool
	}{
		{"a small copy", 1, mostCopies, 200 * time.Microsecond, true},
		{"a copy of a large screen", 1, mostCopies, 4 * time.Millisecond, true},
		{"a copy that leaves no time for another", 1, mostCopies, 5 * time.Millisecond, false},
		{"two that leave time", 2, mostCopies, 5 * time.Millisecond, true},
		{"two that do not", 2, mostCopies, 6 * time.Millisecond, false},
		{"enough copies", mostCopies, mostCopies, time.Millisecond, false},
		{"a capture that copies once", 1, 1, time.Millisecond, false},
	} {
		if got := again(test.copies, test.most, test.took, every); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
