package main

import (
	"fmt"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/cmd/bench/wire"
)

// The path of every case: 40 ms there and back, and a queue that drops at the
// tail what would wait longer than 250 ms.
const (
	linkOneWay = 20 * time.Millisecond
	linkQueue  = 250 * time.Millisecond
)

// linkCase is a link and what happens on it.
type linkCase struct {
	name string // for --only
	what string // for the table
	rate rate.Rate
	// dip is the rate of the middle third of the run; 0: the rate stays.
	dip rate.Rate
	// loss is the chance of each packet to be lost behind the bottleneck.
	loss float64
	// bulk lets a TCP flow send from a quarter of the run to three quarters.
	bulk bool
}

var linkCases = []linkCase{
	{name: "2", what: "2 Mbit/s", rate: 2 * rate.Mbps},
	{name: "5", what: "5 Mbit/s", rate: 5 * rate.Mbps},
	{name: "10", what: "10 Mbit/s", rate: 10 * rate.Mbps},
	{name: "20", what: "20 Mbit/s", rate: 20 * rate.Mbps},
	{name: "step", what: "10-3-10 Mbit/s", rate: 10 * rate.Mbps, dip: 3 * rate.Mbps},
	{name: "loss", what: "10 Mbit/s, 2 % lost", rate: 10 * rate.Mbps, loss: 0.02},
	{name: "tcp", what: "20 Mbit/s, beside TCP", rate: 20 * rate.Mbps, bulk: true},
}

// quickCases are those of a quick run.
var quickCases = []string{"5"}

// forward is the link from the sender to the viewer.
func (c linkCase) forward(length time.Duration) sim.LinkConfig {
	l := sim.LinkConfig{
		Rates: []sim.Step{{Rate: c.rate}}, Delay: linkOneWay,
		Queue: sim.Queue{Limit: linkQueue}, Loss: sim.Loss{Random: c.loss},
	}
	if down, up := c.dipped(length); c.dip > 0 {
		l.Rates = append(l.Rates, sim.Step{At: down, Rate: c.dip}, sim.Step{At: up, Rate: c.rate})
	}
	return l
}

// shape is the link in both directions: on the way back there is only the
// delay, so that all that differs is forward.
func (c linkCase) shape(length time.Duration, seed uint64) wire.Shape {
	return wire.Shape{Forward: c.forward(length), Back: sim.LinkConfig{Delay: linkOneWay}, Seed: seed}
}

// dipped says when the rate falls and rises again.
func (c linkCase) dipped(length time.Duration) (down, up time.Duration) {
	return length / 3, 2 * length / 3
}

// bulked says when the TCP flow begins and ends.
func (c linkCase) bulked(length time.Duration) (begin, end time.Duration) {
	return length / 4, 3 * length / 4
}

// linkNames lists what --only takes, for an error's text.
func linkNames() string {
	text := ""
	for _, c := range linkCases {
		text += c.name + ", "
	}
	for _, p := range linkPeers {
		text += p.name + ", "
	}
	return text[:max(len(text)-2, 0)]
}

// chosen splits --only into cases and peers. What names no case leaves all
// cases in, and the same for peers.
func chosen(only []string, quick bool) (cases []linkCase, peers []linkPeer, err error) {
	wanted := map[string]bool{}
	for _, name := range only {
		wanted[name] = true
	}
	for _, c := range linkCases {
		if wanted[c.name] {
			cases = append(cases, c)
			delete(wanted, c.name)
		}
	}
	for _, p := range linkPeers {
		if wanted[p.name] {
			peers = append(peers, p)
			delete(wanted, p.name)
		}
	}
	for name := range wanted {
		return nil, nil, fmt.Errorf("--only %s: there are %s", name, linkNames())
	}
	if len(cases) == 0 {
		cases = defaultCases(quick)
	}
	if len(peers) == 0 {
		peers = defaultPeers(quick)
	}
	return cases, peers, nil
}

func defaultCases(quick bool) []linkCase {
	if !quick {
		return linkCases
	}
	cases, _, _ := chosen(quickCases, false)
	return cases
}
