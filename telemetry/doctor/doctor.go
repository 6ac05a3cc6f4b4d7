// Package doctor names what made a stream bad, from the logs of both its ends
// and nothing else.
//
// Each cause that it knows has a rule: a function from the joined timeline to a
// Finding, which says how much harm was done and how sure it is. Rules know
// nothing of each other. What they find is put in order by harm times certainty;
// where one cause explains the signs of another, as loss explains that key
// frames are asked for, the other steps back behind it.
//
// A rule asks for harm and for the mark of its cause: a link that carries less
// than the source could fill is no cause of anything while pictures are sharp.
package doctor

import (
	"cmp"
	"slices"

	"nearglass/telemetry"
)

// Fault is a cause. Its text is what programs compare.
type Fault string

// The causes.
const (
	SlowDecoder      Fault = "slow-decoder"
	LossyLink        Fault = "lossy-link"
	CappedLink       Fault = "capped-link"
	Bufferbloat      Fault = "bufferbloat"
	CompetingTraffic Fault = "competing-traffic"
	RelayedPath      Fault = "relayed-path"
	WrongPath        Fault = "wrong-path"
	MTUTrouble       Fault = "mtu-trouble"
	EncoderOverload  Fault = "encoder-overload"
	CPUStarved       Fault = "cpu-starved"
	StalledCapture   Fault = "stalled-capture"
	SlowSource       Fault = "slow-source"
	ViewerBackground Fault = "viewer-background"
	ViewerThrottled  Fault = "viewer-throttled"
	AudioHoldsVideo  Fault = "audio-holds-video"
	KeyFrameStorm    Fault = "key-frame-storm"
	ProbeStarvation  Fault = "probe-starvation"
	ClockJump        Fault = "clock-jump"
	FlappingWiFi     Fault = "flapping-wifi"
	HostAsleep       Fault = "host-asleep"
)

// Finding is one cause that was found.
type Finding struct {
	Fault     Fault    `json:"fault"`
	Title     string   `json:"title"`
	Severity  float64  `json:"severity"`  // how much harm was done, 0 to 1
	Certainty float64  `json:"certainty"` // that this is the cause of it, 0 to 1
	Evidence  []string `json:"evidence"`  // with numbers and times
	Advice    string   `json:"advice"`
	FromMs    float64  `json:"fromMs"` // first and last of it, on the host's time
	ToMs      float64  `json:"toMs"`
	// Because is another cause found that explains the signs of this one; empty
	// for none.
	Because Fault `json:"because,omitempty"`

	at []int // the seconds of it, by number in the timeline
}

// Score is what findings are ordered by.
func (f Finding) Score() float64 {
	score := f.Severity * f.Certainty
	if f.Because != "" {
		score *= secondary
	}
	return score
}

const (
	// leastScore is what a finding must come to: less is the noise of a healthy
	// stream.
	leastScore = 0.12
	// mostCertain is what nothing goes beyond: a log is not all that happened.
	mostCertain = 0.97
	// secondary is what is left of a finding that another one explains.
	secondary = 0.25
)

// rule looks for one cause.
type rule struct {
	fault Fault
	look  func(*view) Finding
}

var rules = []rule{
	{SlowDecoder, slowDecoder}, {ViewerThrottled, viewerThrottled}, {ViewerBackground, viewerBackground}, {AudioHoldsVideo, audioHoldsVideo},
	{LossyLink, lossyLink}, {MTUTrouble, mtuTrouble}, {FlappingWiFi, flappingWiFi},
	{CappedLink, cappedLink}, {Bufferbloat, bufferbloat}, {CompetingTraffic, competingTraffic}, {ProbeStarvation, probeStarvation},
	{RelayedPath, relayedPath}, {WrongPath, wrongPath},
	{EncoderOverload, encoderOverload}, {CPUStarved, cpuStarved}, {StalledCapture, stalledCapture}, {SlowSource, slowSource},
	{KeyFrameStorm, keyFrameStorm}, {ClockJump, clockJump}, {HostAsleep, hostAsleep},
}

// Diagnose gives what was found, the likeliest cause first; none where the
// stream was well.
func Diagnose(t telemetry.Timeline) []Finding {
	v := newView(t)
	found := []Finding{}
	for _, r := range rules {
		f := r.look(v)
		f.Fault, f.Title, f.Advice = r.fault, Title(r.fault), texts[r.fault].advice
		f.Severity, f.Certainty = bound(f.Severity), min(bound(f.Certainty), mostCertain)
		if f.Score() >= leastScore {
			v.place(&f)
			found = append(found, f)
		}
	}
	explain(found)
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(b.Score(), a.Score()) })
	return found
}

func bound(v float64) float64 { return min(max(v, 0), 1) }
