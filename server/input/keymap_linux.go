package input

import (
	"fmt"
	"sync/atomic"

	"github.com/jezek/xgb/xproto"
)

// keymap is the keyboard of an X server. It reads the key map through the core
// protocol, which shows the first two groups of an XKB layout.
type keymap struct {
	x      *x11
	stale  atomic.Bool // the server's map has changed since it was read
	layout *layout
	evdev  bool
	spares *spares
}

func newKeymap(x *x11) (*keymap, error) {
	k := &keymap{x: x}
	k.spares = newSpares(x, x.wm)
	return k, k.load()
}

// load reads the map from the server.
func (k *keymap) load() error {
	k.stale.Store(false)
	setup := xproto.Setup(k.x.conn)
	first, count := setup.MinKeycode, byte(setup.MaxKeycode-setup.MinKeycode+1)
	m, err := xproto.GetKeyboardMapping(k.x.conn, first, count).Reply()
	if err != nil {
		return k.x.fault("reading the key map", err)
	}
	mods, err := xproto.GetModifierMapping(k.x.conn).Reply()
	if err != nil {
		return k.x.fault("reading the modifier keys", err)
	}
	l := &layout{
		first: uint8(first), perKeycode: int(m.KeysymsPerKeycode),
		groups: keyboardGroups(k.x.name), modifiers: make(map[uint8]bool),
	}
	if l.perKeycode == 0 {
		return fmt.Errorf("reading the key map: %w: the X server has no keyboard", ErrNoKey)
	}
	for _, s := range m.Keysyms {
		l.syms = append(l.syms, keysym(s))
	}
	l.setModifiers(mods.Keycodes, int(mods.KeycodesPerModifier))
	k.spares.adopt(l)
	l.build(k.spares.has)
	k.layout, k.evdev = l, l.evdev()
	return nil
}

// setModifiers takes the rows of GetModifierMapping: Shift, Lock, Control and
// Mod1 to Mod5.
func (l *layout) setModifiers(codes []xproto.Keycode, perModifier int) {
	const lockRow = 1
	for i, c := range codes {
		if c == 0 {
			continue
		}
		l.modifiers[uint8(c)] = true
		if i/perModifier == lockRow && l.lockCode == 0 {
			l.lockCode = uint8(c)
		}
	}
}

// refresh reads the map again when it has changed.
func (k *keymap) refresh() error {
	if err := k.x.alive(); err != nil {
		return err
	}
	if !k.stale.Load() {
		return nil
	}
	return k.load()
}

// resolve implements keyboard.
func (k *keymap) resolve(code, key string) (control, error) {
	if err := k.refresh(); err != nil {
		return control{}, err
	}
	if c, ok := k.byPosition(code); ok {
		return control{code: c}, nil
	}
	sym, typed, ok := keyKeysym(key)
	if !ok {
		return control{}, fmt.Errorf("%w: code %q, key %q", ErrNoKey, code, key)
	}
	for group := range k.layout.index {
		if s, ok := k.layout.stroke(sym, group); ok {
			return control{code: s.code}, nil
		}
	}
	if !typed {
		return control{}, fmt.Errorf("%w: code %q, key %q", ErrNoKey, code, key)
	}
	if err := k.spares.bind([]keysym{sym}); err != nil {
		return control{}, err
	}
	c, _ := k.spares.code(sym)
	return control{code: c}, nil
}

// byPosition finds the keycode of a physical position. Positions that mean
// nothing on this host serve as spares and are not found.
func (k *keymap) byPosition(code string) (uint8, bool) {
	n, ok := evdevCodes[code]
	if !ok || !k.evdev {
		return 0, false
	}
	c := n + evdevOffset
	if c < k.layout.first || c > k.layout.last() || k.spares.has(c) {
		return 0, false
	}
	return c, true
}

func (k *keymap) restore() { k.spares.restore() }
