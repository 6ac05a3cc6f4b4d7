package e2e

import (
	"image"
	"strconv"
	"testing"

	"nearglass/server/e2e/desk"
)

// TestPhoneKeys: the soft keyboard types text, and the strip of keys gives what
// a phone's keyboard lacks.
func TestPhoneKeys(t *testing.T) {
	x := startX(t, desk.Screen{Width: 800, Height: 600})
	term := startTerminal(t, x, true)
	v := phoneOn(t, x, upright)
	v.tap(t, image.Pt(200, 200)) // the keyboard follows the pointer here
	v.press(t, "toolbar-tab")
	v.press(t, "btn-keyboard")
	must(t, v.WaitFor("document.activeElement?.dataset.testid == 'keyboard-input' && document.activeElement.inputMode == 'text'", patience))
	must(t, v.WaitFor(visible("softkeys"), patience))
	typed := ""
	for _, s := range []struct {
		name string
		act  func(t *testing.T)
		want string
	}{
		{"text", func(t *testing.T) { must(t, v.Insert("Grüße 日本")) }, "Grüße 日本"},
		{"backspace", func(t *testing.T) { must(t, v.Key("Backspace", "Backspace")) }, "\x7f"},
		{"enter", func(t *testing.T) { must(t, v.Key("Enter", "Enter")) }, "\r"},
		{"escape", func(t *testing.T) { v.press(t, "key-Escape") }, "\x1b"},
		{"tab", func(t *testing.T) { v.press(t, "key-Tab") }, "\t"},
		{"up", func(t *testing.T) { v.press(t, "key-ArrowUp") }, "\x1b[A"},
		{"down", func(t *testing.T) { v.press(t, "key-ArrowDown") }, "\x1b[B"},
		{"right", func(t *testing.T) { v.press(t, "key-ArrowRight") }, "\x1b[C"},
		{"left", func(t *testing.T) { v.press(t, "key-ArrowLeft") }, "\x1b[D"},
		{"f5", func(t *testing.T) { v.press(t, "key-F5") }, "\x1b[15~"},
		{"f12", func(t *testing.T) { v.press(t, "key-F12") }, "\x1b[24~"},
		{"control for one key", func(t *testing.T) {
			v.press(t, "key-ControlLeft")
			must(t, v.Insert("c"))
			must(t, v.Insert("c"))
		}, "\x03c"},
		{"control locked", func(t *testing.T) {
			v.press(t, "key-ControlLeft")
			v.press(t, "key-ControlLeft")
			must(t, v.Insert("a"))
			must(t, v.Insert("e"))
			v.press(t, "key-ControlLeft")
			must(t, v.Insert("x"))
		}, "\x01\x05x"},
		{"alt", func(t *testing.T) {
			v.press(t, "key-AltLeft")
			v.press(t, "key-ArrowUp")
		}, "\x1b[1;3A"},
		{"shift", func(t *testing.T) {
			v.press(t, "key-ShiftLeft")
			v.press(t, "key-Tab")
		}, "\x1b[Z"},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.act(t)
			typed += s.want
			term.wait(t, typed)
		})
	}
	waitNothingHeld(t, x)
	testUnmoved(t, v.Page)
}

// press taps the middle of an element, scrolled into view as a person would.
func (v *viewer) press(t *testing.T, testid string) {
	t.Helper()
	must(t, v.WaitFor(visible(testid), patience))
	type spot struct {
		X, Y float64
		Hit  bool
	}
	s, err := desk.Eval[spot](v.Page, `(async () => {
		const e = document.querySelector("[data-testid=`+testid+`]");
		e.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
		const frame = () => new Promise(requestAnimationFrame), place = () => JSON.stringify(e.getBoundingClientRect());
		for (let before = "", still = 0, n = 0; still < 3 && n < 300; n++, await frame()) {
			still = place() === before ? still + 1 : 0;
			before = place();
		}
		const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + r.height / 2;
		return { X: x, Y: y, Hit: e.contains(document.elementFromPoint(x, y)) };
	})()`)
	must(t, err)
	if !s.Hit {
		t.Errorf("a finger cannot reach %s at %.0f, %.0f", testid, s.X, s.Y)
	}
	must(t, v.Tap(s.X, s.Y))
}

func visible(testid string) string {
	return `document.querySelector("[data-testid=` + testid + `]")?.checkVisibility({ opacityProperty: true, visibilityProperty: true })`
}

// TestPhoneFits: on a small phone, in both orientations, no page is cut off or
// wider than the window, and every control is large enough for a finger.
func TestPhoneFits(t *testing.T) {
	x := startX(t, desk.Screen{Width: 1280, Height: 720})
	h := startHost(t, desk.HostOptions{Display: x.Name()})
	p, err := browser(t).NewPage()
	must(t, err)
	t.Cleanup(p.Close)
	v := &viewer{Page: p, x: x, host: h}
	both := func(name string, tall bool) {
		for _, port := range []desk.Viewport{upright, lying} {
			t.Run(name+" at "+strconv.Itoa(port.Width), func(t *testing.T) {
				must(t, p.Viewport(port))
				must(t, p.WaitFor("innerWidth == "+strconv.Itoa(port.Width), patience))
				testFits(t, p, tall)
			})
		}
		must(t, p.Viewport(upright))
		must(t, p.WaitFor("innerWidth == "+strconv.Itoa(upright.Width), patience))
	}
	must(t, p.Viewport(upright))
	must(t, p.Open(h.URL))
	waitState(t, p, "pairing")
	both("pairing", true)
	pair(t, p, h.PairURL)
	must(t, p.WaitFor("document.querySelector('[data-testid=sources-page] a')", patience))
	both("the list", true)
	watch(t, p, "desktop")
	both("the picture", false)
	v.settleLayout(t)
	v.press(t, "toolbar-tab")
	v.press(t, "btn-keyboard")
	must(t, p.WaitFor(visible("softkeys"), patience))
	both("the picture with keys", false)
	v.press(t, "toolbar-tab")
	v.press(t, "btn-stats")
	both("the picture with stats", false)
}

// testFits looks for controls and texts outside the window and for controls
// too small to hit. A tall page may be longer than the window, never wider. A
// strip that scrolls sideways by itself may hold more than it shows.
func testFits(t *testing.T, p *desk.Page, tall bool) {
	t.Helper()
	list, err := desk.Eval[[]string](p, `(async () => {
		await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
		await Promise.all(document.getAnimations().map(a => a.finished.catch(() => {})).filter((_, i) => document.getAnimations()[i]?.effect.getTiming().iterations !== Infinity));
		const wrong = [], d = document.scrollingElement, tall = `+strconv.FormatBool(tall)+`;
		if (d.scrollWidth > innerWidth) wrong.push("the page is " + d.scrollWidth + " wide");
		if (!tall && d.scrollHeight > innerHeight) wrong.push("the page is " + d.scrollHeight + " high");
		const scrolls = e => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
			if (/auto|scroll/.test(getComputedStyle(p).overflowX) && p.scrollWidth > p.clientWidth) return true; return false; };
		for (const e of document.querySelectorAll("button, a, input, h1, h2, p, label, [role=status], dt, dd, th, td")) {
			if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.closest(".visually-hidden") || scrolls(e)) continue;
			const r = e.getBoundingClientRect(), name = e.dataset.testid ?? e.innerText.slice(0, 30);
			if (r.width === 0 || r.height === 0) continue;
			if (r.left < -0.5 || r.right > innerWidth + 0.5) wrong.push(name + " reaches from " + r.left + " to " + r.right);
			if (!tall && (r.top < -0.5 || r.bottom > innerHeight + 0.5)) wrong.push(name + " reaches from " + r.top + " down to " + r.bottom);
			if (e.matches("button, input") && Math.min(r.width, r.height) < 24) wrong.push(name + " is " + r.width + " by " + r.height);
		}
		return wrong;
	})()`)
	must(t, err)
	for _, wrong := range list {
		t.Error(wrong)
	}
}
