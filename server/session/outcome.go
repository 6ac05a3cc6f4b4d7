package session

import (
	"nearglass/cc"
	"nearglass/pacing"
	"nearglass/telemetry"
)

// outcomes knows what the packets were that left last, so that a report can be counted
// by size (a tunnel that takes less than it says loses the large ones alone), and says
// what is lost.
type outcomes struct {
	packets [1 << 13]departure // by transport-wide sequence; two seconds at 50 Mbit/s
	newest  [1 << 13]uint64    // by media number: the sequence of what carried it last
	lost    []uint16           // memory for missing
}

// departure is a packet that left.
type departure struct {
	sequence uint64
	media    uint16
	large    bool
	picture  bool // it carries a part of one
}

func (o *outcomes) sent(s cc.Sent, pkt *pacing.Packet) {
	d := departure{sequence: s.Sequence, media: pkt.Seq, large: s.SizeBytes >= telemetry.LargePacketBytes}
	switch pkt.Class {
	case pacing.Video, pacing.KeyFrame, pacing.Resend:
		d.picture = true
		o.newest[int(pkt.Seq)%len(o.newest)] = s.Sequence
	}
	o.packets[s.Sequence%uint64(len(o.packets))] = d
}

// report counts what a report says.
func (o *outcomes) report(f cc.Feedback) telemetry.Report {
	r := telemetry.Report{Nacks: len(f.Nacks), KeyAsked: f.KeyFrame}
	for _, a := range f.Acks {
		large := o.packets[a.Sequence%uint64(len(o.packets))].large
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

// missing gives the media numbers of which a report says that all that carried them is
// lost, in order. The viewer asks for them as well, but a request may be lost, and it
// asks again only after 100 ms or a round trip.
func (o *outcomes) missing(f cc.Feedback) []uint16 {
	o.lost = o.lost[:0]
	for _, a := range f.Acks {
		d := &o.packets[a.Sequence%uint64(len(o.packets))]
		if a.Lost && d.picture && d.sequence == a.Sequence && o.newest[int(d.media)%len(o.newest)] == a.Sequence {
			o.lost = append(o.lost, d.media)
		}
	}
	return o.lost
}
