package pacing

import (
	"slices"
	"time"
)

// PathSize finds how large the packets of a path may be where less gets through
// than its interface says: a tunnel on the way that swallows what it cannot carry
// tells nobody, and whatever is made anew in the same size is lost anew.
//
// It begins without a bound. When packets that are larger than LeastPayload are lost
// again and again while smaller ones sent among them arrive, LeastPayload is the bound
// from then on, so that the next picture arrives. From there it looks for more as
// packetization-layer path MTU discovery does (RFC 8899): it asks for packets that
// carry nothing new and are a little larger, takes their size for the bound once one
// has arrived, and halves the distance where they are lost. A bound that was set by
// mistake is gone after a few round trips.
//
// Sizes are RTP payloads in bytes, padding included: what is around them is nearly the
// same for all. Like the pacer it has no clock.
type PathSize struct {
	sizes   [1 << 13]uint16 // by transport-wide sequence; two seconds at 50 Mbit/s
	limit   int             // 0: none
	lost    []lostSize
	top     int // the largest that arrived since the first of lost
	turn    int // grows with each arrival after a loss
	arrived int // since then, whatever its size
	missed  int // since then, no larger than some that arrived

	failed int // the smallest size that was looked for and lost; 0: none
	probe  sizeProbe
	again  time.Time     // when to look for more
	wait   time.Duration // before that, the next time
}

// lostSize is a packet that was lost, and none as large has arrived since.
type lostSize struct {
	size int
	turn int
	at   time.Time // when it was reported
}

// sizeProbe is a size that is being looked for; size 0 is none.
type sizeProbe struct {
	size int
	lost int // of its packets
	at   time.Time
}

const (
	// LeastPayload is what every path is taken to carry: 576 bytes are what every
	// IPv4 host takes (RFC 1122, 3.3.2), and IPv6 carries more.
	LeastPayload = 490
	// SizeProbePackets are sent of a size that is looked for: one that the path
	// carries should not fail by the loss of one packet.
	SizeProbePackets = 3
	// A bound is set when so many packets were lost that are larger than all that
	// has arrived since, in so many goes with arrivals between them, and hardly any
	// smaller one. An outage loses all sizes in one go, and chance loses small ones, too.
	sizeLosses = 6
	sizeTurns  = 3
	// sizeMemory is how long a loss speaks against its size.
	sizeMemory = 5 * time.Second
	// sizeStep is how much larger a probe is than what is known to pass: RTP pads by
	// 255 bytes at most.
	sizeStep = 240
	// sizeFine is how near the bound comes to the size that was lost.
	sizeFine = 48
	// sizePatience is how long the outcome of a probe is awaited.
	sizePatience = 2 * time.Second
	// After a search it begins anew, first after this time and then after twice as
	// long each time (RFC 8899, 5.1.1, has 600 s): the path may have changed.
	sizeAgain     = 5 * time.Second
	sizeAgainMost = 10 * time.Minute
)

// Most is the largest payload to make, where the interface takes up to ceiling.
func (s *PathSize) Most(ceiling int) int {
	if s.limit == 0 {
		return ceiling
	}
	return min(s.limit, ceiling)
}

// Reset forgets all, for another path.
func (s *PathSize) Reset() { *s = PathSize{} }

// Sent notes a packet that left.
func (s *PathSize) Sent(sequence uint64, payload int) {
	s.sizes[sequence%uint64(len(s.sizes))] = uint16(payload)
}

// Reported takes what the receiver says of a packet, in the order in which they
// left, and tells whether the bound was set by it.
func (s *PathSize) Reported(now time.Time, sequence uint64, lost bool) (set bool) {
	size := int(s.sizes[sequence%uint64(len(s.sizes))])
	switch {
	case !lost:
		s.carried(now, size)
	case size == s.probe.size && size > 0:
		s.probeLost(now)
	case s.limit == 0 || size <= s.limit:
		s.missing(now, size)
	}
	return s.judge(now)
}

// carried notes an arrival.
func (s *PathSize) carried(now time.Time, size int) {
	if len(s.lost) > 0 {
		s.acquit(now, size)
	}
	if s.limit > 0 && size > s.limit {
		s.limit, s.wait, s.probe, s.again = size, 0, sizeProbe{}, now
		if size >= s.failed {
			s.failed = 0
		}
	}
}

// acquit forgets the losses for which a packet that arrived tells that their size was
// not the reason.
func (s *PathSize) acquit(now time.Time, size int) {
	s.arrived++
	s.top = max(s.top, size)
	if s.lost[len(s.lost)-1].turn == s.turn {
		s.turn++
	}
	s.lost = slices.DeleteFunc(s.lost, func(l lostSize) bool {
		if l.size <= size {
			s.missed++
		}
		return l.size <= size || now.Sub(l.at) > sizeMemory
	})
	if len(s.lost) == 0 {
		s.top, s.arrived, s.missed = 0, 0, 0
	}
}

// missing notes a loss.
func (s *PathSize) missing(now time.Time, size int) {
	n := len(s.lost)
	switch {
	case size <= max(s.top, LeastPayload):
		s.missed++
	case n < sizeLosses || s.lost[n-sizeLosses].turn != s.turn && n < 4*sizeLosses: // not all of one go
		s.lost = append(s.lost, lostSize{size, s.turn, now})
	}
}

// Suspects says whether so many large packets were lost that it takes small ones
// among them to tell why.
func (s *PathSize) Suspects() bool { return len(s.lost) >= sizeLosses }

// judge sets the bound when that is due.
func (s *PathSize) judge(now time.Time) bool {
	if !s.Suspects() || s.missed > 1+s.arrived/10 {
		return false
	}
	turns, last := 0, s.turn // one that nothing has followed yet does not count
	for _, l := range s.lost {
		if l.turn != last && l.turn != s.turn {
			turns, last = turns+1, l.turn
		}
	}
	if turns < sizeTurns {
		return false
	}
	*s = PathSize{sizes: s.sizes, limit: LeastPayload, again: now, lost: s.lost[:0]}
	return true
}

// Wanted is the payload of packets that would tell whether the path carries more, where
// the interface takes up to ceiling; 0 while there is nothing to find out.
func (s *PathSize) Wanted(now time.Time, ceiling int) int {
	if s.probe.size > 0 && now.Sub(s.probe.at) > sizePatience {
		s.probeFailed(now)
	}
	if s.limit == 0 || s.limit >= ceiling || s.probe.size > 0 || now.Before(s.again) {
		return 0
	}
	size := min(s.limit+sizeStep, ceiling)
	if s.failed > 0 {
		size = min(size, (s.limit+s.failed)/2)
	}
	return size
}

// Probing tells that SizeProbePackets with this payload are about to leave.
func (s *PathSize) Probing(now time.Time, size int) { s.probe = sizeProbe{size: size, at: now} }

func (s *PathSize) probeLost(now time.Time) {
	if s.probe.lost++; s.probe.lost == SizeProbePackets {
		s.probeFailed(now)
	}
}

// probeFailed looks closer, or rests.
func (s *PathSize) probeFailed(now time.Time) {
	s.failed, s.probe, s.again = s.probe.size, sizeProbe{}, now
	if s.failed-s.limit > sizeFine {
		return
	}
	s.failed = 0
	s.wait = min(max(2*s.wait, sizeAgain), sizeAgainMost)
	s.again = now.Add(s.wait)
}
