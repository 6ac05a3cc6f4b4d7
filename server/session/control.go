package session

import (
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/pacing"
)

// plan is what one estimate means for the stream.
type plan struct {
	Encoder    rate.Rate         // what the encoder may produce
	Pace       rate.Rate         // how fast packets may leave
	Pad        rate.Rate         // padding up to this
	Bottleneck pacing.Bottleneck // what the pacer may put in front of it
	Probe      pacing.Train      // to send once; the ID 0 is none
	// KeyDelay is how long a key frame and word of it are on their way, and KeyRate
	// what the key frame passes through: see keyEvery.
	KeyDelay time.Duration
	KeyRate  rate.Rate
	// MostQueued is how much may wait in the pacer before the encoder has to
	// hold its next picture back.
	MostQueued time.Duration
	// Patience is how long a picture may wait in the pacer and still be worth
	// sending where the next ones do without it.
	Patience time.Duration
}

// minKeyEvery keeps a viewer that asks in a loop from turning the stream into
// key frames: libwebrtc repeats a PLI after 200 ms at the earliest.
const minKeyEvery = 200 * time.Millisecond

// mostQueuedFrames is how many frame intervals of packets may wait. A key
// frame or a scene change takes more than one; beyond three, each further
// picture would only be older when it arrives.
const mostQueuedFrames = 3

// A picture older than half a second, or ten pictures, shows a desktop that is
// long gone. Below that an interruption of the path is caught up with in less
// time than a key frame would take.
const (
	leastPatience  = 500 * time.Millisecond
	patienceFrames = 10
)

// decide is the one line from estimate to encoder target, pace and probe plan.
func decide(u cc.Update, rtt, interval time.Duration) plan {
	return plan{
		Encoder:    u.Target,
		Pace:       u.Pace,
		Pad:        u.Pad,
		Bottleneck: pacing.Bottleneck{Rate: u.Path.Rate, Depth: u.Path.Depth, Queue: u.Path.Queue},
		Probe:      pacing.Train{ID: u.Probe.ID, Rate: u.Probe.Rate, Bytes: u.Probe.Bytes},
		KeyDelay:   u.Path.Queue + rtt + rtt/2,
		KeyRate:    keyRate(u),
		MostQueued: mostQueuedFrames * interval,
		Patience:   max(leastPatience, patienceFrames*interval),
	}
}

// keyRate is what a key frame leaves through: the pacer and, where more is known of
// it than the encoder's target, the bottleneck.
func keyRate(u cc.Update) rate.Rate {
	carries := u.Path.Rate
	if carries <= 0 {
		carries = u.Target
	}
	if u.Pace > 0 {
		carries = min(carries, u.Pace)
	}
	return max(carries, 0)
}

// keyEvery is the least time between two key frames that a viewer asks for, when the
// first has so many bytes: until it has had time to arrive, a second request says
// nothing new.
func (p plan) keyEvery(keyBytes int) time.Duration {
	every := p.KeyDelay
	if p.KeyRate > 0 {
		every += p.KeyRate.Duration(keyBytes)
	}
	return max(minKeyEvery, every)
}
