package desk

import (
	"fmt"
	"image"
	"io"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// The X client tells stderr of each try to find an authority file.
func init() { xgb.Logger.SetOutput(io.Discard) }

// Display reads the framebuffer of an X server over one connection. It is not
// safe for concurrent use. It expects 24 bits a pixel in 32, as Xvfb has.
type Display struct {
	conn *xgb.Conn
	root xproto.Window
}

// OpenDisplay connects to a display such as ":7".
func OpenDisplay(name string) (*Display, error) {
	conn, err := xgb.NewConnDisplay(name)
	if err != nil {
		return nil, fmt.Errorf("open display %s: %w", name, err)
	}
	return &Display{conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root}, nil
}

// Close ends the connection.
func (d *Display) Close() { d.conn.Close() }

// Size is the present size of the screen in pixels.
func (d *Display) Size() (image.Point, error) {
	g, err := xproto.GetGeometry(d.conn, xproto.Drawable(d.root)).Reply()
	if err != nil {
		return image.Point{}, fmt.Errorf("ask for the screen's size: %w", err)
	}
	return image.Pt(int(g.Width), int(g.Height)), nil
}

// Grab reads part of the screen as it is shown, without the pointer. The
// picture keeps the rectangle's coordinates.
func (d *Display) Grab(r image.Rectangle) (*image.RGBA, error) {
	reply, err := xproto.GetImage(d.conn, xproto.ImageFormatZPixmap, xproto.Drawable(d.root),
		int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), ^uint32(0)).Reply()
	if err != nil {
		return nil, fmt.Errorf("grab %v: %w", r, err)
	}
	img := image.NewRGBA(r)
	if len(reply.Data) < len(img.Pix) {
		return nil, fmt.Errorf("grab %v: %d bytes, not %d", r, len(reply.Data), len(img.Pix))
	}
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = reply.Data[i+2], reply.Data[i+1], reply.Data[i], 255
	}
	return img, nil
}

// Pointer tells where the pointer is on the screen, in pixels.
func (d *Display) Pointer() (image.Point, error) {
	q, err := xproto.QueryPointer(d.conn, d.root).Reply()
	if err != nil {
		return image.Point{}, fmt.Errorf("ask for the pointer: %w", err)
	}
	return image.Pt(int(q.RootX), int(q.RootY)), nil
}

// Grab reads the whole screen over a connection of its own.
func (x *X) Grab() (*image.RGBA, error) {
	d, err := OpenDisplay(x.Name())
	if err != nil {
		return nil, err
	}
	defer d.Close()
	size, err := d.Size()
	if err != nil {
		return nil, err
	}
	return d.Grab(image.Rectangle{Max: size})
}

// Pointer tells where the pointer is, over a connection of its own.
func (x *X) Pointer() (image.Point, error) {
	d, err := OpenDisplay(x.Name())
	if err != nil {
		return image.Point{}, err
	}
	defer d.Close()
	return d.Pointer()
}
