package capture

import (
	"errors"
	"fmt"
	"image"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/composite"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"

	"nearglass/gpu"
)

// view is where a capture's pixels come from now.
type view struct {
	drawable xproto.Drawable
	origin   image.Point     // of the picture within the drawable
	area     image.Rectangle // of the picture on the desktop
	state    gpu.State       // when paused, the drawable is of no use
}

// change says what an event means for a view.
type change uint8

const (
	unchanged change = iota
	moved            // only its place on the desktop
	reshaped         // its size, its pixels' home, or whether it can be seen
	renamed          // its title, or why it is hidden
	destroyed
)

// target finds the view of one source and understands the events about it.
type target interface {
	// watch asks for the events and returns the drawable whose damage counts.
	watch(s *xserver) (xproto.Drawable, error)
	// look finds the view; it is called first and after each reshaped.
	look(s *xserver) (view, error)
	event(ev xgb.Event) change
	// damageOffset is subtracted from damage to get picture coordinates.
	damageOffset(v view) image.Point
}

// displayTarget is one monitor, or the whole desktop when the name is empty.
type displayTarget struct{ name string }

func (t displayTarget) watch(s *xserver) (xproto.Drawable, error) {
	if s.randr >= 2 {
		mask := uint16(randr.NotifyMaskScreenChange | randr.NotifyMaskCrtcChange | randr.NotifyMaskOutputChange | randr.NotifyMaskResourceChange)
		if err := randr.SelectInputChecked(s.conn, s.root, mask).Check(); err != nil {
			return 0, s.wrap(err)
		}
	}
	err := xproto.ChangeWindowAttributesChecked(s.conn, s.root, xproto.CwEventMask, []uint32{xproto.EventMaskStructureNotify}).Check()
	return xproto.Drawable(s.root), s.wrap(err)
}

func (t displayTarget) look(s *xserver) (view, error) {
	if t.name == "" {
		area, err := s.desktopArea()
		return view{drawable: xproto.Drawable(s.root), area: area}, err
	}
	list, err := s.monitors()
	if err != nil {
		return view{}, err
	}
	for _, m := range list {
		if m.name == t.name {
			return view{drawable: xproto.Drawable(s.root), origin: m.area.Min, area: m.area}, nil
		}
	}
	return view{}, fmt.Errorf("%w: monitor %s was disconnected", ErrGone, t.name)
}

func (t displayTarget) event(ev xgb.Event) change {
	switch ev.(type) {
	case randr.ScreenChangeNotifyEvent, randr.NotifyEvent, xproto.ConfigureNotifyEvent:
		return reshaped
	}
	return unchanged
}

func (t displayTarget) damageOffset(v view) image.Point { return v.origin }

// windowTarget is one window, whose pixels the Composite extension keeps apart
// from the screen, so that they are right when it is covered.
type windowTarget struct {
	window  xproto.Window
	watched map[xproto.Window]bool // its ancestors
	pixmap  xproto.Pixmap
	size    image.Point          // as last looked at
	names   map[xproto.Atom]bool // properties whose change matters
}

func (t *windowTarget) watch(s *xserver) (xproto.Drawable, error) {
	t.names = map[xproto.Atom]bool{}
	for _, name := range []string{"_NET_WM_NAME", "WM_NAME", "WM_STATE"} {
		a, err := s.atom(name)
		if err != nil {
			return 0, err
		}
		t.names[a] = true
	}
	mask := uint32(xproto.EventMaskStructureNotify | xproto.EventMaskPropertyChange)
	err := xproto.ChangeWindowAttributesChecked(s.conn, t.window, xproto.CwEventMask, []uint32{mask}).Check()
	if err == nil {
		err = composite.RedirectWindowChecked(s.conn, t.window, composite.RedirectAutomatic).Check()
	}
	return xproto.Drawable(t.window), t.explain(s, err)
}

// look names the window's pixmap anew: every change of size or visibility
// gives it another.
func (t *windowTarget) look(s *xserver) (view, error) {
	if t.pixmap != 0 {
		xproto.FreePixmap(s.conn, t.pixmap)
		t.pixmap = 0
	}
	t.watchAncestors(s)
	attr, err := xproto.GetWindowAttributes(s.conn, t.window).Reply()
	if err != nil {
		return view{}, t.explain(s, err)
	}
	area, err := s.windowArea(t.window)
	if err != nil {
		return view{}, t.explain(s, err)
	}
	t.size = area.Size()
	if attr.MapState != xproto.MapStateViewable {
		return view{area: area, state: gpu.State{Paused: true, Reason: s.hiddenReason(t.window)}}, nil
	}
	return t.name(s, area)
}

// name gets the pixmap and takes its true size, in case the window has changed
// since it was asked for its own.
func (t *windowTarget) name(s *xserver, area image.Rectangle) (view, error) {
	id, err := xproto.NewPixmapId(s.conn)
	if err != nil {
		return view{}, s.wrap(err)
	}
	g, err := xproto.GetGeometry(s.conn, xproto.Drawable(t.window)).Reply()
	if err != nil {
		return view{}, t.explain(s, err)
	}
	if err := composite.NameWindowPixmapChecked(s.conn, t.window, id).Check(); err != nil {
		return view{}, s.wrap(err)
	}
	t.pixmap = id
	full, err := xproto.GetGeometry(s.conn, xproto.Drawable(id)).Reply()
	if err != nil {
		return view{}, s.wrap(err)
	}
	border := int(g.BorderWidth)
	t.size = image.Pt(max(int(full.Width)-2*border, 1), max(int(full.Height)-2*border, 1))
	area.Max = area.Min.Add(t.size)
	return view{drawable: xproto.Drawable(id), origin: image.Pt(border, border), area: area}, nil
}

// watchAncestors asks for the moves of the frame that a window manager puts
// around the window. Errors do not matter: a frame that vanishes is followed
// by an event of the window itself.
func (t *windowTarget) watchAncestors(s *xserver) {
	watched := map[xproto.Window]bool{}
	for w := t.window; ; {
		tree, err := xproto.QueryTree(s.conn, w).Reply()
		if err != nil || tree.Parent == 0 || tree.Parent == s.root {
			break
		}
		w = tree.Parent
		watched[w] = true
		if !t.watched[w] {
			xproto.ChangeWindowAttributes(s.conn, w, xproto.CwEventMask, []uint32{xproto.EventMaskStructureNotify})
		}
	}
	t.watched = watched
}

func (t *windowTarget) event(ev xgb.Event) change {
	switch e := ev.(type) {
	case xproto.DestroyNotifyEvent:
		if e.Window == t.window {
			return destroyed
		}
	case xproto.ConfigureNotifyEvent:
		if e.Window == t.window && image.Pt(int(e.Width), int(e.Height)) != t.size {
			return reshaped
		}
		return moved
	case xproto.PropertyNotifyEvent:
		if e.Window == t.window && t.names[e.Atom] {
			return renamed
		}
	case xproto.MapNotifyEvent, xproto.UnmapNotifyEvent, xproto.ReparentNotifyEvent:
		return reshaped
	}
	return unchanged
}

func (t *windowTarget) damageOffset(view) image.Point { return image.Point{} }

// explain turns the error about a window that is no more into ErrClosed.
func (t *windowTarget) explain(s *xserver, err error) error {
	var badWindow xproto.WindowError
	var badDrawable xproto.DrawableError
	if errors.As(err, &badWindow) || errors.As(err, &badDrawable) {
		return ErrClosed
	}
	return s.wrap(err)
}

// newDamage starts to collect what changes in a drawable. One event comes when
// the first change does, and the next only after the collected damage was
// taken, however much is drawn in between.
func newDamage(s *xserver, d xproto.Drawable) (damage.Damage, error) {
	id, err := damage.NewDamageId(s.conn)
	if err != nil {
		return 0, s.wrap(err)
	}
	return id, s.wrap(damage.CreateChecked(s.conn, id, d, damage.ReportLevelNonEmpty).Check())
}
