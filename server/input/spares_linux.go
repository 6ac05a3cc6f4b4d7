package input

import (
	"fmt"
	"slices"
	"time"

	"github.com/jezek/xgb/xproto"
)

// settle is how long after a spare key was last struck it may get another
// meaning. Programs look up what a key means when they come to handle it, so
// the old meaning must stay until they have. Measured with xterm on two cores
// that six busy loops kept busy, 120 different characters: wrong ones with up
// to 60 ms, none with 150 ms.
const settle = 200 * time.Millisecond

// spareProperty on the root window lists the keys that are bound, as pairs of
// keycode and keysym, so that a host that was killed leaves nothing that the
// next one could not take over.
const spareProperty = "_NEARGLASS_SPARE_KEYS"

// spares are the keycodes to which the host's layout gives no meaning. They
// take over the characters that the layout lacks.
type spares struct {
	x     *x11
	wm    *windows
	keys  []*spare // least recently used first
	bound map[keysym]*spare
}

type spare struct {
	code uint8
	sym  keysym // what it means now; symNone for nothing
	used time.Time
}

func newSpares(x *x11, wm *windows) *spares {
	return &spares{x: x, wm: wm, bound: make(map[keysym]*spare)}
}

// adopt finds the spare keys of a layout that was just read: those that mean
// nothing and those that carry what this or an earlier host bound.
func (p *spares) adopt(l *layout) {
	ours := make(map[uint8]keysym)
	pairs := p.wm.values(p.x.root, spareProperty)
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		ours[uint8(pairs[0])] = keysym(pairs[1])
	}
	used := make(map[uint8]time.Time)
	for _, s := range p.keys {
		used[s.code] = s.used
	}
	p.keys = nil
	clear(p.bound)
	l.codes(func(code uint8) bool {
		sym, known := ours[code]
		mine := known && l.of(code)[0] == sym
		if l.modifiers[code] || !mine && !l.empty(code) {
			return true
		}
		s := &spare{code: code, used: used[code]}
		p.keys = append(p.keys, s)
		if mine {
			s.sym = sym
			p.bound[sym] = s
		}
		return true
	})
	p.sort()
}

// sort puts the least recently used keys first, those that mean nothing before
// all.
func (p *spares) sort() {
	slices.SortStableFunc(p.keys, func(a, b *spare) int { return a.used.Compare(b.used) })
}

// has reports whether code is one of them.
func (p *spares) has(code uint8) bool {
	return slices.ContainsFunc(p.keys, func(s *spare) bool { return s.code == code })
}

// batch is how many keys may be bound at once: half of them, so that the other
// half still means what was typed a moment ago.
func (p *spares) batch() int { return (len(p.keys) + 1) / 2 }

// code gives the key that means sym, and notes its use.
func (p *spares) code(sym keysym) (uint8, bool) {
	s, ok := p.bound[sym]
	if !ok {
		return 0, false
	}
	s.used = time.Now()
	return s.code, true
}

// bind gives each of syms a key, at most batch() of them. It waits until the
// keys that it takes have settled. Without spare keys it does nothing.
func (p *spares) bind(syms []keysym) error {
	var unbound []keysym
	now := time.Now()
	for _, sym := range syms {
		if s, ok := p.bound[sym]; ok {
			s.used = now
		} else {
			unbound = append(unbound, sym)
		}
	}
	if len(unbound) == 0 || len(p.keys) == 0 {
		return nil
	}
	p.sort()
	taken := p.keys[:min(len(unbound), len(p.keys))]
	time.Sleep(time.Until(taken[len(taken)-1].used.Add(settle)))
	for i, s := range taken {
		delete(p.bound, s.sym)
		s.sym, s.used = unbound[i], now
		p.bound[s.sym] = s
	}
	return p.write(taken)
}

// write tells the server what keys mean. Each run of neighboring keycodes is
// one request, for each makes every program read the key map again.
func (p *spares) write(keys []*spare) error {
	p.note()
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b *spare) int { return int(a.code) - int(b.code) })
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].code == keys[n-1].code+1 {
			n++
		}
		p.change(keys[:n])
		keys = keys[n:]
	}
	if err := p.x.sync(); err != nil {
		return fmt.Errorf("binding spare keys: %w", err)
	}
	return nil
}

// change sets the meaning of neighboring keycodes. The keysym stands twice, so
// that neither Shift nor CapsLock changes the character.
func (p *spares) change(run []*spare) {
	const perKeycode = 2
	syms := make([]xproto.Keysym, 0, perKeycode*len(run))
	for _, s := range run {
		syms = append(syms, xproto.Keysym(s.sym), xproto.Keysym(s.sym))
	}
	xproto.ChangeKeyboardMapping(p.x.conn, byte(len(run)), xproto.Keycode(run[0].code), perKeycode, syms)
}

// note keeps the list on the root window.
func (p *spares) note() {
	var data []byte
	n := 0
	for _, s := range p.keys {
		if s.sym != symNone {
			data = appendWords(data, uint32(s.code), uint32(s.sym))
			n += 2
		}
	}
	xproto.ChangeProperty(p.x.conn, xproto.PropModeReplace, p.x.root, p.wm.atom(spareProperty),
		xproto.AtomCardinal, 32, uint32(n), data)
}

// restore takes the meaning from all keys that were given one.
func (p *spares) restore() {
	var keys []*spare
	for _, s := range p.bound {
		s.sym = symNone
		keys = append(keys, s)
	}
	clear(p.bound)
	if len(keys) > 0 {
		_ = p.write(keys)
	}
	xproto.DeleteProperty(p.x.conn, p.x.root, p.wm.atom(spareProperty))
	_ = p.x.sync()
}

// appendWords appends 32 bit numbers in the byte order of the connection.
func appendWords(b []byte, words ...uint32) []byte {
	for _, w := range words {
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return b
}
