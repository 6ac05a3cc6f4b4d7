package capture

import (
	"image"
	"time"

	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"

	"nearglass/gpu"
)

// X reports a pointer's shape by events but its position only when asked, so
// the position is polled: at the rate of the capture while it moves, and less
// often once it has rested for a while.
const (
	pointerRests    = 500 * time.Millisecond
	pointerRestPoll = 50 * time.Millisecond
)

// xpointer is the pointer of a capture that draws it into the picture.
type xpointer struct {
	server *xserver
	stale  bool // the shape must be fetched again
	shape  *sprite
	at     image.Point     // on the desktop
	shown  image.Rectangle // what it covers in the newest picture
	next   time.Time       // when to ask again
	moved  time.Time       // when it was last seen to move
}

func newPointer(s *xserver) (*xpointer, error) {
	err := xfixes.SelectCursorInputChecked(s.conn, s.root, xfixes.CursorNotifyMaskDisplayCursor).Check()
	return &xpointer{server: s, stale: true}, s.wrap(err)
}

// look asks where the pointer is, and adds to the grabber's damage what it
// covered and covers now when that changed.
func (p *xpointer) look(g *grabber, now time.Time) error {
	if !p.stale && now.Before(p.next) && !g.damaged {
		return nil
	}
	changed := p.stale
	if p.stale {
		if err := p.fetch(); err != nil {
			return err
		}
	}
	reply, err := xproto.QueryPointer(p.server.conn, p.server.root).Reply()
	if err != nil {
		return p.server.wrap(err)
	}
	if at := image.Pt(int(reply.RootX), int(reply.RootY)); at != p.at {
		p.at, p.moved, changed = at, now, true
	}
	p.next = now.Add(g.every)
	if now.Sub(p.moved) > pointerRests {
		p.next = now.Add(max(pointerRestPoll, g.every))
	}
	covers := p.covers(g.view.area)
	if changed || covers != p.shown {
		g.pending.Add(p.shown.Intersect(image.Rectangle{Max: g.pictureSize()}))
		g.pending.Add(covers)
		p.shown = covers
	}
	return nil
}

// fetch gets the shape, which the server has with premultiplied colors.
func (p *xpointer) fetch() error {
	reply, err := xfixes.GetCursorImage(p.server.conn).Reply()
	if err != nil {
		return p.server.wrap(err)
	}
	p.stale = false
	s := &sprite{size: image.Pt(int(reply.Width), int(reply.Height)), hot: image.Pt(int(reply.Xhot), int(reply.Yhot))}
	s.pix = make([]byte, 0, 4*len(reply.CursorImage))
	for _, v := range reply.CursorImage {
		s.pix = append(s.pix, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	p.shape = s
	return nil
}

// covers is the part of the picture of this area that the pointer covers.
func (p *xpointer) covers(area image.Rectangle) image.Rectangle {
	return p.shape.rect(p.at.Sub(area.Min)).Intersect(image.Rectangle{Max: area.Size()})
}

func (p *xpointer) draw(s *gpu.Slot, area image.Rectangle) {
	p.shape.draw(s.Pix, s.Stride, image.Rectangle{Max: s.Size}, p.at.Sub(area.Min))
}
