package input

import (
	"testing"
)

func TestEvdevCodes(t *testing.T) {
	// The keycodes that Xorg, Xvfb and Xwayland use with the evdev rules.
	keycodes := map[string]uint8{
		"Escape": 9, "Digit1": 10, "Digit0": 19, "Minus": 20, "Equal": 21, "Backspace": 22, "Tab": 23,
		"KeyQ": 24, "KeyP": 33, "Enter": 36, "ControlLeft": 37, "KeyA": 38, "KeyL": 46, "Backquote": 49,
		"ShiftLeft": 50, "Backslash": 51, "KeyZ": 52, "KeyM": 58, "Slash": 61, "ShiftRight": 62,
		"NumpadMultiply": 63, "AltLeft": 64, "Space": 65, "CapsLock": 66, "F1": 67, "F10": 76,
		"NumLock": 77, "ScrollLock": 78, "Numpad7": 79, "Numpad0": 90, "NumpadDecimal": 91,
		"IntlBackslash": 94, "F11": 95, "F12": 96, "IntlRo": 97, "Lang3": 98, "Lang4": 99, "Convert": 100,
		"KanaMode": 101, "NonConvert": 102, "NumpadEnter": 104, "ControlRight": 105, "NumpadDivide": 106,
		"PrintScreen": 107, "AltRight": 108, "Home": 110, "ArrowUp": 111, "ArrowDown": 116, "Delete": 119,
		"AudioVolumeMute": 121, "NumpadEqual": 125, "Pause": 127, "Lang1": 130, "Lang2": 131, "IntlYen": 132,
		"MetaLeft": 133, "ContextMenu": 135, "MediaTrackNext": 171, "MediaPlayPause": 172, "F13": 191, "F24": 202,
	}
	for name, want := range keycodes {
		if got := evdevCodes[name] + evdevOffset; got != want {
			t.Errorf("%s: keycode %d, want %d", name, got, want)
		}
	}
	for name, code := range evdevCodes {
		if code == 0 || int(code)+evdevOffset > 255 {
			t.Errorf("%s: code %d has no keycode", name, code)
		}
	}
}

func TestKeysyms(t *testing.T) {
	tests := []struct {
		text string
		want []keysym
	}{
		{"aZ~", []keysym{'a', 'Z', '~'}},
		{"ä€", []keysym{0xe4, 0x010020ac}},
		{"日🙂", []keysym{0x010065e5, 0x0101f642}},
		{"a\r\nb\nc\rd\r\r\n", []keysym{'a', symReturn, 'b', symReturn, 'c', symReturn, 'd', symReturn, symReturn}},
		{"\t\b\x1b\x00\x7f\u0085x", []keysym{symTab, symBackSpace, 'x'}},
	}
	for _, tt := range tests {
		got := textKeysyms(tt.text)
		if len(got) != len(tt.want) {
			t.Errorf("%q: %x, want %x", tt.text, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%q: %x, want %x", tt.text, got, tt.want)
				break
			}
		}
	}
}

func TestLayoutStroke(t *testing.T) {
	// Key 24 is q Q in the first group and й Й in the second, with @ on the
	// third level of one of them.
	two := &layout{first: 24, perKeycode: 6, groups: 2, syms: []keysym{
		'q', 'Q', 0x6ca, 0x6ea, '@', 0,
		symShift, 0, 0, 0, 0, 0,
		symLevel3, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0,
		symEuro, symEuro, 0, 0, 0, 0,
	}}
	one := *two
	one.groups = 1
	for _, l := range []*layout{&one, two} {
		l.build(func(uint8) bool { return false })
	}
	tests := []struct {
		l     *layout
		sym   keysym
		group int
		want  stroke
		ok    bool
	}{
		{&one, 'q', 0, stroke{code: 24}, true},
		{&one, 'Q', 0, stroke{code: 24, shift: true}, true},
		{&one, '@', 0, stroke{code: 24, level3: true}, true},
		{two, '@', 0, stroke{}, false},
		{two, 'Q', 0, stroke{code: 24, shift: true}, true},
		{&one, 0x6ea, 1, stroke{}, false},
		{two, 0x6ea, 1, stroke{code: 24, shift: true}, true},
		{two, 'q', 1, stroke{}, false},
		{two, 'q', 3, stroke{}, false},
		{&one, unicodeSyms + symEuro, 0, stroke{code: 28}, true},
		{&one, 'x', 0, stroke{}, false},
	}
	for _, tt := range tests {
		got, ok := tt.l.stroke(tt.sym, tt.group)
		if got != tt.want || ok != tt.ok {
			t.Errorf("keysym %x in group %d: %+v %v, want %+v %v", tt.sym, tt.group, got, ok, tt.want, tt.ok)
		}
	}
	if l := two; l.empty(24) || !l.empty(27) || l.last() != 28 {
		t.Errorf("empty(24) %v, empty(27) %v, last %d", l.empty(24), l.empty(27), l.last())
	}
}
