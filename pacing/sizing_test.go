package pacing

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// sized enqueues a picture of packets with these payloads.
func sized(p *Pacer, now time.Time, frame uint64, payloads ...int) {
	for i, n := range payloads {
		p.Enqueue(now, Packet{Class: Video, Frame: frame, First: i == 0, Marker: i == len(payloads)-1, Body: make([]byte, n)})
	}
}

// drained lists what leaves at once.
func drained(p *Pacer, now time.Time) (list []Packet) {
	for pkt, ok := p.Next(now); ok; pkt, ok = p.Next(now) {
		list = append(list, pkt)
	}
	return list
}

func TestShrinkForgetsLargePackets(t *testing.T) {
	now := time.Unix(1000, 0)
	p := New(Config{Pace: 100 * rate.Mbps, FirstSeq: 10, NoTailGuard: true})
	sized(p, now, 1, 40, 1100, 1100)
	drained(p, now)
	p.SetRates(now, 0, 0)
	sized(p, now, 2, 300, 1100)
	p.Shrink(490)
	p.SetRates(now, 100*rate.Mbps, 0)
	if n := p.Resend(now, []uint16{10, 11, 12}); n != 1 {
		t.Errorf("%d of three packets are sent again, and one is small enough", n)
	}
	if got := drained(p, now); len(got) != 1 || got[0].Seq != 10 {
		t.Errorf("%v left, want the small packet", got)
	}
	if !p.NeedsKey() || !p.BeyondRepair([]uint16{11}) || p.Settled() {
		t.Error("the receiver lacks what is not sent again, and nobody is told")
	}
	if s := p.Snapshot(); s.QueuedBytes != 0 || s.Dropped != 1 {
		t.Errorf("%d bytes wait, %d pictures were dropped; want none and 1", s.QueuedBytes, s.Dropped)
	}
}

func TestSizeProbesLeaveBehindAllElse(t *testing.T) {
	now := time.Unix(1000, 0)
	p := New(Config{Pace: 100 * rate.Mbps, NoTailGuard: true})
	if p.ProbeSize(700) {
		t.Error("a size is probed before anything left")
	}
	sized(p, now, 1, 40, 480)
	drained(p, now)
	if p.ProbeSize(480) || p.ProbeSize(736) || !p.ProbeSize(735) {
		t.Error("a packet of 480 bytes can be padded to 481 to 735 bytes")
	}
	if p.Empty() || p.Deadline().After(now) {
		t.Error("probes wait and nobody is told")
	}
	sized(p, now, 2, 100)
	got := drained(p, now)
	if len(got) != 1+SizeProbePackets || got[0].Frame != 2 {
		t.Fatalf("%d packets left, the first of picture %d; want the picture and %d probes", len(got), got[0].Frame, SizeProbePackets)
	}
	for _, pkt := range got[1:] {
		if pkt.Class != Resend || !pkt.Filler || pkt.PayloadBytes() != 735 || pkt.Frame != 1 {
			t.Errorf("%v of %d bytes left as a probe of 735", pkt.Class, pkt.PayloadBytes())
		}
	}
	if none := New(Config{Pace: rate.Mbps, NoRTX: true}); none.ProbeSize(700) {
		t.Error("a receiver that takes no RTX is probed")
	}
}

func TestPulseLeavesAmongLargePackets(t *testing.T) {
	now := time.Unix(1000, 0)
	p := New(Config{Pace: rate.Mbps, MinBurstBytes: 1, NoTailGuard: true})
	sized(p, now, 1, 40, 1100, 1100, 1100)
	first := drained(p, now)
	p.Pulse()
	now = now.Add(10 * time.Millisecond)
	if got := drained(p, now); len(first) == 0 || len(got) == 0 || got[0].Class != Resend || got[0].PayloadBytes() != 40 {
		t.Errorf("within a picture %v left first, want the small packet once more", got)
	}
	now = now.Add(time.Second)
	drained(p, now)
	p.Pulse()
	now = now.Add(time.Second)
	if got := drained(p, now); len(got) != 1 || got[0].Class != Padding || got[0].PadBytes != guardBytes {
		t.Errorf("after the picture %v left, want padding", got)
	}
}
