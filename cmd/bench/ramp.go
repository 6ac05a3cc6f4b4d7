package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	"nearglass/cc/lab"
	"nearglass/cc/rate"
)

// rampCmd measures the start of streams through the real stack: session, SRTP
// and sockets into a second pion peer. Only server/transport may know pion, so
// it is a test there that streams; the figures are made here.
type rampCmd struct {
	SVG  string `help:"Plot the first run of those that are judged into this folder." placeholder:"DIR"`
	Runs int    `help:"How many runs; medians count. 0 means 5, or 1 with --quick." placeholder:"N"`
}

// ramp is one start, as the test in server/transport writes it.
type ramp struct {
	Name     string        `json:"name"`
	Link     rate.Rate     `json:"link"`
	Max      rate.Rate     `json:"max"`
	Plot     bool          `json:"plot"`
	Length   int64         `json:"length"`
	Arrivals []rampArrival `json:"arrivals"`
	Changes  []rampChange  `json:"changes"`
}

type rampArrival struct {
	At    int64 `json:"at"`
	Bytes int   `json:"bytes"`
	Found int64 `json:"found"`
}

type rampChange struct {
	At     int64   `json:"at"`
	Kbps   float64 `json:"kbps"`
	State  string  `json:"state"`
	Reason string  `json:"reason"`
}

// What a start has to reach: the second that people wait for without a word,
// and the queue that they feel.
const (
	rampTime    = time.Second
	rampRate    = 18 * rate.Mbps
	rampWindow  = 100 * time.Millisecond
	rampQueueMs = 150
)

// Run measures and writes the report.
func (c rampCmd) Run(s settings) error {
	if c.Runs == 0 {
		c.Runs = map[bool]int{false: 5, true: 1}[s.Quick]
	}
	var runs [][]ramp
	for range c.Runs {
		r, err := fromTest[ramp](inTransport("TestRamp", "ramp", 5*time.Minute))
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	if c.SVG != "" {
		if err := plotRamps(c.SVG, runs[0]); err != nil {
			return err
		}
	}
	rep := newReport("ramp", s.Quick)
	for i := range runs[0] {
		var same []ramp
		for _, r := range runs {
			same = append(same, r[i])
		}
		addRamp(rep, same)
	}
	return rep.write(os.Stdout, s.Out)
}

// addRamp adds the rows of one kind of start, from its runs. A link has none
// that is judged but for the narrow one, where the first pictures are the risk.
func addRamp(rep *report, runs []ramp) {
	name := runs[0].Name
	switch link := runs[0].Link; {
	case link == 0:
		rep.add(higher(name+": delivered at the end of the first second", "Mbit/s", limit(float64(rampRate)/1e6), nil),
			medianOf(runs, func(r ramp) float64 { return float64(r.delivered(rampTime-rampWindow, rampTime)) / 1e6 }), nil)
		rep.add(lower(fmt.Sprintf("%s: until %v are delivered", name, rampRate), "ms", limit(milliseconds(rampTime)), limit(500)),
			medianOf(runs, func(r ramp) float64 { return milliseconds(r.until(rampRate)) }), nil)
	case link < rampRate:
		rep.add(lower(name+": longest queue", "ms", limit(rampQueueMs), limit(50)), worstOf(runs, ramp.longestQueue), nil)
		fallthrough
	default:
		rep.add(higher(name+": used after the first second", "% of the link", nil, nil),
			medianOf(runs, func(r ramp) float64 { return 100 * float64(r.settled()) / float64(link) }), nil)
		rep.add(lower(name+": until nine tenths of that are", "ms", nil, nil),
			medianOf(runs, func(r ramp) float64 { return milliseconds(r.until(r.settled().Scale(0.9))) }), nil)
	}
}

// settled is what is delivered once the start is over.
func (r ramp) settled() rate.Rate { return r.delivered(rampTime, r.length()) }

func (r ramp) length() time.Duration { return time.Duration(r.Length) * time.Microsecond }

func (a rampArrival) at() time.Duration { return time.Duration(a.At) * time.Microsecond }

// delivered is the rate on the wire at which packets arrived between two times.
func (r ramp) delivered(from, to time.Duration) rate.Rate {
	sum := 0
	for _, a := range r.Arrivals {
		if a.at() >= from && a.at() < to {
			sum += a.Bytes
		}
	}
	return rate.Of(sum, to-from)
}

// until is when a rate was first delivered over a whole window; the length of
// the run when it never was.
func (r ramp) until(want rate.Rate) time.Duration {
	for at := rampWindow; at < r.length(); at += 10 * time.Millisecond {
		if r.delivered(at-rampWindow, at) >= want {
			return at
		}
	}
	return r.length()
}

// longestQueue is the longest that a packet met, in ms.
func (r ramp) longestQueue() float64 {
	worst := int64(0)
	for _, a := range r.Arrivals {
		worst = max(worst, a.Found)
	}
	return float64(worst) / 1000
}

func medianOf(runs []ramp, figure func(ramp) float64) float64 {
	var all []float64
	for _, r := range runs {
		all = append(all, figure(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func worstOf(runs []ramp, figure func(ramp) float64) float64 {
	worst := 0.0
	for _, r := range runs {
		worst = max(worst, figure(r))
	}
	return worst
}

// plotRamps draws the first two seconds of the starts that stand in the docs.
func plotRamps(dir string, runs []ramp) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range runs {
		if !r.Plot {
			continue
		}
		name := "ramp-" + fileName(r.Name) + ".svg"
		if err := os.WriteFile(filepath.Join(dir, name), r.plot(min(2*rampTime, r.length())).SVG(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fileName keeps the letters and digits of a name.
func fileName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}), "-")
}

// buildTags are those that this program was built with: the test gets the same
// libraries.
func buildTags() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				return s.Value
			}
		}
	}
	return ""
}

// plot samples the start until a time.
func (r ramp) plot(to time.Duration) lab.Plot {
	p := lab.Plot{Title: "The start of a stream through the real stack: " + r.Name, To: to}
	const step = 10 * time.Millisecond
	for at := time.Duration(0); at <= to; at += step {
		p.Delivered = append(p.Delivered, lab.Point{At: at, Value: float64(r.delivered(at-rampWindow/2, at+rampWindow/2)) / 1e6})
		if r.Link > 0 {
			p.Capacity = append(p.Capacity, lab.Point{At: at, Value: float64(r.Link) / 1e6})
		}
		worst := int64(0)
		for _, a := range r.Arrivals {
			if a.at() >= at && a.at() < at+step {
				worst = max(worst, a.Found)
			}
		}
		p.Queue = append(p.Queue, lab.Point{At: at, Value: float64(worst) / 1000})
	}
	for _, c := range r.Changes {
		if at := time.Duration(c.At) * time.Microsecond; at <= to {
			p.Target = append(p.Target, lab.Point{At: at, Value: c.Kbps / 1000})
		}
	}
	if n := len(p.Target); n > 0 {
		p.Target = append(p.Target, lab.Point{At: to, Value: p.Target[n-1].Value})
	}
	return p
}
