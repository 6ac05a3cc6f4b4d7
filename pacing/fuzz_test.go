package pacing

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// fuzzer drives a pacer with whatever a byte string says, and checks what the
// session, the transport and the decoder rely on.
type fuzzer struct {
	t        *testing.T
	data     []byte
	now      time.Time
	p        *Pacer
	number   uint64
	key      uint64            // the newest key frame enqueued
	enqueued map[uint64]uint64 // picture to what it needs
	left     map[uint64]bool   // pictures that began to leave
	sent     [1 << 16]uint64   // picture by media sequence number
	seq      uint16
	open     uint64 // the picture that has begun to leave and not ended
}

func (f *fuzzer) byte() int {
	if len(f.data) == 0 {
		return 0
	}
	b := f.data[0]
	f.data = f.data[1:]
	return int(b)
}

// pick takes one of a few values.
func pick[T any](f *fuzzer, values ...T) T { return values[f.byte()%len(values)] }

func (f *fuzzer) rate() rate.Rate {
	return pick(f, 0, 1, 300*rate.Kbps, 5*rate.Mbps, 50*rate.Mbps, math.MaxInt64, -1, math.MinInt64)
}

func (f *fuzzer) span() time.Duration {
	return pick(f, 0, 1, time.Microsecond, time.Millisecond, 15*time.Millisecond, 300*time.Millisecond, 5*time.Hour,
		100*365*24*time.Hour, -1, -time.Millisecond, -time.Hour, math.MaxInt64, math.MinInt64)
}

// elapse moves the clock, most often forwards by a little.
func (f *fuzzer) elapse() {
	d := pick(f, 0, 100*time.Microsecond, time.Millisecond, 4*time.Millisecond, 16*time.Millisecond, 200*time.Millisecond,
		2*time.Second, 5*time.Hour, -time.Millisecond, -2*time.Second, -5*time.Hour)
	f.now = f.now.Add(d)
}

func (f *fuzzer) enqueue() {
	f.number++
	class := pick(f, Video, Video, Video, KeyFrame)
	packets := frame(f.number, class, 1+f.byte()%20, pick(f, 60, 300, 1200, 1200, 1200, 1200))
	needs, deadline := uint64(f.byte()%4), f.now.Add(f.span())
	if class == KeyFrame {
		f.key = f.number
	}
	if needs = f.number - needs; needs >= f.number || needs < f.key {
		needs = 0
	}
	for _, pkt := range packets {
		pkt.DependsOn, pkt.Deadline = needs, deadline
		f.p.Enqueue(f.now, pkt)
	}
	if needs == 0 {
		needs = f.number - 1
	}
	if class == KeyFrame {
		needs = 0
	}
	f.enqueued[f.number] = needs
}

func (f *fuzzer) numbers() []uint16 {
	seqs := make([]uint16, f.byte()%32)
	for i := range seqs {
		seqs[i] = f.p.seq - uint16(f.byte()%16) - pick(f, 0, 0, 0, uint16(100), 40_000)
	}
	return append(seqs, seqs...)
}

// drain releases like the session's loop and checks each packet.
func (f *fuzzer) drain() {
	for range 512 {
		pkt, ok := f.p.Next(f.now)
		if !ok {
			if due := f.p.Deadline(); !due.IsZero() && !due.After(f.now) {
				f.t.Fatalf("nothing is due at %v, yet the deadline is %v", f.now, due)
			}
			return
		}
		f.check(&pkt)
	}
}

func (f *fuzzer) check(pkt *Packet) {
	switch {
	case pkt.Class == Audio:
		return
	case pkt.Class == Resend:
		if f.sent[pkt.Seq] != pkt.Frame || pkt.Frame == 0 {
			f.t.Fatalf("%d was resent as of picture %d, not %d", pkt.Seq, pkt.Frame, f.sent[pkt.Seq])
		}
		return
	case pkt.Seq != f.seq:
		f.t.Fatalf("number %d follows %d", pkt.Seq, f.seq-1)
	case f.open != 0 && pkt.Frame != f.open || pkt.First != (f.open == 0) && pkt.Class != Padding:
		f.t.Fatalf("within picture %d: %+v", f.open, pkt)
	}
	f.sent[f.seq], f.open = pkt.Frame, pkt.Frame
	f.seq++
	if pkt.Marker || pkt.Class == Padding {
		f.open = 0
	}
	f.left[pkt.Frame] = true
	if needs := f.enqueued[pkt.Frame]; needs != 0 && !f.left[needs] && pkt.First {
		f.t.Fatalf("picture %d left without %d", pkt.Frame, needs)
	}
}

// bounds checks the deadline right after the pacer has seen the time, and that
// nothing grows without end.
func (f *fuzzer) bounds() {
	p, s := f.p, f.p.Snapshot()
	f.p.Enqueue(f.now, Packet{Class: Padding}) // ignored, but for the time
	if due := p.Deadline(); p.audio.len() == 0 && !due.IsZero() {
		if due.Before(f.now.Add(-maxDebt)) {
			f.t.Fatalf("deadline %v is %v ago", due, f.now.Sub(due))
		}
		if p.video.len() > 0 && due.After(f.now.Add(maxDebt)) {
			f.t.Fatalf("video waits %v", due.Sub(f.now))
		}
	}
	bytes := 0
	for i := range p.video.len() {
		bytes += p.video.at(i).sizeBytes()
	}
	switch {
	case s.QueuedBytes != bytes:
		f.t.Fatalf("%d bytes wait, counted as %d", bytes, s.QueuedBytes)
	case s.Unacked < 0 || s.Unacked > s.Cached || s.CachedBytes < 0 || s.CachedBytes > defaultCacheBytes:
		f.t.Fatalf("counts went astray: %+v", s)
	case p.video.len() > maxQueued || p.audio.len() > maxAudio || p.resend.len() > 2*defaultCachePackets || p.QueueDelay() < 0:
		f.t.Fatalf("the queues have no bound: %+v", s)
	}
}

func (f *fuzzer) run() {
	for len(f.data) > 0 {
		switch f.byte() % 12 {
		case 0, 1:
			f.enqueue()
		case 2:
			f.p.Enqueue(f.now, Packet{Class: pick(f, Audio, Resend, Padding, Class(200)), Body: make([]byte, 200)})
		case 3:
			f.p.SetRates(f.now, f.rate(), f.rate())
		case 4:
			f.p.SetBurst(f.now, f.span())
			f.p.SetRTT(f.span())
		case 5:
			f.p.Resend(f.now, f.numbers())
			f.p.ResendLost(f.now, f.numbers())
			f.p.ResendPicture(f.now, f.number-uint64(f.byte()%8))
		case 6:
			f.p.Acked(f.numbers()...)
			f.p.BeyondRepair(f.numbers())
		case 7:
			f.p.Drop(f.number - uint64(f.byte()%8))
		case 8:
			f.p.Stale(f.now.Add(f.span()))
		case 9:
			f.p.Probe(f.now, Train{uint32(f.byte() % 8), f.rate(), pick(f, 0, 1, 5000, 100_000, math.MaxInt, -1)})
		case 10:
			f.elapse()
		case 11:
			f.elapse()
			f.drain()
		}
		f.bounds()
	}
}

func FuzzPacer(f *testing.F) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		seed := make([]byte, 200)
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			t.Skip("longer than is told in a reasonable time")
		}
		z := &fuzzer{
			key: 1,
			t:   t, data: data, now: start, p: New(Config{Pace: 5 * rate.Mbps, Echo: true}),
			enqueued: map[uint64]uint64{}, left: map[uint64]bool{},
		}
		z.run()
	})
}
