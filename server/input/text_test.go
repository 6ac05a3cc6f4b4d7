//go:build linux

package input

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// typeAndCompare types text and waits until the terminal has it all.
func typeAndCompare(t *testing.T, s *Session, typed func() string, text string) {
	t.Helper()
	before := typed()
	began := time.Now()
	if err := s.Apply(Event{Kind: Text, Text: text}); err != nil {
		t.Fatal(err)
	}
	sent := time.Since(began)
	want := before + strings.ReplaceAll(text, "\n", "\r")
	for deadline := time.Now().Add(5 * time.Second); len(typed()) < len(want) && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("%d characters: sent in %v, there after %v", len([]rune(text)), sent, time.Since(began))
	if got := typed(); got != want {
		t.Errorf("typed %q\ngot   %q", text, strings.TrimPrefix(got, before))
	}
}

func TestTextArrivesExactly(t *testing.T) {
	display, _ := startX(t)
	typed := terminal(t, display)
	in := openInjector(t, display)
	s := in.Session()
	if err := s.Apply(Event{Kind: Move, X: 100, Y: 100}); err != nil {
		t.Fatal(err)
	}
	var kanji strings.Builder
	for i := range 120 {
		kanji.WriteRune(rune(0x4e00 + 7*i))
	}
	tests := []struct{ name, text string }{
		{"ascii", " !\"#$%&'()*+,-./0123456789:;<=>?@ABCXYZ[\\]^_`abcxyz{|}~"},
		{"lines", "one\ttwo\nthree\n"},
		{"latin", "äöüßÄÖÜ€éñ¿"},
		{"japanese", "日本語テキスト"},
		{"emoji", "🙂👍"},
		{"fast", strings.Repeat("The quick brown fox, äöü. ", 20)},
		{"many characters", kanji.String()},
		{"again", "日本語 ASCII äöü"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { typeAndCompare(t, s, typed, tt.text) })
	}
}

func TestTextOnOtherLayouts(t *testing.T) {
	need(t, "setxkbmap")
	display, _ := startX(t)
	typed := terminal(t, display)
	in := openInjector(t, display)
	s := in.Session()
	if err := s.Apply(Event{Kind: Move, X: 100, Y: 100}); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{"de", "fr", "us,de", "ru,us", "us"} {
		t.Run(layout, func(t *testing.T) {
			if out, err := exec.Command("setxkbmap", "-display", display, "-layout", layout).CombinedOutput(); err != nil {
				t.Skipf("setxkbmap %s: %v %s", layout, err, out)
			}
			eventually(t, "the change is noticed", func() bool { return in.keys.(*keymap).stale.Load() })
			typeAndCompare(t, s, typed, "zY@{[]}\\|~^` 15 €äß日ж")
		})
	}
}

// TestTextInTheSecondGroup switches to a second layout, as a user does.
func TestTextInTheSecondGroup(t *testing.T) {
	need(t, "setxkbmap")
	display, _ := startX(t)
	typed := terminal(t, display)
	in := openInjector(t, display)
	s := in.Session()
	args := []string{"-display", display, "-layout", "us,ru", "-option", "grp:caps_toggle"}
	if out, err := exec.Command("setxkbmap", args...).CombinedOutput(); err != nil {
		t.Skipf("setxkbmap: %v %s", err, out)
	}
	eventually(t, "the change is noticed", func() bool { return in.keys.(*keymap).stale.Load() })
	events := []Event{{Kind: Move, X: 100, Y: 100}, {Kind: Key, Code: "CapsLock", Down: true}, {Kind: Key, Code: "CapsLock"}}
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	k := in.keys.(*keymap)
	if group, _, err := k.state(); err != nil || group != 1 {
		t.Fatalf("the keyboard is in group %d (%v), want 1", group, err)
	}
	typeAndCompare(t, s, typed, "Latin aB@1 привет Й ä語")
}

func TestTextInSpiteOfModifiers(t *testing.T) {
	display, _ := startX(t)
	typed := terminal(t, display)
	in, see := openInjector(t, display), connect(t, display)
	s := in.Session()
	if err := s.Apply(Event{Kind: Move, X: 100, Y: 100}); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"ShiftLeft", "ControlLeft", "AltLeft", "MetaLeft", "AltRight"} {
		t.Run(code, func(t *testing.T) {
			if err := s.Apply(Event{Kind: Key, Code: code, Down: true}); err != nil {
				t.Fatal(err)
			}
			typeAndCompare(t, s, typed, "aB1!ü語")
			// The terminal has the text before the server has all requests.
			if err := in.desktop.(*x11).sync(); err != nil {
				t.Fatal(err)
			}
			if got := see.down(t); len(got) != 1 || got[0] != int(evdevCodes[code]+evdevOffset) {
				t.Errorf("down after the text: %v, want %s alone", got, code)
			}
			s.Release()
			if err := in.desktop.(*x11).sync(); err != nil {
				t.Fatal(err)
			}
			if got := see.down(t); len(got) > 0 {
				t.Errorf("down after release: %v", got)
			}
		})
	}
	t.Run("CapsLock", func(t *testing.T) {
		for _, down := range []bool{true, false} {
			if err := s.Apply(Event{Kind: Key, Code: "CapsLock", Down: down}); err != nil {
				t.Fatal(err)
			}
		}
		typeAndCompare(t, s, typed, "aB1!ü語é")
		if err := in.desktop.(*x11).sync(); err != nil {
			t.Fatal(err)
		}
		const lock = 2
		if see.pointer(t).Mask&lock == 0 {
			t.Error("CapsLock is off after the text")
		}
	})
}

func TestSpareKeysAreGivenBack(t *testing.T) {
	display, _ := startX(t)
	first := openInjector(t, display)
	spare := len(first.keys.(*keymap).spares.keys)
	t.Logf("%d spare keys", spare)
	if err := first.Session().Apply(Event{Kind: Text, Text: "日本語"}); err != nil {
		t.Fatal(err)
	}
	second := openInjector(t, display)
	if got := second.keys.(*keymap).spares; len(got.keys) != spare || len(got.bound) != 3 {
		t.Errorf("a second host finds %d spare keys and %d bound, want %d and 3", len(got.keys), len(got.bound), spare)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if got := openInjector(t, display).keys.(*keymap).spares; len(got.keys) != spare || len(got.bound) != 0 {
		t.Errorf("after closing: %d spare keys and %d bound, want %d and 0", len(got.keys), len(got.bound), spare)
	}
}
