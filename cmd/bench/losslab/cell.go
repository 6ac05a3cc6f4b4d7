package losslab

import (
	"fmt"
	"slices"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/server/session"
)

// FPS is how many pictures a second the source shows.
const FPS = 60

// frameTime is the time between two of them.
const frameTime = time.Second / FPS

// Loss is a way in which a path loses packets.
type Loss struct {
	Name  string // for --only
	Words string
	// Share of all packets is lost at random, on either way.
	Share float64
	// Spell is for how long all that comes out of the link to the viewer is lost,
	// each time.
	Spell time.Duration
	// Both has what the viewer sends meanwhile lost, too.
	Both bool
}

// Losses are those measured.
var Losses = []Loss{
	{Name: "1%", Words: "1 % lost", Share: 0.01},
	{Name: "2%", Words: "2 % lost", Share: 0.02},
	{Name: "5%", Words: "5 % lost", Share: 0.05},
	{Name: "burst3", Words: "3 pictures lost in a row", Spell: 3 * frameTime},
	{Name: "burst10", Words: "10 pictures lost in a row", Spell: 10 * frameTime},
	{Name: "outage", Words: "outages of 300 ms", Spell: 300 * time.Millisecond, Both: true},
}

// Round trips and rates of the paths measured.
var (
	RTTs  = []time.Duration{20 * time.Millisecond, 80 * time.Millisecond, 200 * time.Millisecond}
	Rates = []rate.Rate{2 * rate.Mbps, 10 * rate.Mbps}
)

const (
	// Settle is how long a stream may take to find its rate; what is counted
	// begins then.
	Settle = 3 * time.Second
	// spellFrom is when the first spell begins, spellEvery how long after one the
	// next does: longer than the 3 s after which a browser asks for a key frame.
	spellFrom  = 4 * time.Second
	spellEvery = 3500 * time.Millisecond
	// lossSlot is for how long the same packets are lost at random in all ways, as
	// long as they send the same: less than a picture's time, so that one packet more
	// or less in a picture changes nothing of the next.
	lossSlot = 5 * time.Millisecond
	// queueLimit is what may wait at the bottleneck, as in bench link.
	queueLimit = 250 * time.Millisecond
)

// Cell is a path.
type Cell struct {
	Loss Loss
	RTT  time.Duration
	Rate rate.Rate
}

// Cells are all of them.
func Cells() []Cell {
	var all []Cell
	for _, l := range Losses {
		for _, rtt := range RTTs {
			for _, r := range Rates {
				all = append(all, Cell{l, rtt, r})
			}
		}
	}
	return all
}

// String says it in words.
func (c Cell) String() string {
	return fmt.Sprintf("%s, %d ms, %d Mbit/s", c.Loss.Words, c.RTT.Milliseconds(), c.Rate/rate.Mbps)
}

// RateName is a rate as --only writes it.
func RateName(r rate.Rate) string { return fmt.Sprintf("%dM", r/rate.Mbps) }

// RTTName is a round trip as --only writes it.
func RTTName(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }

// Forward is the link to the viewer.
func (c Cell) Forward() sim.LinkConfig {
	return sim.LinkConfig{
		Rates: []sim.Step{{Rate: c.Rate}}, Delay: c.RTT / 2, Queue: sim.Queue{Limit: queueLimit},
		Loss: sim.Loss{Random: c.Loss.Share, Slot: lossSlot, Spells: c.Loss.spells()},
	}
}

// Back is the way back, which has no bottleneck.
func (c Cell) Back() sim.LinkConfig {
	l := sim.LinkConfig{Delay: c.RTT / 2, Loss: sim.Loss{Random: c.Loss.Share, Slot: lossSlot}}
	if c.Loss.Both {
		l.Loss.Spells = c.Loss.spells()
	}
	return l
}

func (l Loss) spells() sim.Outages {
	return sim.Outages{Length: l.Spell, Every: spellEvery, From: spellFrom}
}

// Senders names the ways of our own host.
func Senders() (list []string) {
	for _, r := range session.Repairs {
		list = append(list, string(r))
	}
	return list
}

// names applies f to all of a list.
func names[T any](list []T, f func(T) string) (out []string) {
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

// Names lists what cells can be chosen by: losses, round trips and rates.
func Names() (losses, rtts, rates []string) {
	return names(Losses, func(l Loss) string { return l.Name }), names(RTTs, RTTName), names(Rates, RateName)
}

// Wanted says whether a choice leaves a name in: it has it, or no name of its kind.
func Wanted(only []string, name string, kind []string) bool {
	return slices.Contains(only, name) || !slices.ContainsFunc(kind, func(k string) bool { return slices.Contains(only, k) })
}

// Chosen are the cells that a choice leaves in.
func Chosen(only []string) []Cell {
	losses, rtts, rates := Names()
	return slices.DeleteFunc(Cells(), func(c Cell) bool {
		return !Wanted(only, c.Loss.Name, losses) || !Wanted(only, RTTName(c.RTT), rtts) || !Wanted(only, RateName(c.Rate), rates)
	})
}
