package doctor_test

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"

	"nearglass/cc/rate"
	"nearglass/telemetry"
)

// A model of a stream, in virtual time, that writes the logs of both ends. The
// congestion controller, the pacer, the links and the meter are the product's
// own; source, encoder, processors and viewer are models of their own kind. A
// fault is put where it arises (a slower decoder, a link that loses) and never
// into the figures that a rule reads.

// scene is what is played.
type scene struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Source  string  `json:"source"` // see newSource
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Cores   int     `json:"cores"`
	Mbps    float64 `json:"mbps"`    // of the bottleneck; 0: none
	DelayMs float64 `json:"delayMs"` // one way
	QueueMs float64 `json:"queueMs"` // most that waits at the bottleneck
	Jitter  float64 `json:"jitterMs"`
	Path    string  `json:"path"`  // kind
	Label   string  `json:"label"` // its words
	Radio   string  `json:"radio"` // the viewer's kind of network, as its browser tells
	Audio   bool    `json:"audio"`
	OtherMs float64 `json:"otherMs"` // round trip of another pair of addresses; 0: there is none
	// Rates makes the bottleneck follow these, in Mbit/s, a second each, again and again.
	Rates  []float64 `json:"rates"`
	Faults []fault   `json:"faults"`
}

// fault is something that goes wrong, from From to To, in seconds; To 0 is the
// end. What Amount means is the fault's own.
type fault struct {
	Kind   string  `json:"kind"`
	Amount float64 `json:"amount"`
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	For    bool    `json:"for"` // it is on for Amount seconds
}

func (s scene) withDefaults() scene {
	set := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	set(&s.Seconds, 30)
	set(&s.QueueMs, 250)
	set(&s.DelayMs, 4)
	if s.Width == 0 {
		s.Width, s.Height = 1920, 1080
	}
	if s.Cores == 0 {
		s.Cores = 8
	}
	if s.Path == "" {
		s.Path, s.Label = "lan", "local network"
	}
	return s
}

// during says whether the fault is on at t seconds.
func (f fault) during(t float64) bool { return t >= f.From && (f.To == 0 || t < f.To) }

// epoch is when models begin.
var epoch = time.Unix(1_790_000_000, 0)

// world is a stream under way.
type world struct {
	scene  scene
	rand   *rand.Rand
	now    time.Time
	end    time.Time
	agenda agenda
	order  int
	source *source
	host   *hostEnd
	viewer *viewerEnd
	road   *road
}

// play plays a scene and gives the logs of both ends.
func play(s scene, seed uint64) (host, viewer telemetry.Log) {
	s = s.withDefaults()
	w := &world{scene: s, rand: rand.New(rand.NewPCG(seed, 7)), now: epoch}
	w.end = w.time(s.Seconds)
	w.road = newRoad(w, seed)
	w.source = newSource(w)
	w.host = newHost(w)
	w.viewer = newViewer(w)
	w.run()
	w.host.event(telemetry.Event{Name: telemetry.EventEnd, Who: "viewer", Reason: "the viewer left"})
	w.viewer.event(telemetry.Event{Name: telemetry.EventEnd, Who: "viewer", Reason: "closed"})
	return w.host.log, w.viewer.log
}

func (w *world) time(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// t is now in seconds.
func (w *world) t() float64 { return w.now.Sub(epoch).Seconds() }

// amount is the fault's amount while it is on, and 0 otherwise.
func (w *world) amount(kind string) float64 {
	for _, f := range w.scene.Faults {
		if f.Kind == kind && f.during(w.t()) {
			return f.Amount
		}
	}
	return 0
}

// find gives a fault of the scene.
func (w *world) find(kind string) (fault, bool) {
	i := slices.IndexFunc(w.scene.Faults, func(f fault) bool { return f.Kind == kind })
	if i < 0 {
		return fault{}, false
	}
	f := w.scene.Faults[i]
	if f.To == 0 {
		f.To = w.scene.Seconds
	}
	return f, true
}

func (w *world) run() {
	for w.now.Before(w.end) {
		for len(w.agenda) > 0 && !w.agenda[0].at.After(w.now) {
			heap.Pop(&w.agenda).(errand).do()
		}
		w.road.step()
		w.host.step()
		next := earliest(w.road.next(), w.host.next())
		if len(w.agenda) > 0 {
			next = earliest(next, w.agenda[0].at)
		}
		if next.IsZero() {
			return
		}
		if !next.After(w.now) {
			next = w.now.Add(50 * time.Microsecond)
		}
		w.now = next
	}
}

// at has something done at a time.
func (w *world) at(t time.Time, do func()) {
	w.order++
	heap.Push(&w.agenda, errand{t, w.order, do})
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now.Add(max(d, 0)), do) }

// every has something done again and again; do says how long until then.
func (w *world) every(first time.Time, do func() time.Duration) {
	w.at(first, func() { w.every(w.now.Add(do()), do) })
}

// errand is something to do at a time.
type errand struct {
	at    time.Time
	order int
	do    func()
}

type agenda []errand

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a agenda) Less(i, j int) bool {
	if a[i].at.Equal(a[j].at) {
		return a[i].order < a[j].order
	}
	return a[i].at.Before(a[j].at)
}
func (a *agenda) Push(x any) { *a = append(*a, x.(errand)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// spread draws from a distribution around v that is skewed as times of work are.
func (w *world) spread(v float64) float64 {
	return v * (0.85 + 0.15*w.rand.ExpFloat64())
}

func dur(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func mbps(v float64) rate.Rate { return rate.Rate(v * 1e6) }

func hundredth(v float64) float64 { return float64(int64(v*100)) / 100 }
