package capture

import (
	"fmt"
	"image"
	"image/draw"
	"time"

	"nearglass/gpu"
)

// desktop is the demo's picture and the widgets on it. The Demo's lock guards
// it.
type desktop struct {
	size    image.Point
	canvas  *image.RGBA // red and blue exchanged, see rgb
	still   *image.RGBA // wallpaper and window frames, which never change
	widgets []widget
	field   *field
	pad     *pad
	pointer image.Point
	dirty   gpu.Region
}

const (
	barHeight   = 30
	titleHeight = 34
)

func newDesktop(size image.Point) *desktop {
	whole := image.Rectangle{Max: size}
	d := &desktop{size: size, canvas: image.NewRGBA(whole), still: image.NewRGBA(whole), pointer: size.Div(2)}
	p := newPainter(d.still, whole)
	p.sky()
	p.fill(image.Rect(0, 0, size.X, barHeight), colorBar)
	p.text(fonts().title, 14, 20, colorPaper, "nearglass demo")
	p.text(fonts().small, 130, 20, colorLine, "A desktop drawn in Go: type, click, drag and scroll.")
	p.fill(image.Rect(0, size.Y-28, size.X, size.Y), colorBar)
	d.layout(p)
	draw.Draw(d.canvas, whole, d.still, image.Point{}, draw.Src)
	d.dirty.Set(whole)
	return d
}

// layout places the windows on a raster of four by two cells, so that they
// keep apart at any size.
func (d *desktop) layout(p painter) {
	room := image.Rect(28, barHeight+24, d.size.X-28, d.size.Y-28-24)
	cell := func(x0, y0, x1, y1 int) image.Rectangle {
		const gap = 12
		w, h := room.Dx(), room.Dy()
		return image.Rect(room.Min.X+w*x0/24, room.Min.Y+h*y0/24, room.Min.X+w*x1/24, room.Min.Y+h*y1/24).Inset(gap)
	}
	clockArea := d.window(p, cell(0, 0, 6, 13), "Clock")
	textArea := d.window(p, cell(6, 0, 16, 13), "Notes")
	listArea := d.window(p, cell(16, 0, 24, 24), "Places")
	ballArea := d.window(p, cell(0, 13, 6, 24), "Motion")
	padArea := d.window(p, cell(6, 13, 16, 24), "Sketch")

	d.field = &field{area: image.Rectangle{Min: textArea.Min, Max: textArea.Max.Sub(image.Pt(0, 48))}, shift: map[string]bool{}}
	d.pad = newPad(padArea)
	d.widgets = []widget{
		&clock{area: clockArea}, &ball{area: ballArea}, d.field, d.pad,
		&list{area: listArea, rows: places()},
		&readout{area: image.Rect(0, d.size.Y-28, d.size.X, d.size.Y), line: "Waiting for the first input"},
	}
	for i, b := range []*button{
		{label: "Press"},
		{label: "Clear text", click: func() image.Rectangle { d.field.text = ""; return d.field.area }},
		{label: "Clear sketch", click: func() image.Rectangle { return d.pad.clear() }},
	} {
		w := textArea.Dx() / 3
		x := textArea.Min.X + i*w
		b.area = image.Rect(x+4*min(i, 1), textArea.Max.Y-38, x+w-4*(1-i/2), textArea.Max.Y)
		d.widgets = append(d.widgets, b)
	}
}

// window draws a frame and returns the room inside it.
func (d *desktop) window(p painter, r image.Rectangle, title string) image.Rectangle {
	p.shadow(r, 12)
	p.round(r, 12, colorPaper)
	p.disc(float64(r.Min.X)+18, float64(r.Min.Y)+18, 5, colorWarm)
	p.textMiddle(fonts().title, (r.Min.X+r.Max.X)/2, r.Min.Y+22, colorQuiet, title)
	p.fill(image.Rect(r.Min.X, r.Min.Y+titleHeight, r.Max.X, r.Min.Y+titleHeight+1), colorLine)
	r.Min.Y += titleHeight
	return r.Inset(14)
}

func places() []string {
	names := []string{"Aletsch", "Bergamo", "Cádiz", "Dunkeld", "Évora", "Faro", "Grindelwald", "Hallstatt", "Iseo", "Jurmala"}
	rows := make([]string, 0, 6*len(names))
	for i := range cap(rows) {
		rows = append(rows, fmt.Sprintf("%02d   %s", i+1, names[i%len(names)]))
	}
	return rows
}

// input hands an event to every widget and notes what must be painted again.
func (d *desktop) input(e demoEvent) {
	d.pointer = e.at
	for _, w := range d.widgets {
		d.dirty.Add(w.input(e))
	}
}

func (d *desktop) tick(now time.Time) {
	for _, w := range d.widgets {
		d.dirty.Add(w.tick(now))
	}
}

// repaint draws what is dirty and adds it to each of the regions.
func (d *desktop) repaint(to map[*demoCapture]struct{}) {
	whole := image.Rectangle{Max: d.size}
	for _, r := range d.dirty.Rects() {
		r = r.Intersect(whole)
		p := newPainter(d.canvas, r)
		draw.Draw(p.dst, r, d.still, r.Min, draw.Src)
		for _, w := range d.widgets {
			if w.bounds().Overlaps(r) {
				w.paint(p)
			}
		}
		for c := range to {
			c.damage.Add(r)
		}
	}
	d.dirty.Reset()
}

// shape names the pointer's shape where it is now, as CSS does.
func (d *desktop) shape() string {
	for _, w := range d.widgets {
		switch w := w.(type) {
		case *field:
			if d.pointer.In(w.area) {
				return "text"
			}
		case *pad:
			if d.pointer.In(w.area) {
				return "crosshair"
			}
		case *button:
			if d.pointer.In(w.area) {
				return "pointer"
			}
		}
	}
	return "default"
}

// describe puts the event into words for the line at the bottom.
func (e demoEvent) describe() string {
	at := fmt.Sprintf("%d, %d", e.at.X, e.at.Y)
	what := map[bool]string{true: "down", false: "up"}[e.down]
	switch e.kind {
	case eventMove:
		return "Pointer at " + at
	case eventButton:
		return fmt.Sprintf("Button %d %s at %s", e.button, what, at)
	case eventWheel:
		return fmt.Sprintf("Wheel %+.2f at %s", e.dy, at)
	case eventKey:
		return fmt.Sprintf("Key %s %s", e.code, what)
	default:
		return fmt.Sprintf("Text %q", e.text)
	}
}
