package sim

import (
	"time"

	"nearglass/cc/rate"
)

// LinkConfig describes one direction of a path. The zero value is a link
// without a bottleneck, delay or loss.
type LinkConfig struct {
	// Origin is what all At, From and To below count from. Zero: the time of
	// the first call that has a now.
	Origin time.Time
	// Rates is the bottleneck's rate over time, in order of At; the last
	// holds for good, and the first holds before its own At too. A rate of 0
	// transmits nothing. Empty: no bottleneck.
	Rates []Step
	// Repeat makes Rates begin again after this time, as a trace does. Zero:
	// they do not.
	Repeat time.Duration
	// Delay is the one-way propagation delay, after the bottleneck.
	Delay time.Duration
	// FlowDelays is a further one-way delay by Packet.Flow, for flows with
	// different round-trip times over one bottleneck (RFC 8867, 5.5). Flows
	// beyond its end have none.
	FlowDelays []time.Duration
	// Detours make the way longer or short again, in order of At.
	Detours []Detour

	Jitter      Jitter
	Loss        Loss
	Queue       Queue
	Policer     Policer
	Aggregation Aggregation
	Outages     Outages
}

// Step is a rate that holds from At on, counted from the Origin.
type Step struct {
	At   time.Duration
	Rate rate.Rate
}

// Detour is what packets that leave the bottleneck from At on take beyond Delay, until
// the next one. A packet may overtake those that went a longer way.
type Detour struct {
	At    time.Duration // from the Origin
	Extra time.Duration
}

// Jitter adds a normally distributed time to the propagation delay. The sum
// is never below zero, as in libwebrtc's simulated network.
type Jitter struct {
	// Sigma is the standard deviation. Zero: no jitter.
	Sigma time.Duration
	// Bound redraws what lies further from the mean than this, which is the
	// random bounded variation of RFC 8868 when 3 Sigma. Zero: no bound.
	Bound time.Duration
	// Keep keeps packets in order: one that would overtake arrives together
	// with the one before it. Without it they are reordered.
	Keep bool
}

// Loss loses packets for reasons other than congestion.
type Loss struct {
	// Random is the chance of each packet to be lost, 0 to 1.
	Random float64
	// Slot, above zero, has it depend on nothing but the seed, the span of this
	// length in which a packet is lost, and how many were in that before: streams
	// that differ a little lose the same. Else each packet that was sent moves the
	// losses of all that follow.
	Slot time.Duration
	// Burst loses packets in runs, besides.
	Burst Burst
	// Spells are times in which every packet is lost, besides.
	Spells Outages
	// Before loses packets before the bottleneck, where they leave it idle,
	// as on a bad WiFi uplink in front of a DSL line. Normally they are lost
	// after it and have used its capacity.
	Before bool
}

// Burst is the loss model of Gilbert and Elliott: a chain of two states that
// moves once a packet. Its mean loss is LossBad * GoodBad/(GoodBad+BadGood).
type Burst struct {
	GoodBad float64 // chance to turn bad, per packet. Zero: no bursts
	BadGood float64 // chance to turn good again; 1/BadGood is the mean run
	LossBad float64 // chance to lose a packet while bad. Zero: 1
}

// Queue is the buffer before the bottleneck. With neither Limit nor Bytes it
// has no end; with both, the one that is reached first counts. A packet that
// meets an idle link is always taken.
type Queue struct {
	// Limit refuses a packet that would wait longer than this at the rate in
	// force when it comes (outages aside). The same buffer in bytes would
	// mean a longer wait after a fall of the rate.
	Limit time.Duration
	// Bytes refuses a packet that does not fit into so many bytes, those not
	// yet transmitted of the packet in service included.
	Bytes int
	// CoDel drops at the head by RFC 8289.
	CoDel bool
	// Target and Interval are CoDel's. Zero: 5 ms and 100 ms (RFC 8289, 4.2
	// and 4.3).
	Target, Interval time.Duration
}

// Policer is a token bucket before the queue that drops what does not
// conform, as some providers do instead of queueing it.
type Policer struct {
	// Rates is the rate at which tokens come. Empty: no policer.
	Rates []Step
	// BucketBytes is how much may pass at once. Zero: 10 packets of 1,500.
	BucketBytes int
}

// Aggregation collects what arrives within a period, counted from the Origin,
// and delivers it at its end, as a WiFi sender that waits for the channel.
type Aggregation struct {
	// Every is the period. Zero: no aggregation.
	Every time.Duration
	// Rate spaces the packets of one delivery, at the radio's rate. Zero:
	// they arrive at one instant.
	Rate rate.Rate
}

// Outages are times that come again and again. LinkConfig.Outages are those in
// which the bottleneck transmits nothing and its queue waits; a packet in
// transmission goes on afterwards where it was.
type Outages struct {
	// Length is how long an outage is. Zero: there are none.
	Length time.Duration
	// Every is the time from the beginning of one outage to that of the
	// next. Zero: there is one only.
	Every time.Duration
	// From is when the first begins, To when they end for good. To zero:
	// never.
	From, To time.Duration
}
