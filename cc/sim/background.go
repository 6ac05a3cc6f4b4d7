package sim

import (
	"math/rand/v2"
	"time"
)

// backgroundBytes is the size of a background packet unless told otherwise: a
// full one on Ethernet.
const backgroundBytes = 1500

// BackgroundConfig describes a flow that does not react to congestion.
type BackgroundConfig struct {
	// Origin is what Start, Stop and the times of Rates count from.
	Origin time.Time
	// Flow is put into each Packet.
	Flow int
	// Rates is the rate over time while it is on, bytes on the wire counted.
	Rates []Step
	// PacketBytes is the size on the wire. Zero: 1,500.
	PacketBytes int
	// Poisson draws the gaps from an exponential distribution. Without it
	// packets come evenly.
	Poisson bool
	// On and Off are how long it sends and pauses in turn, beginning with On.
	// Off zero: it does not pause.
	On, Off time.Duration
	// Random takes On and Off as means of exponential distributions.
	Random bool
	// Start is when it begins to send, Stop when it ends. Stop zero: never.
	Start, Stop time.Duration
}

// Background sends at given rates whatever happens: constant, in bursts, or
// with random gaps. Call Step at Next.
type Background struct {
	config BackgroundConfig
	rates  schedule
	rng    *rand.Rand
	next   time.Duration
	offAt  time.Duration // when it pauses next
	id     uint64
}

// NewBackground returns a flow whose gaps and pauses are drawn by seed.
func NewBackground(c BackgroundConfig, seed uint64) *Background {
	if c.PacketBytes <= 0 {
		c.PacketBytes = backgroundBytes
	}
	b := &Background{
		config: c, rates: newSchedule(c.Rates, 0, Outages{}), rng: rand.New(rand.NewPCG(seed, 4)),
		next: forever, offAt: forever,
	}
	if len(c.Rates) == 0 {
		return b
	}
	b.next = b.rates.up(c.Start)
	if c.Off > 0 {
		b.offAt = c.Start + b.period(c.On)
	}
	b.settle()
	return b
}

// Next gives when the next packet is due, or the zero time: never.
func (b *Background) Next() time.Time {
	if b.next == forever {
		return time.Time{}
	}
	return b.config.Origin.Add(b.next)
}

// Step sends what is due by now.
func (b *Background) Step(now time.Time, l sender) {
	for b.next <= now.Sub(b.config.Origin) {
		l.Send(now, Packet{Flow: b.config.Flow, Size: b.config.PacketBytes, ID: b.id})
		b.id++
		b.next = b.after(b.next)
		b.settle()
	}
}

// after gives the packet that follows one at t.
func (b *Background) after(t time.Duration) time.Duration {
	if !b.config.Poisson {
		return b.rates.up(b.rates.finish(t, b.config.PacketBytes))
	}
	// The work between packets of a Poisson flow is exponential, whatever the
	// rate does meanwhile.
	bytes := int(b.rng.ExpFloat64()*float64(b.config.PacketBytes) + 0.5)
	return b.rates.up(b.rates.finish(t, bytes))
}

// settle moves the next packet past pauses, and past the end.
func (b *Background) settle() {
	for b.next < forever && b.next >= b.offAt {
		on := b.offAt + b.period(b.config.Off)
		b.next = b.rates.up(max(b.next, on))
		b.offAt = on + max(b.period(b.config.On), 1)
	}
	if b.config.Stop > 0 && b.next >= b.config.Stop {
		b.next = forever
	}
}

// period gives a mean or draws from its distribution.
func (b *Background) period(mean time.Duration) time.Duration {
	if b.config.Random {
		return time.Duration(b.rng.ExpFloat64() * float64(mean))
	}
	return mean
}
