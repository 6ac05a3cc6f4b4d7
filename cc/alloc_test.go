package cc

import (
	"testing"
	"time"
	"unsafe"
)

// report is how many packets each feedback of turn speaks of.
const report = 100

// turn returns a function that sends a report's worth of packets over a path of
// 20 Mbit/s, in pictures of 20, and takes the feedback. One in lostOf is lost.
func turn(lostOf int) func() {
	c := New(Config{})
	now := virtualStart
	c.OnTick(now)
	acks := make([]Ack, report)
	var sequence, frame uint64
	var arrived time.Duration
	return func() {
		for i := range acks {
			if i%20 == 0 {
				frame++
				now = now.Add(5 * time.Millisecond)
				arrived = max(arrived, now.Sub(virtualStart))
			}
			sequence++
			now = now.Add(100 * time.Microsecond)
			arrived += 480 * time.Microsecond // 1200 bytes at 20 Mbit/s
			c.OnSent(now, Sent{Sequence: sequence, SizeBytes: 1172, At: now, Frame: frame, Last: i%20 == 19})
			acks[i] = Ack{Sequence: sequence, Arrived: arrived.Truncate(arrivalGrain), Lost: lostOf > 0 && i%lostOf == 1}
		}
		now = now.Add(time.Millisecond)
		c.OnFeedback(now, acks)
		if d := c.Deadline(); !d.IsZero() && !now.Before(d) {
			c.OnTick(now)
		}
	}
}

var turns = []struct {
	name   string
	lostOf int
}{{"Clean", 0}, {"Lossy", 10}}

// TestNoAllocations: neither packets nor feedback may cost the collector
// anything.
func TestNoAllocations(t *testing.T) {
	for _, c := range turns {
		if n := testing.AllocsPerRun(200, turn(c.lostOf)); n != 0 {
			t.Errorf("%s: %v allocations for %d packets and their feedback, want none", c.name, n, report)
		}
	}
}

// TestControllerIsSmall: a host has one for each viewer.
func TestControllerIsSmall(t *testing.T) {
	const most = 1 << 20
	if n := unsafe.Sizeof(Controller{}); n > most {
		t.Errorf("a controller takes %d bytes, want %d at most", n, most)
	}
	if n := testing.AllocsPerRun(10, func() { New(Config{}) }); n > 1 {
		t.Errorf("New takes %v allocations, want one", n)
	}
}

// BenchmarkPacket is OnSent, and the packet's part of OnFeedback.
func BenchmarkPacket(b *testing.B) {
	for _, c := range turns {
		b.Run(c.name, func(b *testing.B) {
			f := turn(c.lostOf)
			b.ReportAllocs()
			for i := 0; i < b.N; i += report {
				f()
			}
		})
	}
}

var kept *Controller

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		kept = New(Config{})
	}
	b.ReportMetric(float64(unsafe.Sizeof(Controller{})), "bytes/controller")
}
