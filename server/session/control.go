package session

import (
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
)

// plan is what one estimate means for the stream.
type plan struct {
	Encoder rate.Rate // what the encoder may produce
	Pace    rate.Rate // how fast packets may leave
	Pad     rate.Rate // padding up to this
	// KeyEvery is the least time between two key frames that a viewer asks
	// for: until the first has had time to arrive, a second request says
	// nothing new.
	KeyEvery time.Duration
	// MostQueued is how much may wait in the pacer before the encoder has to
	// hold its next picture back.
	MostQueued time.Duration
}

// minKeyEvery keeps a viewer that asks in a loop from turning the stream into
// key frames: libwebrtc repeats a PLI after 200 ms at the earliest.
const minKeyEvery = 200 * time.Millisecond

// mostQueuedFrames is how many frame intervals of packets may wait. A key
// frame or a scene change takes more than one; beyond three, each further
// picture would only be older when it arrives.
const mostQueuedFrames = 3

// decide is the one line from estimate to encoder target, pace and probe plan.
// keyBytes is the size of the last key frame.
func decide(u cc.Update, rtt, interval time.Duration, keyBytes int) plan {
	pace := max(u.Pace, u.Target)
	arrive := rtt
	if pace > 0 {
		arrive += pace.Duration(keyBytes)
	}
	return plan{
		Encoder:    u.Target,
		Pace:       pace,
		Pad:        u.Pad,
		KeyEvery:   max(minKeyEvery, arrive+rtt/2),
		MostQueued: mostQueuedFrames * interval,
	}
}
