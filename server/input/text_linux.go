package input

import (
	"fmt"

	"github.com/jezek/xgb/xproto"
)

// text implements keyboard: it types s while held keys are down.
func (k *keymap) text(s string, held []control) error {
	if err := k.refresh(); err != nil {
		return err
	}
	syms := textKeysyms(s)
	lifted := k.lifted(held, syms)
	if err := k.press(lifted, false); err != nil {
		return err
	}
	group, locked, err := k.state()
	if err != nil {
		return err
	}
	if locked {
		k.tap(k.layout.lockCode)
	}
	err = k.typeAll(syms, group)
	if locked {
		k.tap(k.layout.lockCode)
	}
	if again := k.press(k.pressedAgain(lifted), true); err == nil {
		err = again
	}
	return err
}

// lifted picks the held keys that would spoil the text: modifiers, and keys
// that the text needs itself.
func (k *keymap) lifted(held []control, syms []keysym) []control {
	needed := make(map[uint8]bool)
	for _, sym := range syms {
		if s, ok := k.layout.stroke(sym, 0); ok {
			needed[s.code] = true
		}
	}
	var lifted []control
	for _, c := range held {
		if k.layout.modifiers[c.code] || needed[c.code] || k.spares.has(c.code) {
			lifted = append(lifted, c)
		}
	}
	return lifted
}

// pressedAgain leaves those that would type or toggle something.
func (k *keymap) pressedAgain(lifted []control) []control {
	var again []control
	for _, c := range lifted {
		if k.layout.modifiers[c.code] && c.code != k.layout.lockCode {
			again = append(again, c)
		}
	}
	return again
}

func (k *keymap) press(keys []control, down bool) error {
	for _, c := range keys {
		if err := k.x.send(step{control: c, down: down}); err != nil {
			return err
		}
	}
	return nil
}

// state asks for the keyboard's group (0 to 3) and whether CapsLock is on and
// can be turned off. XKB puts the group into bits 13 and 14 of the state.
func (k *keymap) state() (group int, locked bool, err error) {
	p, err := xproto.QueryPointer(k.x.conn, k.x.root).Reply()
	if err != nil {
		return 0, false, k.x.fault("reading the keyboard's state", err)
	}
	locked = p.Mask&xproto.ModMaskLock != 0 && k.layout.lockCode != 0
	return int(p.Mask>>13) & 3, locked, nil
}

func (k *keymap) tap(code uint8) {
	c := control{code: code}
	k.x.fake(step{control: c, down: true})
	k.x.fake(step{control: c})
}

// typeAll types keysyms, stretch by stretch: each stretch needs no more new
// keys than may be bound at once. Keysyms that cannot be typed are left out
// and reported.
func (k *keymap) typeAll(syms []keysym, group int) error {
	var missing error
	for len(syms) > 0 {
		n, bind := k.stretch(syms, group)
		if err := k.spares.bind(bind); err != nil {
			return err
		}
		for _, sym := range syms[:n] {
			if !k.strike(sym, group) {
				missing = fmt.Errorf("typing keysym 0x%x: %w", uint32(sym), ErrNoKey)
			}
		}
		if err := k.x.sync(); err != nil {
			return err
		}
		syms = syms[n:]
	}
	return missing
}

// stretch tells how many keysyms can be typed in one go, and those that spare
// keys must take over for it.
func (k *keymap) stretch(syms []keysym, group int) (n int, bind []keysym) {
	wanted := make(map[keysym]bool)
	for i, sym := range syms {
		if _, ok := k.layout.stroke(sym, group); ok || wanted[sym] {
			continue
		}
		if len(bind) >= k.spares.batch() && k.spares.batch() > 0 {
			return i, bind
		}
		wanted[sym] = true
		bind = append(bind, sym)
	}
	return len(syms), bind
}

// strike types one keysym; false when no key has it.
func (k *keymap) strike(sym keysym, group int) bool {
	s, ok := k.layout.stroke(sym, group)
	if !ok {
		s.code, ok = k.spares.code(sym)
	}
	if !ok {
		return false
	}
	hold := func(code uint8, down bool) { k.x.fake(step{control: control{code: code}, down: down}) }
	if s.level3 {
		hold(k.layout.level3, true)
	}
	if s.shift {
		hold(k.layout.shift, true)
	}
	k.tap(s.code)
	if s.shift {
		hold(k.layout.shift, false)
	}
	if s.level3 {
		hold(k.layout.level3, false)
	}
	return true
}
