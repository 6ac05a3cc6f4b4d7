package desk

import (
	"fmt"
	"image"

	"github.com/jezek/xgb/xproto"
)

// stripBytes is how much of a picture goes to the server in one request: X
// without BIG-REQUESTS carries 256 KiB.
const stripBytes = 200 << 10

// Draw shows a picture in the window, its top left corner at a place in it, in
// one step: nobody sees half of it. Unlike what Fill paints it is lost when the
// window is covered or resized.
func (w *Window) Draw(at image.Point, img *image.RGBA) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := img.Rect.Size()
	id, err := xproto.NewPixmapId(w.conn)
	if err != nil {
		return err
	}
	depth := xproto.Setup(w.conn).DefaultScreen(w.conn).RootDepth
	err = xproto.CreatePixmapChecked(w.conn, depth, id, xproto.Drawable(w.ID), uint16(size.X), uint16(size.Y)).Check()
	if err != nil {
		return fmt.Errorf("draw a picture of %v: %w", size, err)
	}
	defer xproto.FreePixmap(w.conn, id)
	rows := max(1, stripBytes/(4*size.X))
	for y := 0; y < size.Y; y += rows {
		n := min(rows, size.Y-y)
		xproto.PutImage(w.conn, xproto.ImageFormatZPixmap, xproto.Drawable(id), w.gc,
			uint16(size.X), uint16(n), 0, int16(y), 0, depth, strip(img, y, n))
	}
	return xproto.CopyAreaChecked(w.conn, xproto.Drawable(id), xproto.Drawable(w.ID), w.gc,
		0, 0, int16(at.X), int16(at.Y), uint16(size.X), uint16(size.Y)).Check()
}

// strip gives n rows from y on in the order of bytes that the server has.
func strip(img *image.RGBA, y, n int) []byte {
	out := make([]byte, 0, 4*n*img.Rect.Dx())
	for i := range n {
		r := row(img, y+i)
		for p := 0; p < len(r); p += 4 {
			out = append(out, r[p+2], r[p+1], r[p], 0)
		}
	}
	return out
}
