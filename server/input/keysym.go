package input

import "unicode/utf8"

// keysym is what a key means in X11 (X Window System Protocol, appendix A).
type keysym uint32

// Keysyms that the code names.
const (
	symNone      keysym = 0
	symBackSpace keysym = 0xff08
	symTab       keysym = 0xff09
	symReturn    keysym = 0xff0d
	symShift     keysym = 0xffe1
	symLevel3    keysym = 0xfe03 // ISO_Level3_Shift, AltGr
)

// unicodeSyms is where the keysyms of Unicode characters start.
const unicodeSyms keysym = 0x01000000

// runeKeysym gives the keysym of a character, and false for the control
// characters that no key stands for.
func runeKeysym(r rune) (keysym, bool) {
	switch {
	case r == '\n' || r == '\r':
		return symReturn, true
	case r == '\t':
		return symTab, true
	case r == '\b':
		return symBackSpace, true
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return symNone, false
	case r <= 0xff:
		return keysym(r), true
	default:
		return unicodeSyms + keysym(r), true
	}
}

// symEuro is the old keysym of the euro sign, which layouts prefer to the one
// by its Unicode number.
const symEuro keysym = 0x20ac

// textKeysyms turns text into the keysyms to type. A carriage return with its
// line feed is one Return.
func textKeysyms(s string) []keysym {
	syms := make([]keysym, 0, len(s))
	var last rune
	for _, r := range s {
		afterReturn := last == '\r' && r == '\n'
		last = r
		if sym, ok := runeKeysym(r); ok && !afterReturn {
			syms = append(syms, sym)
		}
	}
	return syms
}

// namedKeys gives keysyms to DOM KeyboardEvent.key names.
var namedKeys = map[string]keysym{
	"Backspace": symBackSpace, "Tab": symTab, "Enter": symReturn, "Escape": 0xff1b, "Delete": 0xffff,
	"Clear": 0xff0b, "Pause": 0xff13, "ScrollLock": 0xff14, "PrintScreen": 0xff61,
	"Home": 0xff50, "ArrowLeft": 0xff51, "ArrowUp": 0xff52, "ArrowRight": 0xff53, "ArrowDown": 0xff54,
	"PageUp": 0xff55, "PageDown": 0xff56, "End": 0xff57, "Insert": 0xff63,
	"Undo": 0xff65, "Redo": 0xff66, "ContextMenu": 0xff67, "Find": 0xff68, "Help": 0xff6a, "NumLock": 0xff7f,
	"Shift": symShift, "Control": 0xffe3, "CapsLock": 0xffe5, "Alt": 0xffe9, "Meta": 0xffeb, "AltGraph": symLevel3,
	"F1": 0xffbe, "F2": 0xffbf, "F3": 0xffc0, "F4": 0xffc1, "F5": 0xffc2, "F6": 0xffc3, "F7": 0xffc4,
	"F8": 0xffc5, "F9": 0xffc6, "F10": 0xffc7, "F11": 0xffc8, "F12": 0xffc9, "F13": 0xffca, "F14": 0xffcb,
	"F15": 0xffcc, "F16": 0xffcd, "F17": 0xffce, "F18": 0xffcf, "F19": 0xffd0, "F20": 0xffd1,
	"F21": 0xffd2, "F22": 0xffd3, "F23": 0xffd4, "F24": 0xffd5,
}

// keyKeysym gives the keysym of a DOM KeyboardEvent.key: a name, or one
// character. typed says that it is a character.
func keyKeysym(key string) (sym keysym, typed, ok bool) {
	if sym, ok := namedKeys[key]; ok {
		return sym, false, true
	}
	r, n := utf8.DecodeRuneInString(key)
	if n == 0 || n != len(key) {
		return symNone, false, false
	}
	sym, ok = runeKeysym(r)
	return sym, ok, ok
}
