package telemetry

import (
	"math"
	"testing"
	"time"
)

// clockwork is a stream in virtual time.
type clockwork struct {
	*Meter
	zero, now time.Time
	frame     uint64
}

func newClockwork() *clockwork {
	zero := time.Unix(1_800_000_000, 0)
	return &clockwork{Meter: NewMeter(zero), zero: zero, now: zero}
}

func (c *clockwork) after(ms float64) time.Time {
	return c.now.Add(time.Duration(ms * float64(time.Millisecond)))
}

// picture goes its way: captured now, taken after 1 ms, converted after 3, encoded
// after 8, queued after 9, sent after 11.
func (c *clockwork) picture(p Picture) {
	c.frame++
	p.Frame, p.RTP = c.frame, uint32(c.now.Sub(c.zero)*9/100000)
	p.Captured, p.Wait, p.Converted, p.Encoded = c.now, time.Millisecond, c.after(3), c.after(8)
	c.Encoded(c.after(1), p)
	c.Queued(c.after(9), c.frame, 4)
	for range 4 {
		c.Sent(c.after(10), 1000, false, false)
	}
	c.Left(c.after(11), c.frame)
}

func TestSecond(t *testing.T) {
	c := newClockwork()
	for i := range 50 {
		c.Taken(uint64(2*i+1), 0.5)
		c.picture(Picture{Width: 640, Height: 360, QP: 20 + i%3, SizeBytes: 4000, BudgetBytes: 3000 + 40*i, BudgetKbps: 1500, Key: i == 0, Why: KeyStart, Again: i == 49, Refine: i == 49})
		c.now = c.now.Add(20 * time.Millisecond)
	}
	c.Sent(c.now, 500, true, false)
	c.Report(c.now, Report{Acked: 190, Lost: 10, Large: 100, LargeLost: 9, Nacks: 10, Unserved: 1, KeyAsked: true})
	c.Dropped(2)
	c.Repaired(3)
	c.Late(3 * time.Millisecond)
	c.Control(Control{TargetKbps: 2000, PathKbps: 3000, PathQueue: 5 * time.Millisecond, Probe: 7, ProbeKbps: 6000, State: "steady", Reason: "r"})
	c.Control(Control{TargetKbps: 1500, PathKbps: 3000, PathQueue: 15 * time.Millisecond, Probe: 7, ProbeKbps: 6000, State: "steady", Reason: "r"})
	s := c.Second(c.now)

	if s.T != 1000 || s.SpanMs != 1000 || s.WallMs != 1_800_000_001_000 || s.Width != 640 {
		t.Errorf("when and what: %+v", s)
	}
	if f := s.Frames; f.Captured != 99 || f.Encoded != 50 || f.Reencoded != 1 || f.Sent != 50 || f.Repaired != 3 || f.Dropped[DropMerged] != 49 || f.Dropped[DropStale] != 2 {
		t.Errorf("pictures: %+v", f)
	}
	if p := s.Packets; p.Sent != 201 || p.Resent != 1 || p.Lost != 10 || p.LargeLost != 9 || p.Unserved != 1 || p.KeyAsked != 1 {
		t.Errorf("packets: %+v", p)
	}
	if r := s.Rate; r.SentKbps != 1604 || r.VideoKbps != 1600 || r.TargetKbps != 1500 || r.LeastKbps != 1500 || r.Probes != 1 || r.PathQueue.Mean != 10 {
		t.Errorf("rates: %+v", r)
	}
	if r := s.Rate; r.AverageKbps != 1600 || r.BudgetKbps != 1500 || r.BudgetReason != BudgetTarget || s.Budget.N != 50 || s.Budget.Mean != 3980 {
		t.Errorf("the budget: %+v, %+v", r, s.Budget)
	}
	want := map[string][2]float64{
		"wait": {1, s.Delay.Wait.OrZero().Mean}, "convert": {2, s.Delay.Convert.OrZero().Mean}, "encode": {5, s.Delay.Encode.OrZero().Mean},
		"handoff": {1, s.Delay.Handoff.OrZero().Mean}, "queue": {2, s.Delay.Queue.OrZero().Mean},
		"changed": {0.51, s.Capture.Changed}, "late": {3, s.LoopLate}, "keys": {1, float64(s.Keys[KeyStart])},
	}
	for name, v := range want {
		if math.Abs(v[0]-v[1]) > 0.005 {
			t.Errorf("%s: %v, want %v", name, v[1], v[0])
		}
	}
	c.now = c.now.Add(time.Second)
	if next := c.Second(c.now); next.Frames.Encoded != 0 || next.Frames.Repaired != 0 || next.Rate.TargetKbps != 1500 || next.Rate.Probes != 0 || next.Width != 640 || next.QP != nil {
		t.Errorf("the next second: %+v", next)
	} else if r := next.Rate; r.BudgetKbps != 1500 || r.AverageKbps != 800 {
		t.Errorf("the next second: %+v", next)
	}
}

// The way that a viewer reports is cut into stages that add up to the whole.
func TestShownStagesAddUp(t *testing.T) {
	c := newClockwork()
	c.now = c.now.Add(5 * time.Second)
	c.picture(Picture{Width: 64, Height: 64})
	rtp := uint32(5 * 90000)
	c.Shown(Shown{RTP: rtp + 1, ReceivedT: 5030, DecodingT: 5031, DecodedT: 5034, ShownT: 5040})
	c.Shown(Shown{RTP: rtp, ReceivedT: 5030})
	if s := c.Second(c.now); s.Shown.Total != nil {
		t.Errorf("another picture, or one without its times: %+v", s.Shown)
	}
	c.Shown(Shown{RTP: rtp, ReceivedT: 5030, DecodingT: 5031, DecodedT: 5034, ShownT: 5040})
	d := c.Second(c.now).Shown
	sum := 0.0
	for _, s := range []*Spread{d.Wait, d.Convert, d.Encode, d.Handoff, d.Queue, d.Network, d.Buffer, d.Decode, d.Present} {
		sum += s.OrZero().Mean
	}
	if d.Total.OrZero().Mean != 40 || math.Abs(sum-40) > 0.01 || d.Network.Mean != 19 || d.Arrive.Mean != 30 {
		t.Errorf("of 40 ms the stages are %v: %+v", sum, d)
	}
}

// Silence is the time in which packets were out and nothing was reported.
func TestSilence(t *testing.T) {
	c := newClockwork()
	c.now = c.now.Add(300 * time.Millisecond) // nothing is out
	c.Sent(c.now, 1000, false, false)
	c.now = c.now.Add(120 * time.Millisecond)
	c.Report(c.now, Report{Acked: 1})
	c.now = c.now.Add(500 * time.Millisecond)
	if s := c.Second(c.now); s.Rate.Silence != 120 {
		t.Errorf("silence %v, want 120", s.Rate.Silence)
	}
	c.Sent(c.now, 1000, false, false)
	c.now = c.now.Add(time.Second)
	if s := c.Second(c.now); s.Rate.Silence != 1000 {
		t.Errorf("silence %v, want all of the second", s.Rate.Silence)
	}
}

// Pictures that come while the viewer is hidden are for nobody, and not late.
func TestHiddenPictures(t *testing.T) {
	c := newClockwork()
	c.Taken(1, 1)
	c.Hidden()
	c.Taken(50, 1)
	c.Taken(50, 1)
	c.Taken(53, 0)
	f := c.Second(c.now).Frames
	if f.Dropped[DropHidden] != 48 || f.Dropped[DropMerged] != 2 || f.Captured != 53 || f.Unchanged != 1 {
		t.Errorf("%+v", f)
	}
}

func TestTraces(t *testing.T) {
	c := newClockwork()
	c.picture(Picture{})
	if len(c.Traces()) != 0 {
		t.Error("traced without being asked")
	}
	c.Trace()
	c.now = c.now.Add(time.Second)
	c.picture(Picture{QP: 22, SizeBytes: 4000, Key: true})
	got := c.Traces()
	want := FrameTrace{Record: KindFrame, T: 1000, RTP: 90000, Frame: 2, Bytes: 4000, Packets: 4, QP: 22, Kind: "key",
		TakenT: 1001, EncodedT: 1008, QueuedT: 1009, SentT: 1011}
	if len(got) != 1 || got[0] != want || len(c.Traces()) != 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What a second's record costs without its file.
func BenchmarkMeterSecond(b *testing.B) {
	c := newClockwork()
	b.ReportAllocs()
	for b.Loop() {
		for range 60 {
			c.Taken(c.frame+1, 0.5)
			c.picture(Picture{Width: 640, Height: 360, QP: 20})
			c.now = c.now.Add(time.Second / 60)
		}
		c.Second(c.now)
	}
}

func BenchmarkMeterSent(b *testing.B) {
	c := newClockwork()
	b.ReportAllocs()
	for b.Loop() {
		c.Sent(c.now, 1200, false, false)
	}
}
