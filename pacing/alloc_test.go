package pacing

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// grownPacer is a pacer whose queues and cache have their full size.
func grownPacer(pace rate.Rate) (*Pacer, time.Time) {
	p := New(Config{Pace: pace, NoTailGuard: true})
	enqueue(p, start, frame(1, KeyFrame, 1<<13, 1200))
	now := start
	for !p.Empty() {
		now = now.Add(time.Millisecond)
		drainAt(p, now)
	}
	return p, now
}

// steps are what the pacer does per packet, one packet a call.
var steps = []struct {
	name string
	make func() func()
}{
	{"EnqueueNext", func() func() {
		p, now := grownPacer(100_000 * rate.Mbps)
		pkt := Packet{Class: Video, Frame: 1, First: true, Marker: true, HeadLen: 2, Body: make([]byte, 1100)}
		return func() {
			now = now.Add(10 * time.Microsecond)
			pkt.Frame++
			p.Enqueue(now, pkt)
			p.Deadline()
			p.Next(now)
		}
	}},
	{"PacedWithQueue", func() func() {
		p, now := grownPacer(50 * rate.Mbps)
		pkt := Packet{Class: Video, Frame: 1, First: true, Marker: true, HeadLen: 2, Body: make([]byte, 1100)}
		for range 100 {
			pkt.Frame++
			p.Enqueue(now, pkt)
		}
		return func() {
			pkt.Frame++
			p.Enqueue(now, pkt)
			now = p.Deadline()
			p.Next(now)
			p.Next(now)
		}
	}},
	{"Audio", func() func() {
		p, now := grownPacer(100_000 * rate.Mbps)
		pkt := Packet{Class: Audio, Body: make([]byte, 100)}
		return func() {
			now = now.Add(10 * time.Microsecond)
			p.Enqueue(now, pkt)
			p.Next(now)
		}
	}},
	{"ResendNext", func() func() {
		p, now := grownPacer(100_000 * rate.Mbps)
		pkt := Packet{Class: Video, Frame: 1, First: true, Marker: true, Body: make([]byte, 1100)}
		seqs := []uint16{0}
		return func() {
			now = now.Add(10 * time.Microsecond)
			p.Enqueue(now, pkt)
			out, _ := p.Next(now)
			seqs[0] = out.Seq
			if p.Resend(now, seqs) != 1 {
				panic("not resent")
			}
			p.Next(now)
		}
	}},
	{"Acked", func() func() {
		p, now := grownPacer(100_000 * rate.Mbps)
		pkt := Packet{Class: Video, Frame: 1, First: true, Marker: true, Body: make([]byte, 1100)}
		seqs := []uint16{0}
		return func() {
			now = now.Add(10 * time.Microsecond)
			p.Enqueue(now, pkt)
			out, _ := p.Next(now)
			seqs[0] = out.Seq
			p.Acked(seqs...)
		}
	}},
	{"ProbeFiller", func() func() {
		p, now := grownPacer(10 * rate.Mbps)
		train := Train{Rate: 100 * rate.Mbps, Bytes: 12_000}
		return func() {
			if p.train.left == 0 {
				train.ID++
				p.Probe(now, train)
			}
			now = p.Deadline()
			if _, ok := p.Next(now); !ok {
				panic("the train stopped")
			}
		}
	}},
	{"ProbePadding", func() func() {
		p, now := grownPacer(10 * rate.Mbps)
		p.cfg.NoRTX = true
		train := Train{Rate: 100 * rate.Mbps, Bytes: 12_000}
		return func() {
			if p.train.left == 0 {
				train.ID++
				p.Probe(now, train)
			}
			now = p.Deadline()
			p.Next(now)
		}
	}},
	{"DropStale", func() func() {
		p, now := grownPacer(rate.Mbps)
		pkt := Packet{First: true, Marker: true, Body: make([]byte, 1100), Deadline: now}
		return func() {
			now = now.Add(time.Microsecond)
			pkt.Frame, pkt.Class = pkt.Frame+1, Video
			if pkt.Frame%10 == 0 {
				pkt.Class = KeyFrame
			}
			p.Enqueue(now, pkt)
			if pkt.Class == KeyFrame {
				p.Stale(now)
			}
			if pkt.Frame%100 == 7 {
				p.Drop(pkt.Frame)
			}
		}
	}},
}

// TestNoAllocations: a packet costs no memory, whatever becomes of it.
func TestNoAllocations(t *testing.T) {
	for _, s := range steps {
		step := s.make()
		for range 10_000 {
			step()
		}
		n := testing.AllocsPerRun(1, func() { // it rounds down, so all in one
			for range 20_000 {
				step()
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations in 20,000 packets", s.name, n)
		}
	}
}

func BenchmarkPacket(b *testing.B) {
	for _, s := range steps {
		b.Run(s.name, func(b *testing.B) {
			step := s.make()
			for range 10_000 {
				step()
			}
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}
