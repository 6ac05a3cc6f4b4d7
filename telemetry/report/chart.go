package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"nearglass/telemetry"
)

// Size of a chart's field in units of its picture.
const (
	chartWidth  = 960.0
	chartHeight = 120.0
)

// chart is one drawing over the stream's time.
type chart struct {
	Title  string
	Unit   string
	Legend []entry
	Most   string        // the value at the upper edge
	From   string        // the time at the left edge
	To     string        // and at the right
	Shaded bool          // a shade says when the likeliest cause was there
	Drawn  template.HTML // the SVG's content
}

// entry is a line of a chart's legend; its colour is the class of that name.
type entry struct{ Class, Name string }

// series is a figure over time: what the seconds say of it, and whether they do.
type series struct {
	class, name string
	of          func(telemetry.Second) (float64, bool)
}

// scale maps the stream's time and a figure onto the field.
type scale struct{ from, to, most float64 }

func (s scale) x(t float64) float64 {
	if s.to <= s.from {
		return 0
	}
	return (t - s.from) / (s.to - s.from) * chartWidth
}

func (s scale) y(v float64) float64 {
	return chartHeight - min(max(v, 0), s.most)/s.most*chartHeight
}

// spanOf is the time that the charts cover. Logs are not trusted: what is not
// finite is left out.
func spanOf(t telemetry.Timeline) (from, to float64) {
	for i, s := range t.Seconds {
		if i == 0 || s.T < from {
			from = s.T
		}
		to = max(to, s.T)
	}
	return max(from-1000, 0), to
}

// niceMost is a round number at or above v.
func niceMost(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5, 10} {
		if v <= f*step {
			return f * step
		}
	}
	return 10 * step
}

// lines draws each series as a line with gaps where nothing is known.
func lines(t telemetry.Timeline, title, unit string, all ...series) chart {
	c := chart{Title: title, Unit: unit}
	from, to := spanOf(t)
	most := 0.0
	for _, s := range t.Seconds {
		for _, f := range all {
			if v, ok := f.of(s); ok {
				most = max(most, v)
			}
		}
	}
	sc := scale{from, to, niceMost(most)}
	var b strings.Builder
	for _, f := range all {
		c.Legend = append(c.Legend, entry{f.class, f.name})
		fmt.Fprintf(&b, `<path class="line %s" d="%s"/>`, f.class, path(t, sc, f))
	}
	return c.done(t, sc, &b)
}

// path is the line of one series.
func path(t telemetry.Timeline, sc scale, f series) string {
	var b strings.Builder
	pen := "M"
	for _, s := range t.Seconds {
		v, ok := f.of(s)
		if !ok {
			pen = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", pen, sc.x(s.T), sc.y(v))
		if pen == "M" {
			b.WriteString("h1") // a lone second is a dot
		}
		pen = "L"
	}
	return b.String()
}

// stacked draws the series one upon the other, a bar a second.
func stacked(t telemetry.Timeline, title, unit string, all ...series) chart {
	c := chart{Title: title, Unit: unit}
	from, to := spanOf(t)
	most := 0.0
	for _, s := range t.Seconds {
		sum := 0.0
		for _, f := range all {
			v, _ := f.of(s)
			sum += max(v, 0)
		}
		most = max(most, sum)
	}
	sc := scale{from, to, niceMost(most)}
	var b strings.Builder
	for _, f := range all {
		c.Legend = append(c.Legend, entry{f.class, f.name})
	}
	for _, s := range t.Seconds {
		width := max(sc.x(from+spanMs(s)), 1)
		base := 0.0
		for _, f := range all {
			v, _ := f.of(s)
			if v <= 0 {
				continue
			}
			top, bottom := sc.y(base+v), sc.y(base)
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, f.class, max(sc.x(s.T)-width, 0), top, width, bottom-top)
			base += v
		}
	}
	return c.done(t, sc, &b)
}

// mostSpanMs is how wide a bar is at most: after a long second nothing is known of
// what was before it.
const mostSpanMs = 1000

// spanMs is how long the host's second was.
func spanMs(s telemetry.Second) float64 {
	if s.Host == nil || !(s.Host.SpanMs > 0) {
		return mostSpanMs
	}
	return min(s.Host.SpanMs, mostSpanMs)
}

// done adds the events, as lines with a word when pointed at.
func (c chart) done(t telemetry.Timeline, sc scale, b *strings.Builder) chart {
	for _, e := range t.Events {
		if e.At < sc.from || e.At > sc.to || e.Name == telemetry.EventInput {
			continue
		}
		fmt.Fprintf(b, `<path class="event" d="M%.1f 0V%.0f"><title>%s</title></path>`, sc.x(e.At), chartHeight, html.EscapeString(eventWords(e)))
	}
	c.Most, c.From, c.To = trimmed(sc.most), at(sc.from), at(sc.to)
	c.Drawn = template.HTML(b.String()) // numbers, names from here, and what was escaped above
	return c
}

func trimmed(v float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}
