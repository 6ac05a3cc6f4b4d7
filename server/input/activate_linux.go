package input

import (
	"slices"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// windows raises windows and gives them the keyboard: through the window
// manager where one follows EWMH, else by itself.
type windows struct {
	conn  *xgb.Conn
	root  xproto.Window
	atoms map[string]xproto.Atom
}

func newWindows(conn *xgb.Conn, root xproto.Window) *windows {
	return &windows{conn: conn, root: root, atoms: make(map[string]xproto.Atom)}
}

func (w *windows) activate(window xproto.Window) error {
	if w.managed() {
		return w.askManager(window)
	}
	err := xproto.ConfigureWindowChecked(w.conn, window, xproto.ConfigWindowStackMode, []uint32{xproto.StackModeAbove}).Check()
	if err != nil {
		return err
	}
	err = xproto.SetInputFocusChecked(w.conn, xproto.InputFocusPointerRoot, window, xproto.TimeCurrentTime).Check()
	if _, hidden := err.(xproto.MatchError); hidden {
		return nil
	}
	return err
}

// managed reports whether a window manager runs that knows
// _NET_ACTIVE_WINDOW. It follows the check of EWMH 1.5: the window that
// _NET_SUPPORTING_WM_CHECK names must carry the property itself, or the
// property was left behind by a manager that has ended.
func (w *windows) managed() bool {
	check := w.values(w.root, "_NET_SUPPORTING_WM_CHECK")
	if len(check) == 0 {
		return false
	}
	self := w.values(xproto.Window(check[0]), "_NET_SUPPORTING_WM_CHECK")
	if len(self) == 0 || self[0] != check[0] {
		return false
	}
	active := w.atom("_NET_ACTIVE_WINDOW")
	return active != 0 && slices.Contains(w.values(w.root, "_NET_SUPPORTED"), uint32(active))
}

// askManager sends the request of a pager (source 2), which window managers
// follow without asking the user.
func (w *windows) askManager(window xproto.Window) error {
	if _, err := xproto.GetWindowAttributes(w.conn, window).Reply(); err != nil {
		return err
	}
	if now := w.values(w.root, "_NET_ACTIVE_WINDOW"); len(now) > 0 && now[0] == uint32(window) {
		return nil
	}
	const pager = 2
	event := xproto.ClientMessageEvent{
		Format: 32, Window: window, Type: w.atom("_NET_ACTIVE_WINDOW"),
		Data: xproto.ClientMessageDataUnionData32New([]uint32{pager, xproto.TimeCurrentTime, 0, 0, 0}),
	}
	const mask = xproto.EventMaskSubstructureNotify | xproto.EventMaskSubstructureRedirect
	return xproto.SendEventChecked(w.conn, false, w.root, mask, string(event.Bytes())).Check()
}

// atom gives the number of a name, 0 when the server does not answer.
func (w *windows) atom(name string) xproto.Atom {
	if a, ok := w.atoms[name]; ok {
		return a
	}
	reply, err := xproto.InternAtom(w.conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0
	}
	w.atoms[name] = reply.Atom
	return reply.Atom
}

// values reads a property of 32 bit numbers; none when it is absent.
func (w *windows) values(window xproto.Window, name string) []uint32 {
	const maxWords = 4096
	reply, err := xproto.GetProperty(w.conn, false, window, w.atom(name), xproto.GetPropertyTypeAny, 0, maxWords).Reply()
	if err != nil || reply.Format != 32 {
		return nil
	}
	var values []uint32
	for b := reply.Value; len(b) >= 4; b = b[4:] {
		values = append(values, xgb.Get32(b))
	}
	return values
}
