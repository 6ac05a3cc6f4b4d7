// Package lab runs a congestion controller over simulated links and compares
// it with others.
//
// A Scenario is data: links, streams and what competes with them. Run plays it
// in virtual time with one seed: a source makes pictures, pacing.Pacer releases
// their packets, sim.Link carries them, a receiver reports arrivals as
// transport-cc does and asks for lost packets, and the controller's answer goes
// to the pacer and the source as server/session does it. What happened is kept
// in a Result; metrics and rows are computed from it afterwards.
//
// A run is single-threaded and gives the same result for the same seed. It is
// driven by events, so a minute takes a fraction of a second.
package lab

import (
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
)

// controller is what a run drives; cc.Controller and the baselines are such.
type controller interface {
	OnSent(now time.Time, s cc.Sent)
	OnFeedback(now time.Time, acks []cc.Ack) cc.Update
	OnTick(now time.Time) cc.Update
	Deadline() time.Time
}

// rememberer is a controller that leaves something for the next connection.
type rememberer interface {
	Memory(now time.Time) Memory
}

// Memory is what a controller remembers of a route.
type Memory = cc.Memory

// Setup is what a controller is made with.
type Setup struct {
	Origin          time.Time // of the run
	Start, Min, Max rate.Rate // of the target
	FrameInterval   time.Duration
	Memory          Memory // of an earlier connection over the same route
}

// Kind is a way to make a controller.
type Kind struct {
	Name string
	New  func(Setup) controller
	// Now gives the time at which a run begins, for a controller that reads
	// a clock of its own. nil: any.
	Now func() time.Time
}

// Bounds of every stream unless a scenario says otherwise: a start that hurts
// no link that can carry video at all, and more than any desktop needs.
const (
	defaultStart = 1200 * rate.Kbps
	defaultMin   = 150 * rate.Kbps
	defaultMax   = 50 * rate.Mbps
)

// frameInterval is that of a source at 60 pictures a second.
const frameInterval = time.Second / 60

// encodeTime is how long an encoder takes for a picture: x264 at 1080p needs 8
// to 10 ms on one core. A picture has the size that the target had before.
const encodeTime = 8 * time.Millisecond

// mostQueued is how much may wait in the pacer before the encoder has to hold
// its next picture back, as in server/session.
const mostQueued = 3 * frameInterval

// Sizes on the wire.
const (
	payloadBytes  = 1142         // RTP payload of a full packet, as server/transport allows
	overheadBytes = 12 + 20 + 16 // RTP header, extensions and SRTP tag, as in pacing
	ipBytes       = 28           // IPv4 and UDP headers
)

// twccStep is the grain of arrival times in transport-cc feedback.
const twccStep = 250 * time.Microsecond
