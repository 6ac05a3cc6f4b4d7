package session

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/pacing"
)

// parities protect packets ahead, as FlexFEC does with one row (RFC 8627): behind
// every so many of them goes one that restores any single one of them.
type parities struct {
	open   *parityGroup
	groups map[uint64]*parityGroup // by the number of the parity packet
	of     map[uint16]*parityGroup // by media sequence number
}

type parityGroup struct {
	members map[uint16]pacing.Packet // that have not arrived
	count   int
	size    int // of the largest
	came    bool
}

// firstParity is where the numbers of parity packets begin.
const firstParity = 1 << 62

// add takes a packet that leaves. When the group is full it gives the number and
// size of the parity packet that follows.
func (p *parities) add(pkt *pacing.Packet, size, every int) (id uint64, sizeBytes int) {
	if every == 0 || pkt.Class != pacing.Video && pkt.Class != pacing.KeyFrame {
		return 0, 0
	}
	if p.of == nil {
		p.of, p.groups = map[uint16]*parityGroup{}, map[uint64]*parityGroup{}
	}
	if p.open == nil {
		p.open = &parityGroup{members: map[uint16]pacing.Packet{}}
	}
	g := p.open
	g.members[pkt.Seq], p.of[pkt.Seq] = *pkt, g
	g.count++
	g.size = max(g.size, size)
	if g.count < every {
		return 0, 0
	}
	p.open = nil
	id = firstParity + uint64(len(p.groups))
	p.groups[id] = g
	return id, g.size
}

// arrive notes a packet and gives what its group can restore by that.
func (p *parities) arrive(pkt pacing.Packet) []pacing.Packet {
	g := p.of[pkt.Seq]
	if g == nil {
		return nil
	}
	delete(g.members, pkt.Seq)
	return g.restore()
}

// complete notes a parity packet and gives what it restores.
func (p *parities) complete(id uint64) []pacing.Packet {
	g := p.groups[id]
	if g == nil {
		return nil
	}
	g.came = true
	return g.restore()
}

func (g *parityGroup) restore() (list []pacing.Packet) {
	if !g.came || len(g.members) != 1 {
		return nil
	}
	for _, pkt := range g.members {
		list = append(list, pkt)
	}
	clear(g.members)
	return list
}

var tables = flag.Bool("tables", false, "play the long tables that the docs quote, and log them")

// TestProtectionAhead plays a film over paths that lose packets at random, with and
// without parity packets, whose rate the encoder then lacks. With -tables it is what
// docs/RATIONALE.md decides by.
func TestProtectionAhead(t *testing.T) {
	const link = 2 * rate.Mbps
	losses, trips, length, seeds := []float64{0.05}, []time.Duration{80 * time.Millisecond}, 3*time.Second, uint64(1)
	if *tables {
		losses, trips = []float64{0.02, 0.05}, []time.Duration{80 * time.Millisecond, 200 * time.Millisecond}
		length, seeds = 30*time.Second, 5
	}
	for _, loss := range losses {
		for _, rtt := range trips {
			for _, every := range []int{0, 10, 5} {
				c := sim.LinkConfig{Rates: []sim.Step{{Rate: link}}, Delay: rtt / 2, Loss: sim.Loss{Random: loss}, Queue: sim.Queue{Limit: 250 * time.Millisecond}}
				var all tally
				for seed := range seeds {
					all.add(filmOver(t, road{LinkConfig: c, parity: every}, link.Scale(0.85), length, seed))
				}
				t.Logf("%2.0f %% lost, %v, parity behind %2d: %v", 100*loss, rtt, every, &all)
				if all.wrong > 0 {
					t.Errorf("%d pictures were wrong", all.wrong)
				}
			}
		}
	}
}

// filmOver plays a film over a path, of which the parity packets take their part.
func filmOver(t *testing.T, r road, media rate.Rate, length time.Duration, seed uint64) (w *watched) {
	if r.parity > 0 {
		media = media.Scale(float64(r.parity) / float64(r.parity+1))
	}
	synctest.Test(t, func(t *testing.T) {
		w = play{viewers: []viewing{{road: r}}, length: length, seed: seed, size: wideSource,
			change: func(c *Config) { c.Bitrate, c.FullSize = media, true }}.run(t)[0]
	})
	return w
}

// tally sums up runs.
type tally struct {
	runs, shown, wrong, keys int
	longest, sum             time.Duration // without a new picture: the longest, and those of all runs
	delays                   []time.Duration
	length                   time.Duration
}

func (s *tally) add(w *watched) {
	s.runs++
	for _, v := range w.sights {
		if v.at.Before(w.ends) {
			s.shown++
			s.delays = append(s.delays, v.at.Sub(v.captured))
		}
	}
	s.wrong += w.wrong
	s.keys += w.keys() - 1
	s.longest = max(s.longest, w.longest())
	s.sum += w.longest()
	s.length += w.ends.Sub(w.begin)
}

func (s *tally) String() string {
	slices.Sort(s.delays)
	at := func(q float64) time.Duration {
		return s.delays[int(q*float64(len(s.delays)-1))].Round(time.Millisecond)
	}
	return fmt.Sprintf("%.1f shown a second, longest gap %v (%v in the usual run), delay %v, %v (95 %%), %v (99 %%), %d more key frames",
		float64(s.shown)/s.length.Seconds(), s.longest, (s.sum / time.Duration(s.runs)).Round(time.Millisecond), at(.5), at(.95), at(.99), s.keys)
}
