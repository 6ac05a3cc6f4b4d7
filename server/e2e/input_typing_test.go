package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
)

// everyCharacter is all of printable ASCII, each by its key of a US keyboard.
const everyCharacter = ` !"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_` + "`abcdefghijklmnopqrstuvwxyz{|}~"

// TestInputTypedLines: what is typed in the viewer's page lands in xterm.
func TestInputTypedLines(t *testing.T) {
	x := startX(t, desk.Screen{Width: 800, Height: 600})
	startOpenbox(t, x)
	term := startTerminal(t, x, false)
	v := watchDesktop(t, x)
	v.settlePicture(t)
	term.activate(t, v)
	lines := ""
	steps := []struct {
		name string
		act  func(t *testing.T)
		want string
	}{
		{"physical keys", func(t *testing.T) { typeKeys(t, v.Page, everyCharacter) }, everyCharacter},
		{"an input method's text", func(t *testing.T) { must(t, v.Insert("äöüß€ 日本語")) }, "äöüß€ 日本語"},
		{"a composition", func(t *testing.T) { compose(t, v.Page, []string{"に", "にほ", "にほんご"}, "日本語") }, "日本語"},
		{"another layout's keys", func(t *testing.T) { germanKeys(t, v.Page) }, "zyöÄ-ß"},
		{"text among keys", func(t *testing.T) {
			for range 5 {
				typeKeys(t, v.Page, "aB")
				must(t, v.Insert("é"))
			}
		}, "aBéaBéaBéaBéaBé"},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			s.act(t)
			must(t, v.Key("Enter", "Enter"))
			lines += s.want + "\n"
			term.wait(t, lines)
		})
	}
	waitNothingHeld(t, x)
}

// germanKeys types on a German keyboard, where z and y have changed places and
// other signs stand on the keys.
func germanKeys(t *testing.T, p *desk.Page) {
	t.Helper()
	for _, k := range [][2]string{{"KeyY", "z"}, {"KeyZ", "y"}, {"Semicolon", "ö"}} {
		must(t, p.Key(k[0], k[1]))
	}
	must(t, setShift(p, true))
	must(t, p.Key("Quote", "Ä"))
	must(t, setShift(p, false))
	must(t, p.Key("Slash", "-"))
	must(t, p.Key("Minus", "ß"))
}

// compose goes through the stages of a composition and then commits a text.
func compose(t *testing.T, p *desk.Page, stages []string, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	for _, s := range stages {
		n := int64(len([]rune(s)))
		_, err := chromedp.Call(ctx, input.ImeSetComposition, input.ImeSetCompositionParams{Text: s, SelectionStart: n, SelectionEnd: n})
		must(t, err)
	}
	must(t, p.Insert(text))
}

// TestInputHeldKeyRepeats: a key held in the viewer repeats on the host, once
// at the host's own rate, and ends with the key.
func TestInputHeldKeyRepeats(t *testing.T) {
	x := startX(t, desk.Screen{Width: 800, Height: 600})
	term := startTerminal(t, x, true)
	v := watchDesktop(t, x)
	v.settlePicture(t)
	v.clickAt(t, desk.Left, at(200, 200))
	must(t, v.KeyDown("KeyX", "x"))
	must(t, desk.Poll(within(t, patience), "the key to repeat", func() (bool, error) { return len(term.typed(t)) >= 4, nil }))
	must(t, v.KeyUp("KeyX", "x"))
	waitNothingHeld(t, x)
	settled := term.settle(t)
	typeKeys(t, v.Page, "y")
	term.wait(t, settled+"y")
}

// settle waits until nothing more arrives and gives what did.
func (k *terminal) settle(t *testing.T) string {
	t.Helper()
	last, since := k.typed(t), time.Now()
	must(t, desk.Poll(within(t, patience), "the typing to end", func() (bool, error) {
		if now := k.typed(t); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 300*time.Millisecond, nil
	}))
	return last
}
