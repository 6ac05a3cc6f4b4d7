package capture

import (
	"fmt"
	"image"
	"math"
	"time"
)

// demoEvent is one input, as every widget sees it.
type demoEvent struct {
	kind   demoEventKind
	at     image.Point // where the pointer is
	button int         // DOM numbering
	down   bool
	dy     float64 // wheel, in notches; positive scrolls down
	code   string  // DOM code of a key
	text   string
}

type demoEventKind uint8

const (
	eventMove demoEventKind = iota
	eventButton
	eventWheel
	eventKey
	eventText
)

// widget is one live part of the demo desktop. Input and tick return what
// must be painted again, or an empty rectangle.
type widget interface {
	bounds() image.Rectangle
	paint(p painter)
	input(e demoEvent) image.Rectangle
	tick(now time.Time) image.Rectangle
}

// clock shows the time of day with hands.
type clock struct {
	area image.Rectangle
	now  time.Time
}

func (c *clock) input(demoEvent) image.Rectangle { return image.Rectangle{} }

func (c *clock) tick(now time.Time) image.Rectangle {
	if now = now.Truncate(time.Second); now.Equal(c.now) {
		return image.Rectangle{}
	}
	c.now = now
	return c.area
}

func (c *clock) bounds() image.Rectangle { return c.area }

func (c *clock) paint(p painter) {
	radius := float64(min(c.area.Dx(), c.area.Dy()-40)) / 2
	cx, cy := float64(c.area.Min.X+c.area.Max.X)/2, float64(c.area.Min.Y)+radius
	p.disc(cx, cy, radius, colorLine)
	p.disc(cx, cy, radius-2, colorPaper)
	for i := range 12 {
		s, co := math.Sincos(float64(i) * math.Pi / 6)
		w := 2.0
		if i%3 == 0 {
			w = 4
		}
		p.line(cx+s*(radius-12), cy-co*(radius-12), cx+s*(radius-8), cy-co*(radius-8), w, colorQuiet)
	}
	h, m, sec := c.now.Clock()
	hand := func(turn, length, width float64, warm bool) {
		s, co := math.Sincos(2 * math.Pi * turn)
		ink := colorInk
		if warm {
			ink = colorWarm
		}
		p.line(cx, cy, cx+s*length*radius, cy-co*length*radius, width, ink)
	}
	hand((float64(h%12)+float64(m)/60)/12, 0.5, 6, false)
	hand((float64(m)+float64(sec)/60)/60, 0.75, 4, false)
	hand(float64(sec)/60, 0.82, 2, true)
	p.disc(cx, cy, 5, colorWarm)
	p.textMiddle(fonts().large, int(cx), c.area.Max.Y-6, colorInk, c.now.Format("15:04:05"))
}

// ball bounces without end, so that there is always something to see moving.
type ball struct {
	area  image.Rectangle
	start time.Time
	at    image.Point
}

const ballRadius = 18

func (b *ball) input(demoEvent) image.Rectangle { return image.Rectangle{} }

func (b *ball) tick(now time.Time) image.Rectangle {
	if b.start.IsZero() {
		b.start = now
	}
	before, room := b.rect(), b.area.Inset(ballRadius+1)
	t := now.Sub(b.start).Seconds()
	fall := math.Abs(math.Sin(t * 2.6))
	b.at = image.Pt(room.Min.X+bounce(int(t*110), room.Dx()), room.Max.Y-int(fall*float64(room.Dy())))
	return before.Union(b.rect()).Intersect(b.area)
}

func (b *ball) rect() image.Rectangle {
	return image.Rectangle{Min: b.at, Max: b.at}.Inset(-ballRadius - 1)
}

func (b *ball) bounds() image.Rectangle { return b.area }

func (b *ball) paint(p painter) {
	p.round(b.area, 8, colorAccentLow)
	p.disc(float64(b.at.X), float64(b.at.Y), ballRadius, colorAccent)
	p.disc(float64(b.at.X)-6, float64(b.at.Y)-6, 4, colorAccentLow)
}

// list scrolls by wheel and arrow keys and marks the row that is clicked.
type list struct {
	area     image.Rectangle
	rows     []string
	scroll   float64 // pixels
	selected int
}

const rowHeight = 30

func (l *list) tick(time.Time) image.Rectangle { return image.Rectangle{} }

func (l *list) input(e demoEvent) image.Rectangle {
	inside := e.at.In(l.area)
	switch {
	case e.kind == eventWheel && inside:
		l.scroll += e.dy * 3 * rowHeight
	case e.kind == eventKey && e.down && e.code == "ArrowDown":
		l.choose(l.selected + 1)
	case e.kind == eventKey && e.down && e.code == "ArrowUp":
		l.choose(l.selected - 1)
	case e.kind == eventKey && e.down && e.code == "PageDown":
		l.scroll += float64(l.area.Dy())
	case e.kind == eventKey && e.down && e.code == "PageUp":
		l.scroll -= float64(l.area.Dy())
	case e.kind == eventButton && e.down && e.button == 0 && inside:
		l.choose((e.at.Y - l.area.Min.Y + int(l.scroll)) / rowHeight)
	default:
		return image.Rectangle{}
	}
	l.scroll = min(max(l.scroll, 0), float64(len(l.rows)*rowHeight-l.area.Dy()))
	return l.area
}

// choose selects a row and scrolls so far that it can be seen.
func (l *list) choose(i int) {
	l.selected = min(max(i, 0), len(l.rows)-1)
	top := float64(l.selected * rowHeight)
	l.scroll = min(max(l.scroll, top+rowHeight-float64(l.area.Dy())), top)
}

func (l *list) bounds() image.Rectangle { return l.area }

func (l *list) paint(p painter) {
	p = painter{p.dst.SubImage(l.area).(*image.RGBA)}
	p.fill(l.area, colorPaper)
	for i, row := range l.rows {
		y := l.area.Min.Y + i*rowHeight - int(l.scroll)
		if y+rowHeight <= l.area.Min.Y || y >= l.area.Max.Y {
			continue
		}
		ink := colorInk
		if i == l.selected {
			p.round(image.Rect(l.area.Min.X, y+2, l.area.Max.X-10, y+rowHeight-2), 6, colorAccent)
			ink = colorPaper
		}
		p.text(fonts().body, l.area.Min.X+12, y+20, ink, row)
	}
	all := len(l.rows) * rowHeight
	h := l.area.Dy() * l.area.Dy() / all
	y := l.area.Min.Y + int(l.scroll)*l.area.Dy()/all
	p.round(image.Rect(l.area.Max.X-6, y, l.area.Max.X-1, y+h), 2.5, colorLine)
}

// button counts its clicks and shows when it is pointed at and held.
type button struct {
	area       image.Rectangle
	label      string
	over, held bool
	clicks     int
	click      func() image.Rectangle // may be nil
}

func (b *button) tick(time.Time) image.Rectangle { return image.Rectangle{} }

func (b *button) input(e demoEvent) image.Rectangle {
	over, held, clicks := b.over, b.held, b.clicks
	more := image.Rectangle{}
	b.over = e.at.In(b.area)
	if e.kind == eventButton && e.button == 0 {
		if !e.down && b.held && b.over {
			b.clicks++
			if b.click != nil {
				more = b.click()
			}
		}
		b.held = e.down && b.over
	}
	if over == b.over && held == b.held && clicks == b.clicks {
		return image.Rectangle{}
	}
	return b.area.Union(more)
}

func (b *button) bounds() image.Rectangle { return b.area }

func (b *button) paint(p painter) {
	fill, ink := colorAccentLow, colorAccent
	switch {
	case b.held:
		fill, ink = colorInk, colorPaper
	case b.over:
		fill, ink = colorAccent, colorPaper
	}
	p.round(b.area, 8, fill)
	label := b.label
	if b.clicks > 0 {
		label = fmt.Sprintf("%s  %d", b.label, b.clicks)
	}
	p.textMiddle(fonts().body, (b.area.Min.X+b.area.Max.X)/2, b.area.Min.Y+b.area.Dy()/2+5, ink, label)
}
