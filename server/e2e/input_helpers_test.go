package e2e

import (
	"fmt"
	"image"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"nearglass/server/e2e/desk"
)

// join pairs another page with a running host, as a device of these rights,
// and watches a source.
func join(t *testing.T, h *desk.Host, x *desk.X, rights, source string, size image.Point) *viewer {
	t.Helper()
	p := newPage(t, size)
	pair(t, p, newLink(t, h, rights))
	watch(t, p, source)
	return &viewer{Page: p, x: x, host: h}
}

// newLink asks the host for another pairing link.
func newLink(t *testing.T, h *desk.Host, rights string) string {
	t.Helper()
	link, err := h.Pair(t.Context(), rights)
	must(t, err)
	return link
}

// turnTo shows another source in the same page.
func (v *viewer) turnTo(t *testing.T, source string) {
	t.Helper()
	must(t, v.Run("location.hash = '#/watch/"+url.PathEscape(source)+"'"))
	must(t, v.WaitFor("nearglass.sourceId == "+strconv.Quote(source), patience))
	waitLive(t, v.Page)
}

// fit changes the page's viewport and waits until the picture lies in the
// middle of it and the toolbar is out of the way.
func (v *viewer) fit(t *testing.T, port desk.Viewport) {
	t.Helper()
	must(t, v.Viewport(port))
	v.settleLayout(t)
}

func (v *viewer) settleLayout(t *testing.T) {
	t.Helper()
	v.settlePicture(t)
	must(t, v.WaitFor(`document.querySelector(".bar.folded")`, patience))
}

// settlePicture does not wait for the toolbar, which takes seconds to fold.
func (v *viewer) settlePicture(t *testing.T) {
	t.Helper()
	must(t, v.WaitFor(`(() => {
		const p = nearglass.view, s = document.querySelector("[data-testid=stage]");
		return Math.abs(2 * p.left + p.width - s.clientWidth) <= 2 && Math.abs(2 * p.top + p.height - s.clientHeight) <= 2;
	})()`, patience))
}

// clickAt clicks the middle of a pixel of the picture.
func (v *viewer) clickAt(t *testing.T, b desk.Button, at image.Point) {
	t.Helper()
	x, y := v.toPage(t, at)
	must(t, v.Click(b, x, y))
}

// pressed is what the X server says is held down.
type pressed struct {
	Keys []int  // keycodes
	Mask uint16 // modifiers and buttons, as X counts them
}

func (p pressed) none() bool { return len(p.Keys) == 0 && p.Mask == 0 }

// held asks the X server what is held down.
func held(t *testing.T, x *desk.X) pressed {
	t.Helper()
	conn, err := xgb.NewConnDisplay(x.Name())
	must(t, err)
	defer conn.Close()
	keys, err := xproto.QueryKeymap(conn).Reply()
	must(t, err)
	pointer, err := xproto.QueryPointer(conn, xproto.Setup(conn).DefaultScreen(conn).Root).Reply()
	must(t, err)
	p := pressed{Mask: pointer.Mask}
	for code := range 256 {
		if keys.Keys[code/8]&(1<<(code%8)) != 0 {
			p.Keys = append(p.Keys, code)
		}
	}
	return p
}

// waitHeld waits until what the X server holds is as wanted.
func waitHeld(t *testing.T, x *desk.X, what string, want func(pressed) bool) {
	t.Helper()
	var last pressed
	err := desk.Poll(within(t, patience), what, func() (bool, error) {
		last = held(t, x)
		return want(last), nil
	})
	if err != nil {
		t.Fatalf("%v; held are keys %v, mask %#x", err, last.Keys, last.Mask)
	}
}

func waitNothingHeld(t *testing.T, x *desk.X) {
	t.Helper()
	waitHeld(t, x, "everything to be let go of", pressed.none)
}

// holding is true while exactly these modifiers and buttons are held.
func holding(mask uint16) func(pressed) bool {
	return func(p pressed) bool { return p.Mask == mask }
}

// stroke is how a US keyboard types a character.
type stroke struct {
	code  string
	shift bool
}

// usKeys are the keys of a US keyboard by what they type.
var usKeys = func() map[rune]stroke {
	keys := map[rune]stroke{' ': {"Space", false}}
	row := func(plain, shifted string, code func(rune) string) {
		for i, r := range plain {
			keys[r] = stroke{code(r), false}
			keys[rune(shifted[i])] = stroke{code(r), true}
		}
	}
	row("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", func(r rune) string { return "Key" + strings.ToUpper(string(r)) })
	row("0123456789", ")!@#$%^&*(", func(r rune) string { return "Digit" + string(r) })
	signs := map[rune]string{'`': "Backquote", '-': "Minus", '=': "Equal", '[': "BracketLeft", ']': "BracketRight", '\\': "Backslash",
		';': "Semicolon", '\'': "Quote", ',': "Comma", '.': "Period", '/': "Slash"}
	row("`-=[]\\;',./", `~_+{}|:"<>?`, func(r rune) string { return signs[r] })
	return keys
}()

// typeKeys types by physical keys, with Shift held where it is needed.
func typeKeys(t *testing.T, p *desk.Page, text string) {
	t.Helper()
	shift := false
	for _, r := range text {
		k, ok := usKeys[r]
		if !ok {
			t.Fatalf("no key for %q", r)
		}
		if k.shift != shift {
			shift = k.shift
			must(t, setShift(p, shift))
		}
		must(t, p.Key(k.code, string(r)))
	}
	if shift {
		must(t, setShift(p, false))
	}
}

func setShift(p *desk.Page, down bool) error {
	if down {
		return p.KeyDown("ShiftLeft", "Shift")
	}
	return p.KeyUp("ShiftLeft", "Shift")
}

// terminal is an xterm that writes to a file what is typed into it.
type terminal struct {
	*desk.Xterm
	file string
}

// startTerminal starts a terminal and waits until it reads. A raw one gets
// each byte as the terminal sends it; else whole lines.
func startTerminal(t *testing.T, x *desk.X, raw bool) *terminal {
	t.Helper()
	mode := "-ixon"
	if raw {
		mode = "raw -echo"
	}
	file := filepath.Join(t.TempDir(), "typed")
	term, err := desk.StartXterm(shared.ctx, x.Name(), "-e", "sh", "-c", "stty "+mode+`; : >"$0"; exec cat >>"$0"`, file)
	must(t, err)
	t.Cleanup(term.Stop)
	must(t, desk.Poll(within(t, patience), "the terminal to read", func() (bool, error) {
		_, err := os.Stat(file)
		return err == nil, nil
	}))
	return &terminal{term, file}
}

// typed is what the terminal's program has read so far.
func (k *terminal) typed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(k.file)
	must(t, err)
	return string(text)
}

// wait waits until the program has read as much as this, which it must equal.
func (k *terminal) wait(t *testing.T, want string) {
	t.Helper()
	var got string
	err := desk.Poll(within(t, patience), "what was typed to arrive", func() (bool, error) {
		got = k.typed(t)
		return len(got) >= len(want), nil
	})
	if err != nil || got != want {
		t.Fatalf("%v: typed was %q, and %q arrived", err, want, got)
	}
}

// activate clicks into the terminal and waits until it has the keyboard.
func (k *terminal) activate(t *testing.T, v *viewer) {
	t.Helper()
	v.clickAt(t, desk.Left, image.Pt(200, 200))
	k.waitActive(t, v.x)
}

func (k *terminal) waitActive(t *testing.T, x *desk.X) {
	t.Helper()
	want := strconv.FormatUint(uint64(k.Window), 10)
	must(t, desk.Poll(within(t, patience), "the terminal to be in front", func() (bool, error) {
		out, err := desk.Xdotool(t.Context(), x.Name(), "getactivewindow")
		return err == nil && strings.TrimSpace(out) == want, nil
	}))
}

// startOpenbox starts a window manager that ends with the test.
func startOpenbox(t *testing.T, x *desk.X) {
	t.Helper()
	wm, err := desk.StartOpenbox(shared.ctx, x.Name())
	must(t, err)
	t.Cleanup(wm.Stop)
}

// waitEvent waits for an event of a window and gives it.
func waitEvent(t *testing.T, w *desk.Window, what string, match func(desk.Event) bool) desk.Event {
	t.Helper()
	e, err := w.Wait(within(t, patience), match)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return e
}

func isPress(detail int) func(desk.Event) bool {
	return func(e desk.Event) bool { return e.Kind == desk.ButtonPress && e.Detail == detail }
}

func isRelease(detail int) func(desk.Event) bool {
	return func(e desk.Event) bool { return e.Kind == desk.ButtonRelease && e.Detail == detail }
}

func windowID(w uint32) string { return fmt.Sprintf("window:0x%x", w) }
