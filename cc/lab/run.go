package lab

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// maxTurns bounds how often a run may stand still: more means that a part asks
// to be woken and then does nothing.
const maxTurns = 100_000

// epoch is when runs begin. Any time does; it is not zero because the zero
// time means never.
var epoch = time.Unix(1_000_000_000, 0)

// Run plays a scenario with one kind of controller for every stream.
func Run(s Scenario, k Kind, seed uint64) *Result {
	s = s.withDefaults(seed)
	origin := epoch
	if k.Now != nil {
		origin = k.Now()
	}
	var before *Result
	if s.Before != nil {
		before = Run(*s.Before, k, seed)
		origin = before.ended.Add(s.Away)
	}
	w := newWorld(s, k, seed, origin, before)
	w.play()
	return w.result()
}

// world is a run under way. Its links carry, by number: the streams, their
// feedback, and what competes with them.
type world struct {
	scenario Scenario
	kind     Kind
	seed     uint64
	rand     *rand.Rand
	origin   time.Time
	roads    [2]road
	flows    []*flow
	cross    []*crossing
	before   *Result
}

func newWorld(s Scenario, k Kind, seed uint64, origin time.Time, before *Result) *world {
	w := &world{
		scenario: s, kind: k, seed: seed, origin: origin, before: before,
		rand: rand.New(rand.NewPCG(seed, 1)),
	}
	w.roads = w.newRoads()
	for i := range s.Flows {
		w.flows = append(w.flows, w.newFlow(i))
	}
	w.addCross()
	return w
}

// play runs until the end.
func (w *world) play() {
	end := w.origin.Add(w.scenario.Length)
	turns := 0
	for now := w.origin; now.Before(end); {
		w.step(now)
		next := w.next(now)
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
	for i := range w.roads {
		w.receive(now, &w.roads[i])
	}
	for _, f := range w.flows {
		if f.on(now) {
			w.turn(f, now)
		}
	}
	for _, c := range w.cross {
		c.step(now, w.roads[0].Link)
	}
}

// receive hands out what has arrived over a road.
func (w *world) receive(now time.Time, r *road) {
	for {
		d, ok := r.receive(now)
		if !ok {
			return
		}
		switch n := len(w.flows); {
		case d.Flow < n:
			w.flows[d.Flow].arrive(now, d)
		case d.Flow < 2*n:
			w.flows[d.Flow-n].feedbackArrived(now, d.ID)
		default:
			w.cross[d.Flow-2*n].arrived(d)
		}
	}
}

// turn is one stream's part of a step.
func (w *world) turn(f *flow, now time.Time) {
	if !f.begun {
		f.begun = true
		f.apply(now, f.control.OnTick(now))
	}
	if p, ok := f.receiver.feedback(now); ok {
		f.reply(now, p)
	}
	if nacks := f.receiver.nacks(now); len(nacks) > 0 {
		f.reply(now, report{nacks: nacks})
	}
	if f.awake(now) {
		f.send(now)
	}
}

// next returns when something happens next; the zero time means never.
func (w *world) next(now time.Time) time.Time {
	at := earliest(w.roads[0].next(), w.roads[1].next())
	for _, f := range w.flows {
		if !f.ended {
			at = earliest(at, f.next(now))
		}
	}
	for _, c := range w.cross {
		at = earliest(at, c.next())
	}
	return at
}

// result sums the run up.
func (w *world) result() *Result {
	r := &Result{
		Scenario: w.scenario, Kind: w.kind.Name, Seed: w.seed, Before: w.before,
		ended: w.origin.Add(w.scenario.Length), links: w.roads, origin: w.origin,
	}
	for _, f := range w.flows {
		f.log.oneWay = f.oneWay
		if m, ok := f.control.(rememberer); ok {
			f.log.memory = m.Memory(r.ended)
		}
		r.Flows = append(r.Flows, f.log)
	}
	for _, c := range w.cross {
		r.Cross = append(r.Cross, c.log)
	}
	return r
}
