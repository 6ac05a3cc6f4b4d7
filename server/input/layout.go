package input

// layout is a snapshot of the desktop's key map: what each keycode means.
type layout struct {
	first      uint8 // the lowest keycode
	perKeycode int
	groups     int      // layouts that the user can switch between
	syms       []keysym // perKeycode for each keycode from first
	modifiers  map[uint8]bool
	lockCode   uint8 // the key that toggles CapsLock, 0 for none
	shift      uint8 // the key that shifts, 0 for none
	level3     uint8 // the key AltGr, 0 for none
	index      [2]map[keysym]stroke
}

// stroke is how a keysym is typed: a key, with shift, with AltGr.
type stroke struct {
	code          uint8
	shift, level3 bool
}

// column returns the place of a level (0 to 3) in the keysyms of one keycode,
// by the group, and false where the core protocol does not tell. XKB orders
// them so (XKB Protocol Specification, 12.1.1): two levels of group 1, two of
// group 2, then the further levels of group 1, then those of group 2. How many
// further levels group 1 has is not told, so that they have a known place only
// where there is one group.
func (l *layout) column(group, level int) (int, bool) {
	col := 2*group + level
	if level >= 2 {
		col = 2 + level
	}
	known := group == 0 && l.groups == 1 || group < l.groups && level < 2
	return col, known && col < l.perKeycode
}

// of returns the keysyms of a keycode.
func (l *layout) of(code uint8) []keysym {
	i := (int(code) - int(l.first)) * l.perKeycode
	if code < l.first || i+l.perKeycode > len(l.syms) {
		return nil
	}
	return l.syms[i : i+l.perKeycode]
}

// last is the highest keycode.
func (l *layout) last() uint8 {
	return uint8(int(l.first) + len(l.syms)/l.perKeycode - 1)
}

// empty reports whether a keycode means nothing.
func (l *layout) empty(code uint8) bool {
	for _, s := range l.of(code) {
		if s != symNone {
			return false
		}
	}
	return true
}

// codes calls f with each keycode until it returns false.
func (l *layout) codes(f func(code uint8) bool) {
	for c := int(l.first); c <= int(l.last()); c++ {
		if !f(uint8(c)) {
			return
		}
	}
}

// build fills in what follows from the keysyms. skip are keycodes that typing
// must not rely on.
func (l *layout) build(skip func(code uint8) bool) {
	l.shift, l.level3 = l.find(symShift), l.find(symLevel3)
	for group := range l.index {
		l.index[group] = make(map[keysym]stroke)
		for level := range 4 {
			l.indexLevel(group, level, skip)
		}
	}
}

func (l *layout) indexLevel(group, level int, skip func(code uint8) bool) {
	s := stroke{shift: level&1 != 0, level3: level >= 2}
	col, ok := l.column(group, level)
	if !ok || s.shift && l.shift == 0 || s.level3 && l.level3 == 0 {
		return
	}
	l.codes(func(code uint8) bool {
		sym := l.of(code)[col]
		if _, known := l.index[group][sym]; sym != symNone && !known && !skip(code) {
			s.code = code
			l.index[group][sym] = s
		}
		return true
	})
}

// find gives the lowest keycode with sym in its first column, or 0.
func (l *layout) find(sym keysym) (found uint8) {
	l.codes(func(code uint8) bool {
		if l.of(code)[0] == sym {
			found = code
		}
		return found == 0
	})
	return found
}

// stroke tells how to type sym in a group (0 or 1; higher groups are not
// visible in the core protocol and have none).
func (l *layout) stroke(sym keysym, group int) (stroke, bool) {
	if group >= len(l.index) {
		return stroke{}, false
	}
	s, ok := l.index[group][sym]
	if !ok && sym == unicodeSyms+symEuro {
		s, ok = l.index[group][symEuro]
	}
	return s, ok
}

// anchors are keys that every layout leaves where they are, with their evdev
// codes.
var anchors = map[uint8]keysym{
	1: 0xff1b, 14: symBackSpace, 28: symReturn, 102: 0xff50, 103: 0xff52,
	105: 0xff51, 106: 0xff53, 108: 0xff54, 111: 0xffff,
}

// evdev reports whether the keycodes follow the evdev rules: most anchors are
// in their place. A user may have moved some.
func (l *layout) evdev() bool {
	hits := 0
	for code, sym := range anchors {
		if syms := l.of(code + evdevOffset); len(syms) > 0 && syms[0] == sym {
			hits++
		}
	}
	return hits > len(anchors)/2
}
