package sim

import (
	"math/rand/v2"
	"time"
)

// A TCP segment over Ethernet: 1,448 bytes of payload under 20 of IPv4, 20 of
// TCP and 12 of timestamps.
const (
	segmentBytes     = 1448
	segmentWireBytes = 1500
)

// hostJitter is the most that an acknowledgement waits at the hosts, drawn
// evenly. Without any, flows over one tail-drop queue fall into step and one
// of them takes the drops (Floyd and Jacobson, "On Traffic Phase Effects in
// Packet-Switched Gateways", 1992). A serialisation time at 20 Mbit/s.
const hostJitter = 600 * time.Microsecond

// endless is how many segments a flow without an end of data has to send:
// 3 TB, of which no simulation sees the end.
const endless = 1<<31 - 1

// CubicConfig describes a TCP flow. Times count from the Origin.
type CubicConfig struct {
	// Origin is what Start and Stop count from.
	Origin time.Time
	// Flow is put into each Packet.
	Flow int
	// Start is when it begins to send, Stop when it breaks off. Stop zero:
	// never.
	Start, Stop time.Duration
	// Reverse is how long an acknowledgement travels. The receiver sends one
	// for each segment.
	Reverse time.Duration
	// Transfers makes it a row of short transfers. Zero: it has no end of
	// data.
	Transfers Transfers
}

// Transfers describes short transfers with pauses, each a connection of its
// own, as RFC 8867, 5.7 has them.
type Transfers struct {
	// MinBytes and MaxBytes bound the payload, drawn evenly between them.
	MinBytes, MaxBytes int
	// Idle is the mean pause before each, drawn from an exponential
	// distribution.
	Idle time.Duration
}

// CubicStats is where a Cubic stands.
type CubicStats struct {
	ReceivedBytes int     // on the wire, that reached the receiver
	Lost          int     // segments that the sender counted as lost
	Timeouts      int     // retransmission timeouts
	Finished      int     // transfers completed
	Window        float64 // in segments
	RoundTrip     time.Duration
}

// sender is the link that a flow sends into; *Link is one.
type sender interface {
	Send(now time.Time, p Packet) (dropped bool)
}

// ack is an acknowledgement on its way back.
type ack struct {
	at time.Duration
	id uint64
}

// Cubic is a TCP sender with its receiver: CUBIC growth and fast convergence
// by RFC 9438, slow start without HyStart, loss recovery by selective
// acknowledgements with three duplicates, a retransmission timeout by
// RFC 6298. It knows no reordering: a link that reorders makes it slow, as it
// makes classic TCP. What it sends again is not told apart from new data.
//
// Hand it the deliveries of its Flow with Arrived, and call Step at Next.
type Cubic struct {
	config  CubicConfig
	rng     *rand.Rand
	growth  growth
	flight  flight
	rtt     roundTrip
	acks    ring[ack]
	stats   CubicStats
	opens   time.Duration // when the next connection starts; forever while one runs
	timeout time.Duration // when the retransmission timer fires
	unsent  int           // segments of this transfer still to send
	reduced uint64        // losses below this ID belong to a reduction already made
}

// NewCubic returns a flow whose transfers and jitter are drawn by seed.
func NewCubic(c CubicConfig, seed uint64) *Cubic {
	f := &Cubic{config: c, rng: rand.New(rand.NewPCG(seed, 3)), opens: c.Start, timeout: forever}
	f.pause(c.Start)
	return f
}

// Arrived tells the flow's receiver of a packet of its Flow.
func (c *Cubic) Arrived(d Delivery) {
	c.stats.ReceivedBytes += d.Size
	at := d.At.Sub(c.config.Origin) + c.config.Reverse + time.Duration(c.rng.Int64N(int64(hostJitter)))
	if n := c.acks.count; n > 0 {
		at = max(at, c.acks.at(n-1).at)
	}
	c.acks.push(ack{at: at, id: d.ID})
}

// Next gives when Step has something to do, or the zero time: never, unless a
// packet arrives first.
func (c *Cubic) Next() time.Time {
	next := min(c.opens, c.timeout)
	if c.acks.count > 0 {
		next = min(next, c.acks.at(0).at)
	}
	if next == forever {
		return time.Time{}
	}
	return c.config.Origin.Add(next)
}

// Step does what is due by now and sends what the window allows.
func (c *Cubic) Step(now time.Time, l sender) {
	t := now.Sub(c.config.Origin)
	if c.config.Stop > 0 && t >= c.config.Stop {
		c.opens, c.timeout, c.unsent = forever, forever, 0
		c.flight.giveUp()
		c.acks.clear()
		return
	}
	if c.opens <= t {
		c.open()
	}
	for c.acks.count > 0 && c.acks.at(0).at <= t {
		c.acknowledge(t, c.acks.pop())
	}
	if c.timeout <= t {
		c.expire()
	}
	for c.unsent > 0 && float64(c.flight.open+1) <= c.growth.window {
		c.send(t, now, l)
	}
}

// Stats says where the flow stands.
func (c *Cubic) Stats() CubicStats {
	s := c.stats
	s.Window, s.RoundTrip = c.growth.window, c.rtt.smoothed
	return s
}

// short says whether the flow is made of transfers.
func (c *Cubic) short() bool { return c.config.Transfers.MaxBytes > 0 }

// pause sets when the next transfer begins.
func (c *Cubic) pause(t time.Duration) {
	if c.short() {
		c.opens = t + time.Duration(c.rng.ExpFloat64()*float64(c.config.Transfers.Idle))
	}
}

// open begins a connection.
func (c *Cubic) open() {
	c.growth, c.rtt = newGrowth(), roundTrip{}
	c.opens, c.reduced = forever, c.flight.next()
	c.unsent = endless
	if x := c.config.Transfers; c.short() {
		bytes := x.MinBytes + c.rng.IntN(max(x.MaxBytes-x.MinBytes, 0)+1)
		c.unsent = max((bytes+segmentBytes-1)/segmentBytes, 1)
	}
}

// acknowledge takes one acknowledgement at t.
func (c *Cubic) acknowledge(t time.Duration, a ack) {
	full := 2*float64(c.flight.open) >= c.growth.window // or growth proves nothing (RFC 9438, 5.8)
	sent, known := c.flight.acknowledge(a.id)
	if !known {
		return
	}
	c.rtt.sample(a.at - sent)
	lost, highest := c.flight.takeLost()
	c.stats.Lost += lost
	c.unsent += lost
	switch {
	case lost > 0 && highest >= c.reduced:
		c.growth.lost()
		c.reduced = c.flight.next()
	case lost == 0 && a.id >= c.reduced && full:
		c.growth.acked(t, c.rtt.smoothed)
	}
	c.timeout = forever
	if c.flight.open > 0 {
		c.timeout = t + c.rtt.timeout()
	}
	if c.short() && c.unsent == 0 && c.flight.open == 0 {
		c.stats.Finished++
		c.pause(t)
	}
}

// expire is the retransmission timeout.
func (c *Cubic) expire() {
	c.timeout = forever
	lost := c.flight.giveUp()
	c.stats.Lost += lost
	c.stats.Timeouts++
	c.unsent += lost
	c.reduced = c.flight.next()
	c.growth.timedOut()
	c.rtt.backoff++
}

func (c *Cubic) send(t time.Duration, now time.Time, l sender) {
	id := c.flight.send(t)
	c.unsent--
	if c.timeout == forever {
		c.timeout = t + c.rtt.timeout()
	}
	l.Send(now, Packet{Flow: c.config.Flow, Size: segmentWireBytes, ID: id})
}
