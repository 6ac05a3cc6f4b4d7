package capture

import (
	"context"
	"image"
	"strings"
	"testing"
	"time"

	"nearglass/gpu"
)

// center returns the middle of the first widget of this type.
func center[W widget](d *Demo) (W, int, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.desktop.widgets {
		if w, ok := w.(W); ok {
			r := w.bounds()
			return w, (r.Min.X + r.Max.X) / 2, (r.Min.Y + r.Max.Y) / 2
		}
	}
	panic("the demo has no such widget")
}

// TestDemoAnswersEveryInput applies each kind of input and checks what it did.
func TestDemoAnswersEveryInput(t *testing.T) {
	d := NewDemo()
	f, fx, fy := center[*field](d)
	l, lx, ly := center[*list](d)
	p, px, py := center[*pad](d)
	b, bx, by := center[*button](d)
	press := func(keys ...string) {
		for _, k := range keys {
			d.Key(k, true)
			d.Key(k, false)
		}
	}
	for _, test := range []struct {
		name string
		do   func()
		ok   func() bool
	}{
		{"typing", func() { press("KeyH", "KeyI", "Space", "Digit1") }, func() bool { return f.text == "hi 1" }},
		{"shift", func() { d.Key("ShiftLeft", true); press("KeyA", "Digit1"); d.Key("ShiftLeft", false); press("KeyB") }, func() bool { return f.text == "hi 1A!b" }},
		{"erasing", func() { press("Backspace", "Backspace", "Backspace") }, func() bool { return f.text == "hi 1" }},
		{"text", func() { d.Text("äöüß€日本語") }, func() bool { return f.text == "hi 1äöüß€日本語" }},
		{"long text", func() { d.Text(strings.Repeat("é", 2000)) }, func() bool { return len(f.text) <= fieldLimit && strings.HasPrefix(f.text, "é") }},
		{"wheel", func() { d.Pointer(lx, ly); d.Wheel(0, 2) }, func() bool { return l.scroll == 6*rowHeight }},
		{"wheel far up", func() { d.Wheel(0, -100) }, func() bool { return l.scroll == 0 }},
		{"choosing", func() { d.Button(0, true); d.Button(0, false) }, func() bool { return l.selected == (ly-l.area.Min.Y)/rowHeight }},
		{"arrow", func() { press("ArrowDown") }, func() bool { return l.selected == (ly-l.area.Min.Y)/rowHeight+1 }},
		{"pointing", func() { d.Pointer(bx, by) }, func() bool { return b.over }},
		{"clicking", func() { d.Button(0, true); d.Button(0, false) }, func() bool { return b.clicks == 1 && !b.held }},
		{"leaving while held", func() { d.Button(0, true); d.Pointer(px, py); d.Button(0, false) }, func() bool { return b.clicks == 1 && !b.over }},
		{"drawing", func() { d.Button(0, true); d.Pointer(px+20, py+10); d.Button(0, false) }, func() bool {
			return !p.empty && p.layer.RGBAAt(px+10, py+5) == colorWarm && !p.drawing
		}},
		{"outside", func() { d.Pointer(-5, 100000) }, func() bool { x, y, _, _ := d.Cursor(); return x == 0 && y == 719 }},
	} {
		d.mu.Lock()
		d.desktop.dirty.Reset()
		before := d.inputs
		d.mu.Unlock()
		test.do()
		if !test.ok() {
			t.Errorf("%s did not have its effect", test.name)
		}
		if d.desktop.dirty.Empty() || d.inputs == before {
			t.Errorf("%s shows nothing", test.name)
		}
	}
	for _, want := range []struct {
		x, y  int
		shape string
	}{{fx, fy, "text"}, {px, py, "crosshair"}, {bx, by, "pointer"}, {5, 60, "default"}} {
		d.Pointer(want.x, want.y)
		if _, _, _, shape := d.Cursor(); shape != want.shape {
			t.Errorf("the pointer at %d, %d is %q, want %q", want.x, want.y, shape, want.shape)
		}
	}
}

// TestDemoDamageIsEnough draws and types while pictures are taken, and compares
// the copy that was updated by damage with the whole picture.
func TestDemoDamageIsEnough(t *testing.T) {
	for _, pointer := range []bool{false, true} {
		d := NewDemo()
		v := watch(t, d, "demo", Options{Pointer: pointer, FPS: 200, Size: image.Pt(900, 600)})
		eventually(t, "the first picture came", v.take)
		for i := range 60 {
			d.Pointer(300+i*5, 380+i*2)
			d.Button(0, i%7 != 0)
			d.Text("x")
			d.Wheel(0, 0.3)
			eventually(t, "the input shows", v.take)
		}
		v.cancel()
		eventually(t, "the capture ends", func() bool { return len(v.done) == 1 })
		v.take()
		fresh := v.ring.NewReader()
		f, err := fresh.Take()
		if err != nil || f == nil {
			t.Fatal(err)
		}
		if f.Mark == 0 {
			t.Error("the picture names no input")
		}
		same(t, v.pix, f)
		f.Release()
	}
}

func same(t *testing.T, pix []byte, f *gpu.Frame) {
	t.Helper()
	for y := range f.Size.Y {
		if row := 4 * f.Size.X; string(pix[y*row:(y+1)*row]) != string(f.Pix[y*f.Stride:y*f.Stride+row]) {
			t.Fatalf("row %d differs", y)
		}
	}
}

func TestDemoOpen(t *testing.T) {
	d := NewDemo()
	_, err := d.Open(context.Background(), "desktop", Options{})
	wantError(t, err, ErrNotFound)
	c, err := d.Open(context.Background(), "demo", Options{Size: image.Pt(1920, 1080)})
	if err != nil || c.Place().Size != image.Pt(1920, 1080) {
		t.Errorf("opened at %v, error %v", c.Place(), err)
	}
}

// BenchmarkDemoFrame is one picture of the animation at 1280x720.
func BenchmarkDemoFrame(b *testing.B) {
	d := newDesktop(defaultSize)
	now := time.Now()
	d.tick(now)
	d.repaint(nil)
	for b.Loop() {
		now = now.Add(time.Second / demoFPS)
		d.tick(now)
		d.repaint(nil)
	}
}
