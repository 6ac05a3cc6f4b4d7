package capture

import (
	"image"
	"image/draw"
	"time"
)

// pad is drawn on by dragging with the first button.
type pad struct {
	area    image.Rectangle
	layer   *image.RGBA // what was drawn, with the bounds of area
	last    image.Point
	drawing bool
	empty   bool
}

const penWidth = 4

func newPad(area image.Rectangle) *pad {
	p := &pad{area: area, layer: image.NewRGBA(area)}
	p.clear()
	return p
}

func (p *pad) clear() image.Rectangle {
	p.empty = true
	draw.Draw(p.layer, p.area, image.NewUniform(colorPaper), image.Point{}, draw.Src)
	return p.area
}

func (p *pad) tick(time.Time) image.Rectangle { return image.Rectangle{} }

func (p *pad) input(e demoEvent) image.Rectangle {
	switch {
	case e.kind == eventButton && e.button == 0:
		p.drawing = e.down && e.at.In(p.area)
		p.last = e.at
		if p.drawing {
			return p.stroke(e.at)
		}
	case e.kind == eventMove && p.drawing:
		return p.stroke(e.at)
	}
	return image.Rectangle{}
}

func (p *pad) stroke(to image.Point) image.Rectangle {
	x0, y0, x1, y1 := float64(p.last.X)+0.5, float64(p.last.Y)+0.5, float64(to.X)+0.5, float64(to.Y)+0.5
	painter{p.layer}.line(x0, y0, x1, y1, penWidth, colorWarm)
	p.last = to
	dirty := lineBounds(x0, y0, x1, y1, penWidth).Intersect(p.area)
	if p.empty {
		dirty = p.area // the hint disappears
	}
	p.empty = false
	return dirty
}

func (p *pad) bounds() image.Rectangle { return p.area }

func (p *pad) paint(pt painter) {
	draw.Draw(pt.dst, p.area, p.layer, p.area.Min, draw.Src)
	if p.empty {
		pt.textMiddle(fonts().body, (p.area.Min.X+p.area.Max.X)/2, (p.area.Min.Y+p.area.Max.Y)/2, colorQuiet, "Drag to draw")
	}
}
