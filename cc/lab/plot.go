package lab

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"time"

	"nearglass/cc/rate"
)

// Sizes of the plot, in SVG units.
const (
	plotWidth  = 960
	plotHeight = 460
	plotLeft   = 62.0
	plotRight  = 936.0
	ratesTop   = 62.0
	ratesEnd   = 300.0
	queueTop   = 330.0
	queueEnd   = 420.0
	plotSteps  = 400 // points over the width
)

// panel is one of the two graphs: it maps times and values to the picture.
type panel struct {
	from, to    time.Duration
	top, bottom float64
	most        float64 // value at the top
}

func (p panel) x(t time.Duration) float64 {
	return plotLeft + (plotRight-plotLeft)*float64(t-p.from)/float64(p.to-p.from)
}

func (p panel) y(v float64) float64 {
	return p.bottom - (p.bottom-p.top)*min(max(v, 0), p.most)/p.most
}

// Curve is a figure over time, in order of time.
type Curve []Point

// Point is its value at a time.
type Point struct {
	At    time.Duration
	Value float64
}

func (c *Curve) add(at time.Duration, v float64) { *c = append(*c, Point{at, v}) }

func (c Curve) most() float64 {
	m := 0.0
	for _, p := range c {
		m = max(m, p.Value)
	}
	return m
}

// path draws a curve as a line; steps keeps each value until the next.
func (p panel) path(c Curve, steps bool) string {
	var b bytes.Buffer
	for i, pt := range c {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "M%.1f %.1f", p.x(pt.At), p.y(pt.Value))
		case steps:
			fmt.Fprintf(&b, "H%.1fV%.1f", p.x(pt.At), p.y(pt.Value))
		default:
			fmt.Fprintf(&b, "L%.1f %.1f", p.x(pt.At), p.y(pt.Value))
		}
	}
	return b.String()
}

// area closes a path down to the axis.
func (p panel) area(c Curve, steps bool) string {
	if len(c) == 0 {
		return ""
	}
	return fmt.Sprintf("%sV%.1fH%.1fZ", p.path(c, steps), p.bottom, p.x(c[0].At))
}

// Plot is what a stream did between two times.
type Plot struct {
	Title    string
	From, To time.Duration
	// Target is the encoder's rate, Delivered what arrived, and Capacity what
	// the link could carry, in Mbit/s; Queue is what packets met, in ms. A
	// curve may be empty.
	Target, Delivered, Capacity, Queue Curve
}

// SVG plots a stream between two times: above the target, what was delivered
// and what the link could carry, below the queue that packets met.
func (r *Result) SVG(flow int, from, to time.Duration) []byte {
	step := max((to-from)/plotSteps, 20*time.Millisecond)
	p := Plot{Title: r.Scenario.Name + " with " + r.Kind, From: from, To: to}
	p.Target, p.Delivered, p.Capacity, p.Queue = r.curves(flow, from, to, step)
	return p.SVG()
}

// SVG draws the plot.
func (p Plot) SVG() []byte {
	most := max(p.Target.most(), p.Delivered.most())
	if c := p.Capacity.most(); c < 4*most {
		most = max(most, c) // else the link is out of all proportion
	}
	rates := panel{p.From, p.To, ratesTop, ratesEnd, ceiling(most)}
	queues := panel{p.From, p.To, queueTop, queueEnd, ceiling(max(p.Queue.most(), 10))}

	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12" fill="#334155">
<rect width="100%%" height="100%%" fill="#fff"/>
<text x="%g" y="24" font-size="15" font-weight="600" fill="#0f172a">%s</text>
`, plotWidth, plotHeight, plotLeft, html.EscapeString(p.Title))
	legend(&b)
	rates.axes(&b, "Mbit/s", false)
	queues.axes(&b, "queue, ms", true)
	fmt.Fprintf(&b, `<path d="%s" fill="#e2e8f0"/>`+"\n", rates.area(p.Capacity, true))
	fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#0d9488" stroke-width="1.4"/>`+"\n", rates.path(p.Delivered, false))
	fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#1d4ed8" stroke-width="1.6"/>`+"\n", rates.path(p.Target, true))
	fmt.Fprintf(&b, `<path d="%s" fill="#fed7aa" stroke="#ea580c" stroke-width="1"/>`+"\n", queues.area(p.Queue, false))
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// curves samples what is plotted.
func (r *Result) curves(flow int, from, to, step time.Duration) (target, delivered, capacity, queue Curve) {
	l := r.Flows[flow]
	worst := make([]time.Duration, int((to-from)/step)+1)
	for i := range l.Sent {
		if p := &l.Sent[i]; p.Sent >= from && p.Sent < to && p.Arrived > 0 {
			n := int((p.Sent - from) / step)
			worst[n] = max(worst[n], p.Found)
		}
	}
	target.add(from, mbps(l.updateAt(from).Target))
	for _, u := range l.Updates {
		if u.At > from && u.At < to {
			target.add(u.At, mbps(u.Target))
		}
	}
	target.add(to, mbps(l.updateAt(to).Target))
	// Pictures come in lumps; a window of six evens them out.
	window := max(step, rampWindow)
	for at := from; at <= to; at += step {
		queue.add(at, millis(worst[min(int((at-from)/step), len(worst)-1)]))
		capacity.add(at, mbps(rate.Of(r.capacity(flow, at, at+step), step)))
		delivered.add(at, mbps(rate.Of(l.delivered(at-window, at), window)))
	}
	return target, delivered, capacity, queue
}

// legend names the lines.
func legend(b *bytes.Buffer) {
	x := plotLeft
	for _, e := range []struct{ color, name string }{
		{"#1d4ed8", "target (payload)"}, {"#0d9488", "delivered (on the wire)"}, {"#cbd5e1", "capacity"}, {"#ea580c", "queue that packets met"},
	} {
		fmt.Fprintf(b, `<rect x="%g" y="36" width="14" height="8" rx="2" fill="%s"/><text x="%g" y="44">%s</text>`+"\n",
			x, e.color, x+19, e.name)
		x += 40 + 7*float64(len(e.name))
	}
}

// axes draws the frame, the grid and its labels.
func (p panel) axes(b *bytes.Buffer, unit string, times bool) {
	fmt.Fprintf(b, `<text x="12" y="%g" font-size="11">%s</text>`+"\n", p.top-8, unit)
	lines := 4
	if p.bottom-p.top < 150 {
		lines = 2
	}
	for i := range lines + 1 {
		v := p.most * float64(i) / float64(lines)
		fmt.Fprintf(b, `<path d="M%g %.1fH%g" stroke="#e2e8f0"/><text x="%g" y="%.1f" text-anchor="end">%.4g</text>`+"\n",
			plotLeft, p.y(v), plotRight, plotLeft-8, p.y(v)+4, v)
	}
	if !times {
		return
	}
	grid := time.Duration(ceiling(float64(p.to-p.from)/10/float64(time.Millisecond))) * time.Millisecond
	for at := p.from; at <= p.to; at += grid {
		fmt.Fprintf(b, `<path d="M%.1f %gv5" stroke="#94a3b8"/><text x="%.1f" y="%g" text-anchor="middle">%.4g s</text>`+"\n",
			p.x(at), p.bottom, p.x(at), p.bottom+19, at.Seconds())
	}
}

// ceiling gives the next round number: 1, 2, 2.5, 4, 5 or 8 times a power of
// ten, so that quarters of it are round too.
func ceiling(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(v, 1e-9))))
	for _, f := range []float64{1, 2, 2.5, 4, 5, 8} {
		if v <= f*power {
			return f * power
		}
	}
	return 10 * power
}
