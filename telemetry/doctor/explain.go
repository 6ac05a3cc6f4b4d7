package doctor

import (
	"cmp"
	"slices"
)

// explanations says whose signs each cause brings about.
var explanations = map[Fault][]Fault{
	HostAsleep:       {ClockJump, StalledCapture, LossyLink, FlappingWiFi, Bufferbloat, ViewerThrottled, KeyFrameStorm, SlowSource, CPUStarved, EncoderOverload, ProbeStarvation, CappedLink},
	CPUStarved:       {EncoderOverload, SlowSource},
	EncoderOverload:  {SlowSource},
	StalledCapture:   {SlowSource, ProbeStarvation},
	MTUTrouble:       {LossyLink, KeyFrameStorm, CappedLink, FlappingWiFi, ProbeStarvation},
	LossyLink:        {KeyFrameStorm, CappedLink, FlappingWiFi, ProbeStarvation, Bufferbloat, CompetingTraffic},
	FlappingWiFi:     {LossyLink, Bufferbloat, KeyFrameStorm, CappedLink, CompetingTraffic, ProbeStarvation, ViewerThrottled},
	Bufferbloat:      {LossyLink, CappedLink, CompetingTraffic, KeyFrameStorm, FlappingWiFi, ProbeStarvation},
	CompetingTraffic: {LossyLink, CappedLink, Bufferbloat, KeyFrameStorm, FlappingWiFi, ProbeStarvation},
	CappedLink:       {LossyLink, Bufferbloat, KeyFrameStorm, FlappingWiFi, CompetingTraffic},
	RelayedPath:      {CappedLink, Bufferbloat, FlappingWiFi, CompetingTraffic, ProbeStarvation, LossyLink},
	WrongPath:        {RelayedPath, CappedLink, Bufferbloat, FlappingWiFi, CompetingTraffic, LossyLink, ProbeStarvation},
	ViewerThrottled:  {SlowDecoder, AudioHoldsVideo, FlappingWiFi, KeyFrameStorm},
	ViewerBackground: {ViewerThrottled, SlowDecoder, AudioHoldsVideo, FlappingWiFi, KeyFrameStorm, ProbeStarvation, LossyLink},
	SlowDecoder:      {KeyFrameStorm, AudioHoldsVideo},
	KeyFrameStorm:    {CappedLink, SlowSource},
	ProbeStarvation:  {CappedLink},
}

// explain notes which findings another one explains: one whose signs it brings
// about, in the same seconds, and that is the surer of the two by score. Each
// cause may explain the other; then the stronger is taken.
func explain(found []Finding) {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[b].Score(), found[a].Score()) })
	for n, i := range order {
		for _, j := range order[n+1:] {
			a, b := &found[i], &found[j]
			if a.Because != "" {
				continue
			}
			switch {
			case b.Because == "" && explains(a, b):
				b.Because = a.Fault
			case explains(b, a) && 1.5*b.Score() > a.Score() && b.Because == "":
				a.Because = b.Fault
			}
		}
	}
}

// mostApart is what share of the seconds of a sign may lie outside of those of
// its cause.
const mostApart = 0.4

func explains(cause, sign *Finding) bool {
	if !slices.Contains(explanations[cause.Fault], sign.Fault) {
		return false
	}
	apart := 0
	for _, n := range sign.at {
		if !near(cause.at, n) {
			apart++
		}
	}
	return float64(apart) <= mostApart*float64(len(sign.at))
}

// near says whether a second, or one within two of it, is in the list.
func near(list []int, n int) bool {
	const reach = 2
	i, _ := slices.BinarySearch(list, n-reach)
	return i < len(list) && list[i] <= n+reach
}
