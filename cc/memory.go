package cc

import (
	"time"

	"nearglass/cc/rate"
)

const (
	// recallGain is how much above what is remembered the first train leaves,
	// so that the path has to spread it.
	recallGain = 1.25
	// recallBytes is its length: the ninth part of a picture at 60 Mbit/s,
	// a queue of 80 ms at 1 Mbit/s if the path is that bad now.
	recallBytes = 10_000
)

// Shares of what arrived of late that a stream begins anew with. The hint comes
// up to a second after the change: by then what arrives is what the new path
// carries, or less. What is too much for a relay stands in the buffers of its
// TCP connections, for longer than any router holds it, so there the start is
// lower: it lets such a queue drain, and the least delay be found.
const (
	stillShare   = 0.8
	relayedShare = 0.5
)

// RouteChanged tells that packets take another path from now on. What was
// learned of the old one is forgotten, its least delay first of all: beside it
// the delay of a longer path looks like a queue that never drains. m is what is
// remembered of the new path; relayed says that a relay passes packets on.
func (c *Controller) RouteChanged(now time.Time, m Memory, relayed bool) Update {
	share := stillShare
	if relayed {
		share = relayedShare
	}
	arrives := c.sizes.encoder(c.delivered.rate().Scale(share), c.c.FrameInterval)
	target := min(max(arrives, c.startTarget(relayed)), c.c.Max)
	c.train, c.cap, c.queue, c.loss, c.blind = train{}, capacity{}, queue{}, lossModel{}, blind{}
	c.share, c.delivered, c.virtual, c.claimed = newShare(), delivered{}, virtualQueue{}, 0
	c.recheck, c.since, c.moved = time.Time{}, c.history.next, true
	c.c.Memory, c.c.Relayed = m, relayed
	c.begin(target)
	c.update.Reason = "the packets take another path"
	c.prober.at = time.Time{}
	if !c.recall(now) {
		c.gauge(now)
	}
	return c.update
}

// gauge sends a first train over a path that the packets came to in the middle
// of a stream: no key frame begins there, and small pictures of one packet each
// tell nothing. It is sent again while nothing has told anything.
func (c *Controller) gauge(now time.Time) {
	if !c.moved || c.off(Probes) || now.Sub(c.prober.at) < contendAfter {
		return
	}
	c.prober.at = now
	c.update.Probe = Probe{ID: c.prober.id(), Rate: startPace, Bytes: leastProbe}
}

// startTarget is the target while nothing is known of the path.
func (c *Controller) startTarget(relayed bool) rate.Rate {
	if relayed {
		return max(c.c.Start.Scale(relayedShare), c.c.Min)
	}
	return c.c.Start
}

// begin sets the rates for a path of which nothing is known.
func (c *Controller) begin(target rate.Rate) {
	c.update = Update{
		Target: target, Pace: max(startPace, target), State: "starting", Reason: "no feedback yet",
		// A first picture may be as large as it wants; what is more than a
		// little waits for the first feedback.
		Path: Path{Rate: target, Depth: startDepth},
	}
}

// recall begins with a train at the remembered capacity. It is probed and not
// trusted: the target stays at the start until feedback shows the train. It
// says whether there is one.
func (c *Controller) recall(now time.Time) bool {
	m := c.c.Memory
	if m.Capacity <= 0 || c.off(Recall) || now.Sub(m.At) > memoryAge || m.At.After(now) {
		return false
	}
	c.prober.at = now
	c.update.Pace = max(c.update.Target, m.Capacity.Scale(recallGain))
	c.update.Path = Path{}
	c.update.Probe = Probe{ID: c.prober.id(), Rate: m.Capacity.Scale(recallGain), Bytes: recallBytes}
	c.update.Reason = "no feedback yet; this route carried more before"
	return true
}

// Memory returns what to remember of the route, for a connection within ten
// minutes; the zero value when nothing is known.
func (c *Controller) Memory(now time.Time) Memory {
	if c.cap.rate <= 0 {
		return Memory{}
	}
	return Memory{Capacity: c.cap.rate, At: now}
}
