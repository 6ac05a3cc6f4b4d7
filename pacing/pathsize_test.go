package pacing

import (
	"math/rand/v2"
	"testing"
	"time"
)

// sizedPath is a path that PathSize is asked about: pictures are sent over it and reports
// come back.
type sizedPath struct {
	rng      *rand.Rand
	now      time.Time
	found    PathSize
	sequence uint64
	falls    int
	pending  []sizedPacket // sent, in order
}

type sizedPacket struct {
	sequence uint64
	size     int
	lost     bool
}

// ceiling is what the interface takes.
const ceiling = 1142

// lose says whether a packet of a size is lost at a time.
type lose func(at time.Duration, size int) bool

// play sends pictures for some time, each of a drawn number of packets, and now and then
// a small one, and reports every 100 ms.
func (p *sizedPath) play(length time.Duration, lost lose) {
	begin := p.now
	for next := 0; p.now.Sub(begin) < length; next++ {
		p.now = p.now.Add(17 * time.Millisecond)
		at := p.now.Sub(begin)
		bytes := 200 + p.rng.IntN(6000)
		packets := (bytes + p.found.Most(ceiling) - 1) / p.found.Most(ceiling)
		for range packets {
			p.send(bytes/packets, lost(at, bytes/packets))
		}
		if next%6 == 0 {
			p.send(4, lost(at, 4))
			p.report(func(size int) bool { return lost(at, size) })
		}
	}
}

func (p *sizedPath) send(size int, lost bool) {
	p.sequence++
	p.found.Sent(p.sequence, size)
	p.pending = append(p.pending, sizedPacket{p.sequence, size, lost})
}

// report tells of all up to the last that arrived, as transport feedback does.
func (p *sizedPath) report(lost func(size int) bool) {
	last := len(p.pending)
	for last > 0 && p.pending[last-1].lost {
		last--
	}
	for _, s := range p.pending[:last] {
		if p.found.Reported(p.now, s.sequence, s.lost) {
			p.falls++
		}
	}
	p.pending = p.pending[last:]
	if size := p.found.Wanted(p.now, ceiling); size > 0 {
		p.found.Probing(p.now, size)
		for range SizeProbePackets {
			p.send(size, lost(size))
		}
	}
}

// TestPathSizeIsFound: behind a tunnel the bound falls soon and ends a little below what
// the tunnel carries; when the tunnel carries more later, that is found.
func TestPathSizeIsFound(t *testing.T) {
	for carried := LeastPayload; carried < 1100; carried += 37 {
		p := &sizedPath{rng: rand.New(rand.NewPCG(uint64(carried), 1)), now: time.Unix(1000, 0)}
		swallow := func(_ time.Duration, size int) bool { return size > carried || p.rng.Float64() < 0.02 }
		p.play(2*time.Second, swallow)
		if most := p.found.Most(ceiling); most > carried || most < carried-sizeFine && most > LeastPayload || p.falls != 1 {
			t.Errorf("%d are carried: after 2 s %d are sent, the bound fell %d times", carried, most, p.falls)
		}
		p.play(20*time.Second, func(time.Duration, int) bool { return p.rng.Float64() < 0.02 })
		if most := p.found.Most(ceiling); most != ceiling || p.falls != 1 {
			t.Errorf("all is carried after a tunnel of %d: %d are sent, the bound fell %d times", carried, most, p.falls)
		}
	}
}

// TestPathSizeOfUsualPaths: what paths lose whatever its size sets no bound, and a queue
// that only small packets still fit into none that lasts.
func TestPathSizeOfUsualPaths(t *testing.T) {
	for name, c := range map[string]struct {
		lost  func(at time.Duration, size int, r *rand.Rand) bool
		falls int
	}{
		"none":      {func(time.Duration, int, *rand.Rand) bool { return false }, 0},
		"2 %":       {func(_ time.Duration, _ int, r *rand.Rand) bool { return r.Float64() < 0.02 }, 0},
		"20 %":      {func(_ time.Duration, _ int, r *rand.Rand) bool { return r.Float64() < 0.2 }, 0},
		"40 %":      {func(_ time.Duration, _ int, r *rand.Rand) bool { return r.Float64() < 0.4 }, 0},
		"outages":   {func(at time.Duration, _ int, _ *rand.Rand) bool { return at%(2*time.Second) < 300*time.Millisecond }, 0},
		"long ones": {func(at time.Duration, _ int, _ *rand.Rand) bool { return at%(9*time.Second) < 3*time.Second }, 0},
		"full queue": {func(at time.Duration, size int, r *rand.Rand) bool {
			return at%(3*time.Second) < time.Second && size > 300 && r.Float64() < 0.6
		}, 0},
		"no large for 0.4 s": {func(at time.Duration, size int, r *rand.Rand) bool {
			return at%(5*time.Second) > 4600*time.Millisecond && size > 300
		}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				p := &sizedPath{rng: rand.New(rand.NewPCG(seed, 2)), now: time.Unix(1000, 0)}
				p.play(time.Minute, func(at time.Duration, size int) bool { return c.lost(at, size, p.rng) })
				if p.falls > c.falls {
					t.Errorf("seed %d: the bound fell %d times", seed, p.falls)
				}
				p.play(4*sizeAgain, func(time.Duration, int) bool { return false })
				if most := p.found.Most(ceiling); most != ceiling {
					t.Errorf("seed %d: %d are sent in the end", seed, most)
				}
			}
		})
	}
}

// FuzzPathSize: whatever is reported, what is made is between the least and what the
// interface takes, and what is looked for is larger than that.
func FuzzPathSize(f *testing.F) {
	f.Add([]byte{255, 1, 200, 1, 255, 1, 4, 0, 255, 1, 255, 1, 4, 0, 255, 1, 255, 1, 4, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var s PathSize
		now := time.Unix(1000, 0)
		for i := 0; i+1 < len(data); i += 2 {
			now = now.Add(time.Duration(data[i+1]) * time.Millisecond)
			s.Sent(uint64(i), 5*int(data[i]))
			s.Reported(now, uint64(i-i%7), data[i+1]%2 == 1)
			most, wanted := s.Most(ceiling), s.Wanted(now, ceiling)
			if most < LeastPayload || most > ceiling {
				t.Fatalf("%d bytes are made", most)
			}
			if wanted == 0 {
				continue
			}
			if wanted <= most || wanted > ceiling {
				t.Fatalf("%d bytes are looked for where %d are made", wanted, most)
			}
			s.Probing(now, wanted)
		}
	})
}
