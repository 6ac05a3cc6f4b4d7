package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pair is a row of a table: a name and what it is.
type pair struct{ Name, Value string }

// moment is an event as the page lists it.
type moment struct{ At, Side, Words string }

// page is the summary of a report.
func (r Report) page() ([]byte, error) {
	t := r.Timeline()
	found := doctor.Diagnose(t)
	drawn := charts(t)
	shade(drawn, t, found)
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, map[string]any{
		"Stream": r.About.Stream, "Causes": causesOf(found), "Facts": r.facts(t), "Paths": paths(t), "Charts": drawn, "Events": moments(t),
		"Host": pairs(r.Host.Header.Capabilities), "Viewer": pairs(r.Viewer.Header.Capabilities),
		"Settings": pairs(r.Host.Header.Settings), "Width": chartWidth, "Height": chartHeight,
	})
	if err != nil {
		return nil, fmt.Errorf("writing the report's page: %w", err)
	}
	return b.Bytes(), nil
}

// facts are what somebody asks first.
func (r Report) facts(t telemetry.Timeline) []pair {
	_, to := spanOf(t)
	start := time.UnixMilli(int64(r.Host.Header.StartMs)).UTC()
	list := []pair{
		{"Begun", start.Format("2006-01-02 15:04:05 UTC")},
		{"Length", (time.Duration(to) * time.Millisecond).Round(time.Second).String()},
		{"Source", r.Host.Header.Source},
		{"Host", "nearglass " + r.Host.Header.Version},
		{"Clocks", clocks(t)},
	}
	for _, e := range t.Events {
		if e.Name == telemetry.EventEnd {
			list = append(list, pair{"Ended by", string(e.Side) + ": " + e.Reason})
		}
	}
	if r.Host.Cut {
		list = append(list, pair{"Host's log", "ends in the middle of a line: the host was stopped hard"})
	}
	return append(list, pair{"Report made", r.About.Made.UTC().Format("2006-01-02 15:04:05 UTC")})
}

func clocks(t telemetry.Timeline) string {
	switch t.Matched {
	case telemetry.ByPing:
		return fmt.Sprintf("both ends on one clock, to within %.1f ms", t.BoundMs)
	case telemetry.ByWall:
		return "both ends by their wall clocks, which may differ by anything"
	}
	return "the viewer's log is missing: it was not sent, or not yet"
}

// paths is the history of the road.
func paths(t telemetry.Timeline) []moment {
	var list []moment
	for _, e := range t.Events {
		if e.Name == telemetry.EventPath && e.Path != nil {
			list = append(list, moment{at(e.At), string(e.Side), pathWords(*e.Path)})
		}
	}
	return list
}

func pathWords(p telemetry.Path) string {
	words := p.Label
	var details []string
	for _, d := range pairs(p.Details) {
		details = append(details, d.Name+" "+d.Value)
	}
	if len(details) > 0 {
		words += " (" + strings.Join(details, ", ") + ")"
	}
	if p.Unknown != "" {
		words += "; not known: " + p.Unknown
	}
	return words
}

// mostMoments bounds the list of events on the page; the logs have them all.
const mostMoments = 500

func moments(t telemetry.Timeline) []moment {
	var list []moment
	for _, e := range t.Events {
		if e.Name != telemetry.EventInput && len(list) < mostMoments {
			list = append(list, moment{at(e.At), string(e.Side), eventWords(e)})
		}
	}
	return list
}

// eventWords says an event in a line.
func eventWords(e telemetry.TimelineEvent) string {
	words := []string{e.Name}
	if e.Width > 0 {
		words = append(words, fmt.Sprintf("%dx%d", e.Width, e.Height))
	}
	if e.AmountMs != 0 {
		words = append(words, fmt.Sprintf("%.0f ms", e.AmountMs))
	}
	if e.Path != nil {
		words = append(words, e.Path.Label)
	}
	if e.Who != "" {
		words = append(words, "by "+e.Who)
	}
	if e.Reason != "" {
		words = append(words, e.Reason)
	}
	return strings.Join(words, ", ")
}

// at writes a time of the stream as minutes and seconds.
func at(ms float64) string {
	s := ms / 1000
	if s < 0 || s > 1e9 {
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%d:%04.1f", int(s)/60, s-float64(int(s)/60*60))
}

func pairs(m map[string]string) []pair {
	var list []pair
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, pair{k, m[k]})
	}
	return list
}
