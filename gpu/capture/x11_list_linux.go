package capture

import (
	"fmt"
	"image"
	"strings"

	"github.com/jezek/xgb/xproto"

	"nearglass/gpu/xconn"
)

// smallestWindow is the side in pixels below which a window is not offered:
// such are helpers of toolkits, not something to look at.
const smallestWindow = 32

// sources lists the desktop, the monitors and the windows.
func (s *xserver) sources() ([]Source, error) {
	all, err := s.desktopArea()
	if err != nil {
		return nil, err
	}
	monitors, err := s.monitors()
	if err != nil {
		return nil, err
	}
	scale := s.scale()
	list := []Source{{ID: "desktop", Kind: KindDesktop, Title: "Whole desktop", Bounds: all, Scale: scale}}
	for _, m := range monitors {
		list = append(list, Source{ID: "display:" + m.name, Kind: KindDisplay, Title: "Display " + m.name, Bounds: m.area, Scale: scale})
	}
	windows, err := s.windows()
	if err != nil {
		return nil, err
	}
	for _, w := range windows {
		if src, err := s.windowSource(w); err != nil {
			return nil, err
		} else if src.ID != "" && src.Title != "" {
			src.Scale = scale
			list = append(list, src)
		}
	}
	return list, nil
}

// windows lists the applications' windows: what the window manager says, or
// the named children of the root window where none runs.
func (s *xserver) windows() ([]xproto.Window, error) {
	ids, err := s.numbers(s.root, "_NET_CLIENT_LIST")
	if err != nil {
		return nil, err
	}
	if s.managed() {
		list := make([]xproto.Window, len(ids))
		for i, id := range ids {
			list[i] = xproto.Window(id)
		}
		return list, nil
	}
	tree, err := xproto.QueryTree(s.conn, s.root).Reply()
	if err != nil {
		return nil, s.wrap(err)
	}
	var list []xproto.Window
	for _, child := range tree.Children {
		if w, ok := s.client(child, 2); ok {
			list = append(list, w)
		}
	}
	return list, nil
}

// managed reports whether a window manager that keeps a list of windows runs:
// it then has a window that names itself.
func (s *xserver) managed() bool {
	check, err := s.numbers(s.root, "_NET_SUPPORTING_WM_CHECK")
	if err != nil || len(check) == 0 {
		return false
	}
	self, err := s.numbers(xproto.Window(check[0]), "_NET_SUPPORTING_WM_CHECK")
	return err == nil && len(self) > 0 && self[0] == check[0]
}

// client finds the application's window at or below a child of the root: a
// simple window manager puts it into a frame and marks it with WM_STATE.
func (s *xserver) client(w xproto.Window, depth int) (xproto.Window, bool) {
	attr, err := xproto.GetWindowAttributes(s.conn, w).Reply()
	if err != nil || attr.OverrideRedirect || attr.Class != xproto.WindowClassInputOutput {
		return 0, false
	}
	if state, err := s.property(w, "WM_STATE"); err == nil && len(state) > 0 {
		return w, true
	}
	if depth > 0 {
		tree, err := xproto.QueryTree(s.conn, w).Reply()
		if err != nil {
			return 0, false
		}
		for _, child := range tree.Children {
			if state, err := s.property(child, "WM_STATE"); err == nil && len(state) > 0 {
				return child, true
			}
		}
	}
	return w, attr.MapState == xproto.MapStateViewable
}

// windowSource describes a window. The source is empty when it is gone, tiny,
// or part of the desktop itself.
func (s *xserver) windowSource(w xproto.Window) (Source, error) {
	attr, err := xproto.GetWindowAttributes(s.conn, w).Reply()
	if err != nil {
		return Source{}, onlyGone(s.wrap(err))
	}
	area, err := s.windowArea(w)
	if err != nil {
		return Source{}, onlyGone(err)
	}
	if attr.Class != xproto.WindowClassInputOutput || area.Dx() < smallestWindow || area.Dy() < smallestWindow || s.isFurniture(w) {
		return Source{}, nil
	}
	src := Source{ID: fmt.Sprintf("window:0x%x", uint32(w)), Kind: KindWindow, Bounds: area, Scale: 1, Title: s.title(w), App: s.app(w)}
	switch {
	case attr.MapState != xproto.MapStateViewable:
		src.Unavailable = s.hiddenReason(w)
	case !s.has[xconn.Composite]:
		src.Unavailable = "this X server has no Composite extension"
	}
	return src, nil
}

// windowArea is where the inside of a window lies on the desktop.
func (s *xserver) windowArea(w xproto.Window) (image.Rectangle, error) {
	g, err := xproto.GetGeometry(s.conn, xproto.Drawable(w)).Reply()
	if err != nil {
		return image.Rectangle{}, s.wrap(err)
	}
	at, err := xproto.TranslateCoordinates(s.conn, w, s.root, 0, 0).Reply()
	if err != nil {
		return image.Rectangle{}, s.wrap(err)
	}
	return image.Rect(0, 0, int(g.Width), int(g.Height)).Add(image.Pt(int(at.DstX), int(at.DstY))), nil
}

// isFurniture reports whether a window is the desktop background or a panel.
func (s *xserver) isFurniture(w xproto.Window) bool {
	types, _ := s.numbers(w, "_NET_WM_WINDOW_TYPE")
	for _, name := range []string{"_NET_WM_WINDOW_TYPE_DESKTOP", "_NET_WM_WINDOW_TYPE_DOCK"} {
		a, err := s.atom(name)
		for _, t := range types {
			if err == nil && xproto.Atom(t) == a {
				return true
			}
		}
	}
	return false
}

func (s *xserver) title(w xproto.Window) string {
	for _, name := range []string{"_NET_WM_NAME", "WM_NAME"} {
		b, _ := s.property(w, name)
		if t := strings.TrimSpace(strings.ToValidUTF8(strings.TrimRight(string(b), "\x00"), "?")); t != "" {
			return t
		}
	}
	return ""
}

// app is the class half of WM_CLASS, which names the program.
func (s *xserver) app(w xproto.Window) string {
	b, _ := s.property(w, "WM_CLASS")
	parts := strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
	return strings.ToValidUTF8(parts[len(parts)-1], "?")
}

// hiddenReason says why a window cannot be seen. Its window manager has set
// WM_STATE to 3 (iconic, ICCCM 4.1.3.1) when it minimised the window.
func (s *xserver) hiddenReason(w xproto.Window) string {
	if state, err := s.numbers(w, "WM_STATE"); err == nil && len(state) > 0 && state[0] == 3 {
		return "the window is minimised"
	}
	return "the window is hidden"
}
