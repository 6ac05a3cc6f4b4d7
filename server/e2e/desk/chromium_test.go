package desk

import (
	"image"
	"image/color"
	"net/url"
	"testing"
	"time"
)

func browser(t *testing.T, o BrowserOptions) *Chromium {
	t.Helper()
	b, err := StartChromium(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func openHTML(t *testing.T, b *Chromium, html string) *Page {
	t.Helper()
	p, err := b.NewPage()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if err := p.Open("data:text/html," + url.PathEscape(html)); err != nil {
		t.Fatal(err)
	}
	return p
}

// recorder is a page that keeps what its hands do.
const recorder = `<body style="margin:0;background:rgb(10,200,30)"><input style="position:absolute;left:0;top:300px"><script>
window.log = [];
for (const n of ["pointerdown", "pointerup", "wheel", "keydown", "keyup", "touchstart", "touchmove", "touchend"])
	addEventListener(n, e => log.push([n, e.pointerType ?? e.code ?? e.touches?.length ?? "", Math.round(e.clientX ?? e.touches?.[0]?.clientX ?? -1),
		e.deltaY ?? e.button ?? e.key ?? "", e.shiftKey].join(" ")), { passive: true });
</script></body>`

func TestChromium(t *testing.T) {
	b := browser(t, BrowserOptions{})
	t.Run("page", func(t *testing.T) { testPage(t, b) })
	t.Run("hands", func(t *testing.T) { testHands(t, b) })
	t.Run("touch", func(t *testing.T) { testTouch(t, b) })
	t.Run("hidden", func(t *testing.T) { testHidden(t, b) })
	t.Run("video", func(t *testing.T) { testVideo(t, b) })
}

func testPage(t *testing.T, b *Chromium) {
	p := openHTML(t, b, recorder)
	if n, err := Eval[int](p, "1 + 1"); n != 2 || err != nil {
		t.Errorf("1 + 1 = %d, %v", n, err)
	}
	if s, err := Eval[string](p, "Promise.resolve('later')"); s != "later" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
	if _, err := Eval[int](p, "nowhere.at.all"); err == nil {
		t.Error("an exception was lost")
	}
	if err := p.WaitFor("false", 50*time.Millisecond); err == nil {
		t.Error("waiting for false ended well")
	}
	if err := p.Viewport(Viewport{Width: 400, Height: 320, Scale: 2}); err != nil {
		t.Fatal(err)
	}
	shot, err := p.Screenshot()
	if err != nil {
		t.Fatal(err)
	}
	if shot.Rect.Size() != image.Pt(800, 640) || Mean(shot, image.Rect(10, 10, 90, 90)) != (color.RGBA{10, 200, 30, 255}) {
		t.Errorf("screenshot of %v, %v", shot.Rect, Mean(shot, image.Rect(10, 10, 90, 90)))
	}
}

func testHands(t *testing.T, b *Chromium) {
	p := openHTML(t, b, recorder)
	steps := []error{
		p.Click(Right, 33, 44), p.Wheel(50, 50, 0, 120), p.Click(Left, 5, 310),
		p.KeyDown("ShiftLeft", "Shift"), p.Key("KeyA", "A"), p.KeyUp("ShiftLeft", "Shift"), p.Insert("ü日"),
	}
	for i, err := range steps {
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	if s, err := Eval[string](p, "document.querySelector('input').value"); s != "Aü日" || err != nil {
		t.Errorf("typed %q, %v", s, err)
	}
	for _, want := range []string{"pointerdown mouse 33 2 false", "pointerup mouse 33 2 false", "wheel  50 120 false", "keydown KeyA -1 A true"} {
		if ok, err := Eval[bool](p, "log.includes('"+want+"')"); !ok || err != nil {
			log, _ := Eval[[]string](p, "log")
			t.Errorf("no %q in %q, %v", want, log, err)
		}
	}
}

func testTouch(t *testing.T, b *Chromium) {
	p := openHTML(t, b, recorder)
	if err := p.Viewport(Phone); err != nil {
		t.Fatal(err)
	}
	if err := p.Tap(20, 30); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{p.TouchStart(Finger{50, 50}, Finger{90, 90}), p.TouchMove(Finger{40, 40}, Finger{100, 100}), p.TouchEnd()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, err := Eval[int](p, "log.filter(s => s.startsWith('touchstart 2')).length"); n == 0 || err != nil {
		log, _ := Eval[[]string](p, "log")
		t.Errorf("no touch by two fingers in %q, %v", log, err)
	}
	if coarse, err := Eval[bool](p, "matchMedia('(pointer: coarse)').matches"); !coarse || err != nil {
		t.Errorf("a phone without a coarse pointer, %v", err)
	}
}

func testHidden(t *testing.T, b *Chromium) {
	p := openHTML(t, b, recorder)
	s, err := p.Sibling()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.ToFront(); err != nil {
		t.Fatal(err)
	}
	if err := p.WaitFor("document.visibilityState == 'hidden'", 5*time.Second); err != nil {
		t.Error(err)
	}
	if err := p.ToFront(); err != nil {
		t.Fatal(err)
	}
	if err := p.WaitFor("document.visibilityState == 'visible'", 5*time.Second); err != nil {
		t.Error(err)
	}
}

func testVideo(t *testing.T, b *Chromium) {
	p := openHTML(t, b, `<canvas width=320 height=200></canvas><video muted autoplay></video>`)
	if _, err := p.VideoPicture("video"); err == nil {
		t.Error("a video without a picture gave one")
	}
	err := p.Run(`const c = document.querySelector("canvas"), g = c.getContext("2d");
		const paint = () => { g.fillStyle = "rgb(200,100,50)"; g.fillRect(0, 0, 320, 200); requestAnimationFrame(paint) };
		paint();
		document.querySelector("video").srcObject = c.captureStream(30)`)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WaitFor("document.querySelector('video').videoWidth == 320", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	got, err := p.VideoPicture("video")
	if err != nil {
		t.Fatal(err)
	}
	if got.Rect.Size() != image.Pt(320, 200) || Apart(Mean(got, got.Rect), color.RGBA{200, 100, 50, 255}) > 3 {
		t.Errorf("picture of %v, %v", got.Rect, Mean(got, got.Rect))
	}
}

func TestChromiumOnADisplay(t *testing.T) {
	x := xvfb(t, Screen{Width: 640, Height: 480})
	b := browser(t, BrowserOptions{Display: x.Name(), Kiosk: true, Size: image.Pt(640, 480)})
	p := b.FirstPage()
	if err := p.Open("data:text/html,<body style='background:rgb(20,40,160)'>"); err != nil {
		t.Fatal(err)
	}
	err := Poll(limit(t), "the page to fill the screen", func() (bool, error) {
		shot, err := x.Grab()
		return err == nil && Apart(Mean(shot, shot.Rect), color.RGBA{20, 40, 160, 255}) <= 1, err
	})
	if err != nil {
		shot, _ := x.Grab()
		t.Errorf("%v; the screen's mean is %v", err, Mean(shot, shot.Rect))
	}
}
