package pacing

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// lossyPath loses packets at random and asks for them again a round trip after
// they left, and once more each round trip and a quarter while they stay lost.
type lossyPath struct {
	t        *testing.T
	rng      *rand.Rand
	loss     float64
	rtt      time.Duration
	missing  []missing // in order of their next request
	sent     [1 << 16]Packet
	asked    int
	repaired int
	slowest  time.Duration // from a request to its resend
}

// missing is a packet that the receiver lacks.
type missing struct {
	seq uint16
	ask time.Time // when the next request arrives at the sender
}

func (l *lossyPath) send(now time.Time, pkt *Packet, asked map[uint16]time.Time) {
	lost := l.rng.Float64() < l.loss
	if pkt.Class == Resend {
		first := &l.sent[pkt.Seq]
		if pkt.Frame != first.Frame || &pkt.Body[0] != &first.Body[0] || pkt.Marker != first.Marker || pkt.First != first.First {
			l.t.Fatalf("number %d carries another packet than the first time", pkt.Seq)
		}
		at, ok := asked[pkt.Seq]
		if !ok {
			l.t.Fatalf("%d was resent without a request", pkt.Seq)
		}
		delete(asked, pkt.Seq)
		l.slowest = max(l.slowest, now.Sub(at))
		if lost {
			l.missing = append(l.missing, missing{pkt.Seq, now.Add(l.rtt * 5 / 4)})
		} else {
			l.repaired++
		}
		return
	}
	l.sent[pkt.Seq] = *pkt
	if lost {
		l.missing = append(l.missing, missing{pkt.Seq, now.Add(l.rtt)})
	}
}

// requests takes the numbers whose request arrives by now.
func (l *lossyPath) requests(now time.Time) (seqs []uint16) {
	waiting := l.missing[:0]
	for _, m := range l.missing {
		if m.ask.After(now) {
			waiting = append(waiting, m)
			continue
		}
		seqs = append(seqs, m.seq)
	}
	l.missing = waiting
	return seqs
}

// TestRepairAtHighRate: at 50 Mbit/s and a round trip of 200 ms every request
// is answered within a frame interval, each packet under its old number, and
// the pace holds with the resends in it, over several turns of the numbers.
func TestRepairAtHighRate(t *testing.T) {
	const interval, pace = time.Second / 60, 70 * rate.Mbps
	for _, loss := range []float64{0.02, 0.05} {
		path := &lossyPath{t: t, rng: rand.New(rand.NewPCG(1, 2)), loss: loss, rtt: 200 * time.Millisecond}
		p := New(Config{Pace: pace, FirstSeq: 65_000})
		p.SetRTT(path.rtt)
		asked := map[uint16]time.Time{}
		now, next, number, left := start, start, uint64(0), 0
		var bytes int
		for number < 30*60 {
			if seqs := path.requests(now); len(seqs) > 0 {
				for _, seq := range seqs {
					asked[seq] = now
				}
				path.asked += len(seqs)
				if n := p.Resend(now, seqs); n != len(seqs) {
					t.Fatalf("loss %v: %d of %d requests taken", loss, n, len(seqs))
				}
			}
			if !next.After(now) {
				number++
				enqueue(p, now, frame(number, Video, 86, 1200))
				next = next.Add(interval)
			}
			for pkt, ok := p.Next(now); ok; pkt, ok = p.Next(now) {
				path.send(now, &pkt, asked)
				bytes += pkt.sizeBytes()
				left++
			}
			if most := pace.Bytes(now.Sub(start)+p.burst()) + 2*1200; bytes > most {
				t.Fatalf("loss %v: %d bytes in %v, at most %d allowed", loss, bytes, now.Sub(start), most)
			}
			now = now.Add(time.Millisecond / 4)
		}
		if share := float64(path.asked) / float64(left); share < 0.9*loss || left < 2<<16 {
			t.Errorf("loss %v: %d requests for %d packets", loss, path.asked, left)
		}
		if path.slowest > interval || len(asked) > 100 {
			t.Errorf("loss %v: the slowest answer took %v, %d are due", loss, path.slowest, len(asked))
		}
		if s := p.Snapshot(); s.Refused > 0 || s.Resent != uint64(path.asked-len(asked)) {
			t.Errorf("loss %v: %d asked, %+v", loss, path.asked, s)
		}
	}
}

// TestGivenUp: what the receiver can do without is not owed to it, whether it has
// left, waits for its first time or for its second.
func TestGivenUp(t *testing.T) {
	p := New(Config{Pace: 50 * rate.Mbps, FirstSeq: 1})
	enqueue(p, start, frame(1, Video, 2, 1000))
	enqueue(p, start, frame(2, Video, 2, 1000))
	if out := walk(t, p, start, start.Add(10*time.Millisecond)); len(out) != 4 || p.Settled() {
		t.Fatalf("%d packets left, and the receiver counts as settled: %v", len(out), p.Settled())
	}
	now := start.Add(10 * time.Millisecond)
	enqueue(p, now, frame(3, Video, 1, 1000))
	enqueue(p, now, frame(4, Video, 1, 1000))
	if n := p.Resend(now, []uint16{2, 3}); n != 2 {
		t.Errorf("%d packets are to be sent again, want 2", n)
	}
	p.GiveUp(4)
	p.GiveUp(2) // says less
	for _, s := range walk(t, p, now, now.Add(10*time.Millisecond)) {
		if s.Class == Resend {
			t.Errorf("packet %d of picture %d was sent again", s.Seq, s.Frame)
		}
	}
	if p.Settled() {
		t.Error("the receiver counts as settled without the picture that it needs")
	}
	p.Acked(6)
	if !p.Settled() {
		t.Error("the receiver is owed what it can do without")
	}
}

// TestRepeat: in an outage, when next to nothing may leave, a picture is repeated at the
// rate of the path, behind padding that shows its gap, until that is ended.
func TestRepeat(t *testing.T) {
	p := New(Config{Pace: 10 * rate.Mbps, NoTailGuard: true})
	now := time.Unix(1000, 0)
	for i := range 3 {
		p.Enqueue(now, Packet{Class: Video, Frame: 7, First: i == 0, Marker: i == 2, Body: make([]byte, 1000)})
	}
	for range 3 {
		if _, ok := p.Next(now); !ok {
			t.Fatal("the picture does not leave")
		}
	}
	p.SetBottleneck(now, Bottleneck{Rate: 2 * rate.Mbps, Depth: 3 * time.Millisecond})
	p.SetRates(now, 60*rate.Kbps, 0)
	p.Acked(p.seq - 3)
	now = now.Add(300 * time.Millisecond)
	if takes := p.Repeat(now, 7, true, 0.5); takes < 16*time.Millisecond || takes > 20*time.Millisecond {
		t.Errorf("two packets in half of 2 Mbit/s take %v", takes)
	}
	var left []Class
	for end := now.Add(30 * time.Millisecond); now.Before(end); now = now.Add(time.Millisecond) {
		for pkt, ok := p.Next(now); ok; pkt, ok = p.Next(now) {
			left = append(left, pkt.Class)
		}
		if d := p.Deadline(); len(left) < 3 && (d.IsZero() || d.After(end)) {
			t.Fatalf("after %v the deadline is %v", left, d)
		}
	}
	if !slices.Equal(left, []Class{Padding, Resend, Resend}) {
		t.Errorf("classes %v left", left)
	}
	p.Repeat(now, 7, false, 1)
	p.Repeat(now, 0, false, 0)
	if p.repeats.len() != 0 {
		t.Error("what was ended leaves")
	}
}
