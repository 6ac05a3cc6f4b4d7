package capture

import (
	"image"

	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// monitor is one display of the desktop.
type monitor struct {
	name string
	area image.Rectangle
}

// desktopArea asks for the size of the root window, which the connection's
// setup only knows as it was at the start.
func (s *xserver) desktopArea() (image.Rectangle, error) {
	g, err := xproto.GetGeometry(s.conn, xproto.Drawable(s.root)).Reply()
	if err != nil {
		return image.Rectangle{}, s.wrap(err)
	}
	return image.Rect(0, 0, int(g.Width), int(g.Height)), nil
}

// monitors lists the monitors that are on: those of RandR 1.5, else the CRTCs
// of RandR 1.3, else the whole screen as one that is called "screen".
func (s *xserver) monitors() ([]monitor, error) {
	all, err := s.desktopArea()
	if err != nil {
		return nil, err
	}
	var list []monitor
	switch {
	case s.randr >= 5:
		list, err = s.randrMonitors()
	case s.randr >= 3:
		list, err = s.crtcs()
	}
	if err != nil {
		return nil, s.wrap(err)
	}
	on := list[:0]
	for _, m := range list {
		if m.area = m.area.Intersect(all); !m.area.Empty() {
			on = append(on, m)
		}
	}
	if len(on) == 0 {
		on = []monitor{{"screen", all}}
	}
	return on, nil
}

func (s *xserver) randrMonitors() ([]monitor, error) {
	reply, err := randr.GetMonitors(s.conn, s.root, true).Reply()
	if err != nil {
		return nil, err
	}
	var list []monitor
	for _, m := range reply.Monitors {
		name, err := xproto.GetAtomName(s.conn, m.Name).Reply()
		if err != nil {
			return nil, err
		}
		list = append(list, monitor{name.Name, rectangle(m.X, m.Y, m.Width, m.Height)})
	}
	return list, nil
}

// crtcs lists the parts of the screen that are sent to an output, by the name
// of the first output.
func (s *xserver) crtcs() ([]monitor, error) {
	resources, err := randr.GetScreenResourcesCurrent(s.conn, s.root).Reply()
	if err != nil {
		return nil, err
	}
	var list []monitor
	for _, id := range resources.Crtcs {
		crtc, err := randr.GetCrtcInfo(s.conn, id, resources.ConfigTimestamp).Reply()
		if err != nil {
			return nil, err
		}
		if crtc.Mode == 0 || len(crtc.Outputs) == 0 {
			continue
		}
		output, err := randr.GetOutputInfo(s.conn, crtc.Outputs[0], resources.ConfigTimestamp).Reply()
		if err != nil {
			return nil, err
		}
		list = append(list, monitor{string(output.Name), rectangle(crtc.X, crtc.Y, crtc.Width, crtc.Height)})
	}
	return list, nil
}

func rectangle(x, y int16, width, height uint16) image.Rectangle {
	return image.Rect(0, 0, int(width), int(height)).Add(image.Pt(int(x), int(y)))
}
