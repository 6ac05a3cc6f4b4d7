// Package lab runs a congestion controller over simulated links and compares
// it with others.
//
// A Scenario is data: links, streams and what competes with them. Run plays it
// in virtual time with one seed. What happened is kept in a Result; the figures
// of Rows are computed from that afterwards, and the worst seed's counts. A run
// is single-threaded, gives the same result for the same seed, and is driven by
// events, so that a minute takes a fraction of a second.
//
// # What a run consists of
//
// The source takes a picture 60 times a second. An encoder makes it as large as
// the target in force tells, and hands it over 8 ms later; while more than three
// frame intervals wait in the pacer it makes none, as in server/session. The
// first picture has three times the usual size. Content is Steady (full motion
// at a constant rate, 5 % of noise) or recorded from the project's own encoder
// on desktop content (testdata/desktop.txt), scaled so that full motion fills
// the target.
//
// pacing.Pacer releases the packets, which sim.Link carries with 28 bytes of IP
// and UDP on top. The receiver reports arrivals as transport-cc does, in steps
// of 250 µs, every 100 ms unless the scenario says otherwise, and asks for lost
// packets as a browser does. Seeds move the phases of pictures and feedback, the
// noise, losses and jitter.
//
// # What is counted
//
// Delivered and used bits are those on the wire that brought something new:
// padding, probe fillers and packets that arrive again count as nothing. The
// standing queue is what a picture's first packet found before it at the
// bottleneck. The first feedback that shows a change is the first that tells of
// arrivals over a frame interval after it.
//
// # The baselines
//
// All have the same source, pacer, links and feedback. pion's gcc runs from its
// module, unchanged, in the test of this package (see gcc_test.go for why
// there); aimd is the plain additive increase and multiplicative decrease.
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
	defaultStart = 1000 * rate.Kbps
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
