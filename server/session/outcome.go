package session

import (
	"nearglass/cc"
	"nearglass/telemetry"
)

// outcomes knows the sizes of the packets that left last, so that a report can
// be counted by size: a tunnel that takes less than it says loses the large
// ones alone.
type outcomes struct {
	large [1 << 13]bool // by transport-wide sequence; two seconds at 50 Mbit/s
}

func (o *outcomes) sent(s cc.Sent) {
	o.large[s.Sequence%uint64(len(o.large))] = s.SizeBytes >= telemetry.LargePacketBytes
}

// report counts what a report says.
func (o *outcomes) report(f cc.Feedback) telemetry.Report {
	r := telemetry.Report{Nacks: len(f.Nacks), KeyAsked: f.KeyFrame}
	for _, a := range f.Acks {
		large := o.large[a.Sequence%uint64(len(o.large))]
		switch {
		case a.Lost && large:
			r.Lost, r.LargeLost, r.Large = r.Lost+1, r.LargeLost+1, r.Large+1
		case a.Lost:
			r.Lost++
		case large:
			r.Acked, r.Large = r.Acked+1, r.Large+1
		default:
			r.Acked++
		}
	}
	return r
}
