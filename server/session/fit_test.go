package session

import (
	"image"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/pacing"
)

// tunnel swallows from some time on what is larger than so many bytes with its IP
// header, and says nothing.
func tunnel(mtu int, from time.Duration) losing {
	return func(at time.Duration, pkt *pacing.Packet, _ *rand.Rand) bool {
		return at >= from && ipBytes(pkt) > mtu
	}
}

func ipBytes(pkt *pacing.Packet) int {
	return pkt.PayloadBytes() + rtpBytes + udpBytes
}

// TestTunnelSwallowsLargePackets: pictures come soon although the path swallows what is
// larger than it carries, whether it does so from the start or only later.
func TestTunnelSwallowsLargePackets(t *testing.T) {
	for name, c := range map[string]struct {
		play
		mtu    int
		from   time.Duration
		loss   float64
		within time.Duration // a picture, from the beginning of the fault
	}{
		"1100 from the start": {play: play{}, mtu: 1100, within: 1100 * time.Millisecond},
		"900 from the start":  {play: play{}, mtu: 900, within: 1100 * time.Millisecond},
		"600 from the start":  {play: play{}, mtu: 600, within: 1100 * time.Millisecond},
		"far":                 {play: play{viewers: []viewing{{road: road{LinkConfig: far}}}}, mtu: 900, within: 1300 * time.Millisecond},
		"a still screen":      {play: play{every: time.Second}, mtu: 900, within: 1100 * time.Millisecond},
		"with loss":           {play: play{}, mtu: 1000, loss: 0.05, within: 1100 * time.Millisecond},
		"later":               {play: play{}, mtu: 900, from: 4 * time.Second, within: 1100 * time.Millisecond},
		"later, still":        {play: play{every: time.Second}, mtu: 900, from: 4500 * time.Millisecond, within: 2 * time.Second},
		"no resends":          {play: play{change: func(c *Config) { c.NoRTX = true }}, mtu: 900, within: 1100 * time.Millisecond},
		"no references":       {play: play{change: func(c *Config) { c.Gaps = false }}, mtu: 900, within: 1100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := c.play
				if p.viewers == nil {
					p.viewers = []viewing{{road: road{LinkConfig: near}}}
				}
				p.viewers[0].lose = either(tunnel(c.mtu, c.from), share(c.loss))
				p.length, p.seed = 12*time.Second, 3
				p.size = image.Pt(320, 200)
				w := p.run(t)[0]
				var first time.Duration
				for _, s := range w.sights {
					if s.captured.Sub(w.begin) >= c.from {
						first = s.at.Sub(w.begin) - c.from
						break
					}
				}
				if first == 0 || first > c.within {
					t.Errorf("a picture came %v after packets began to vanish, the limit is %v", first, c.within)
				}
				carried := c.mtu - rtpBytes - udpBytes
				if got := w.session.Largest(); got > carried || got < pacing.LeastPayload {
					t.Errorf("packets of %d bytes are made in the end, and %d pass", got, carried)
				}
				w.right(t)
				t.Logf("%d keys asked, %d nacks, a picture after %v, longest %v, %d shown, %d keys, payload %d", w.keysAsked, w.nacked, first, w.longest(), w.shown, w.keys(), w.session.Largest())
			})
		})
	}
}
