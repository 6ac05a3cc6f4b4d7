package lab

import (
	"fmt"
	"math/rand/v2"
	"time"

	"nearglass/cc/sim"
	"nearglass/pacing"
)

// maxTurns bounds how often a run may stand still: more means that a part asks
// to be woken and then does nothing.
const maxTurns = 100_000

// Run plays a scenario with one kind of controller for every flow.
func Run(s Scenario, k Kind, seed uint64) *Result {
	w := newWorld(s.withDefaults(), k, seed)
	w.play()
	return w.result()
}

// world is a run under way.
type world struct {
	scenario Scenario
	kind     Kind
	seed     uint64
	rand     *rand.Rand
	origin   time.Time
	link     *sim.Link
	flows    []*flow
}

// epoch is when all runs begin. Any time does; it is not zero because the zero
// time means never.
var epoch = time.Unix(1_000_000_000, 0)

func newWorld(s Scenario, k Kind, seed uint64) *world {
	w := &world{scenario: s, kind: k, seed: seed, origin: epoch, rand: rand.New(rand.NewPCG(seed, 1))}
	s.Forward.Origin = w.origin
	w.link = sim.NewLink(s.Forward, seed)
	for i := range s.Flows {
		w.flows = append(w.flows, w.newFlow(i))
	}
	return w
}

// newFlow makes a stream. The seed shifts its pictures and its feedback against
// everything else.
func (w *world) newFlow(i int) *flow {
	s, spec := w.scenario, w.scenario.Flows[i]
	start := w.origin.Add(spec.From)
	f := &flow{
		id: i, spec: spec, tick: s.Tick, origin: w.origin, log: &Log{}, start: start,
		pacer: pacing.New(pacing.Config{}),
		control: w.kind.New(Setup{
			Start: spec.Start, Min: defaultMin, Max: spec.Max, FrameInterval: frameInterval,
		}),
		source: &source{
			content: spec.Content, rand: rand.New(rand.NewPCG(w.seed, uint64(100+i))),
			start: start.Add(time.Duration(w.rand.Int64N(int64(frameInterval)))),
		},
		receiver: receiver{
			every: s.Feedback, pause: s.Forward.Delay + s.Back, highest: -1,
			feedAt: start.Add(time.Duration(w.rand.Int64N(int64(s.Feedback)))),
			origin: w.origin.Add(-time.Duration(w.rand.Int64N(int64(time.Hour)))),
		},
	}
	f.pacer.SetRTT(s.Forward.Delay + s.Back)
	return f
}

// play runs until the end.
func (w *world) play() {
	end := w.origin.Add(w.scenario.Length)
	turns := 0
	for now := w.origin; now.Before(end); {
		w.step(now)
		next := w.next()
		if next.IsZero() {
			return
		}
		if turns++; next.After(now) {
			now, turns = next, 0
		} else if turns > maxTurns {
			panic(fmt.Sprintf("%s with %s, seed %d: stuck at %v", w.scenario.Name, w.kind.Name, w.seed, now.Sub(w.origin)))
		}
	}
}

// step does everything that is due at now.
func (w *world) step(now time.Time) {
	for {
		d, ok := w.link.Receive(now)
		if !ok {
			break
		}
		w.flows[d.Flow].arrive(now, d)
	}
	for _, f := range w.flows {
		if f.on(now) {
			w.turn(f, now)
		}
	}
}

// turn is one flow's part of a step.
func (w *world) turn(f *flow, now time.Time) {
	if !f.begun {
		f.begun = true
		f.apply(now, f.control.OnTick(now))
	}
	if p, ok := f.receiver.feedback(now); ok {
		p.due = now.Add(w.scenario.Back)
		f.reports = append(f.reports, p)
	}
	if nacks := f.receiver.nacks(now); len(nacks) > 0 {
		f.reports = append(f.reports, report{due: now.Add(w.scenario.Back), nacks: nacks})
	}
	if f.awake(now) {
		f.send(now, w.link)
	}
}

// next returns when something happens next; the zero time means never.
func (w *world) next() time.Time {
	at := w.link.Next()
	for _, f := range w.flows {
		if !f.ended {
			at = earliest(at, f.next())
		}
	}
	return at
}

func (w *world) result() *Result {
	r := &Result{Scenario: w.scenario, Seed: w.seed}
	r.capacity = func(from, to time.Duration) int {
		return w.link.Capacity(w.origin.Add(from), w.origin.Add(to))
	}
	for _, f := range w.flows {
		r.Flows = append(r.Flows, f.log)
	}
	return r
}
