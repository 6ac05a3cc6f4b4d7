package pacing

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// start is the beginning of virtual time.
var start = time.Unix(1_000_000, 0)

// frame makes the packets of one picture, n of bytes each.
func frame(number uint64, class Class, n, bytes int) []Packet {
	packets := make([]Packet, n)
	for i := range packets {
		packets[i] = Packet{
			Class: class, Frame: number, Timestamp: uint32(number) * 1500,
			First: i == 0, Marker: i == n-1, Body: make([]byte, bytes-overheadBytes),
		}
	}
	return packets
}

func enqueue(p *Pacer, now time.Time, packets []Packet) {
	for _, pkt := range packets {
		p.Enqueue(now, pkt)
	}
}

// sent is a released packet and when it left.
type sent struct {
	Packet
	at time.Time
}

// walk drains p from deadline to deadline until the time end or idleness.
func walk(t *testing.T, p *Pacer, now, end time.Time) []sent {
	t.Helper()
	var out []sent
	for {
		for {
			pkt, ok := p.Next(now)
			if !ok {
				break
			}
			out = append(out, sent{pkt, now})
			if len(out) > 1_000_000 {
				t.Fatal("the pacer never stops")
			}
		}
		due := p.Deadline()
		if due.IsZero() || due.After(end) {
			return out
		}
		if !due.After(now) {
			t.Fatalf("deadline %v is not after %v, though nothing was due", due, now)
		}
		now = due
	}
}

func sizes(out []sent) (total int) {
	for i := range out {
		total += out[i].sizeBytes()
	}
	return total
}

func TestPaceIsHeld(t *testing.T) {
	for _, pace := range []rate.Rate{500 * rate.Kbps, 5 * rate.Mbps, 50 * rate.Mbps, 400 * rate.Mbps} {
		p := New(Config{Pace: pace, NoTailGuard: true})
		enqueue(p, start, frame(1, Video, 2000, 1200))
		out := walk(t, p, start, start.Add(time.Hour))
		if len(out) != 2000 || !p.Empty() || !p.Deadline().IsZero() {
			t.Fatalf("%v: %d packets left", pace, len(out))
		}
		burst := max(pace.Bytes(defaultBurst), defaultMinBurstBytes)
		for i := 0; i < len(out); i += 97 {
			for j := i; j < len(out); j += 89 {
				took := out[j].at.Sub(out[i].at)
				if most := burst + pace.Bytes(took) + 2*1200; sizes(out[i:j+1]) > most {
					t.Fatalf("%v: %d bytes in %v, at most %d allowed", pace, sizes(out[i:j+1]), took, most)
				}
			}
		}
		took := out[len(out)-1].at.Sub(start) + pace.Duration(burst)
		if got := rate.Of(2000*1200, took); got < pace.Scale(0.98) {
			t.Errorf("pace %v, got %v", pace, got)
		}
	}
}

func TestIdlenessSavesNoMoreThanTheBurst(t *testing.T) {
	p := New(Config{Pace: 10 * rate.Mbps, Burst: 10 * time.Millisecond, NoTailGuard: true})
	now := start.Add(24 * time.Hour)
	enqueue(p, now, frame(1, Video, 200, 1200))
	atOnce := 0
	for {
		if _, ok := p.Next(now); !ok {
			break
		}
		atOnce++
	}
	if want := 12500/1200 + 1; atOnce != want {
		t.Errorf("%d packets at once, want %d", atOnce, want)
	}
}

func TestLateWakeUpCostsNoThroughput(t *testing.T) {
	const tick = 15600 * time.Microsecond
	p := New(Config{Pace: 20 * rate.Mbps, Burst: 20 * time.Millisecond, NoTailGuard: true})
	enqueue(p, start, frame(1, Video, 5000, 1200))
	var bytes int
	now := start
	for ; !p.Empty(); now = now.Add(tick) {
		for {
			pkt, ok := p.Next(now)
			if !ok {
				break
			}
			bytes += pkt.sizeBytes()
		}
	}
	if got := rate.Of(bytes, now.Sub(start)); got < 19*rate.Mbps {
		t.Errorf("%v with a timer of %v", got, tick)
	}
}

func TestOrderOfClasses(t *testing.T) {
	p := New(Config{Pace: 100 * rate.Mbps, FirstSeq: 65_534, NoTailGuard: true})
	enqueue(p, start, frame(1, Video, 3, 500))
	walk(t, p, start, start.Add(time.Second))
	now := start.Add(time.Second / 2)
	enqueue(p, now, frame(2, Video, 2, 1200))
	enqueue(p, now, frame(3, KeyFrame, 2, 1200))
	p.Enqueue(now, Packet{Class: Audio, Body: make([]byte, 100)})
	if n := p.Resend(now, []uint16{65_535, 9, 65_535}); n != 1 {
		t.Fatalf("%d resends queued", n)
	}
	var got []Class
	var seqs []uint16
	for _, s := range walk(t, p, now, now.Add(time.Second)) {
		got, seqs = append(got, s.Class), append(seqs, s.Seq)
	}
	// The key frame does not overtake the picture before it.
	if want := []Class{Audio, Resend, Video, Video, KeyFrame, KeyFrame}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if want := []uint16{0, 65_535, 1, 2, 3, 4}; !slices.Equal(seqs, want) {
		t.Errorf("sequence numbers %v, want %v", seqs, want)
	}
}

func TestPaceOfZeroHoldsAllButAudio(t *testing.T) {
	p := New(Config{})
	enqueue(p, start, frame(1, Video, 3, 1200))
	if !p.Deadline().IsZero() || p.QueueDelay() != 0 {
		t.Errorf("deadline %v, delay %v", p.Deadline(), p.QueueDelay())
	}
	p.Enqueue(start, Packet{Class: Audio})
	if out := walk(t, p, p.Deadline(), start.Add(time.Hour)); len(out) != 1 || out[0].Class != Audio {
		t.Errorf("released %v", out)
	}
	p.SetRates(start.Add(time.Minute), rate.Mbps, 0)
	if out := walk(t, p, start.Add(time.Minute), start.Add(2*time.Minute)); len(out) < 3 {
		t.Errorf("%d packets after the pace came", len(out))
	}
}

func TestRateChangeKeepsTheDebt(t *testing.T) {
	p := New(Config{Pace: 100 * rate.Kbps, MinBurstBytes: 1, Burst: 1, NoTailGuard: true})
	enqueue(p, start, frame(1, Video, 100, 1000))
	p.Next(start) // in debt by 80 ms now
	p.SetRates(start, 10*rate.Mbps, 0)
	if wait := p.Deadline().Sub(start); wait < 0 || wait > time.Millisecond {
		t.Errorf("waits %v after the pace rose a hundredfold", wait)
	}
	if d := p.QueueDelay(); d != (10 * rate.Mbps).Duration(99*1000) {
		t.Errorf("queue delay %v", d)
	}
	p.SetRates(start, 0, 0)
	p.SetRates(start, 10*rate.Mbps, 0)
	if wait := p.Deadline().Sub(start); wait > time.Millisecond {
		t.Errorf("waits %v after a pause", wait)
	}
}

func TestResendOncePerRoundTrip(t *testing.T) {
	p := New(Config{Pace: 100 * rate.Mbps, NoTailGuard: true})
	p.SetRTT(40 * time.Millisecond)
	enqueue(p, start, frame(1, Video, 10, 1200))
	walk(t, p, start, start.Add(time.Second))
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{10 * time.Millisecond, 1}, {11 * time.Millisecond, 0}, {45 * time.Millisecond, 0}, {51 * time.Millisecond, 1}, {2 * time.Second, 0}} {
		now := start.Add(c.after)
		if got := p.Resend(now, []uint16{4}); got != c.want {
			t.Errorf("after %v: %d resends, want %d", c.after, got, c.want)
		}
		for _, s := range walk(t, p, now, now.Add(time.Millisecond)) {
			if s.Class != Resend || s.Seq != 4 || len(s.Body) != 1200-overheadBytes {
				t.Errorf("resent %v %d", s.Class, s.Seq)
			}
		}
	}
	p = New(Config{Pace: 100 * rate.Mbps})
	enqueue(p, start, frame(1, Video, 10, 1200))
	walk(t, p, start, start.Add(time.Millisecond))
	p.Acked(4)
	if p.Resend(start.Add(2*time.Millisecond), []uint16{4}) != 0 {
		t.Error("what has arrived was resent")
	}
}

func TestResendBudget(t *testing.T) {
	p := New(Config{Pace: 10 * rate.Mbps, NoTailGuard: true})
	enqueue(p, start, frame(1, Video, 600, 1200))
	walk(t, p, start, start.Add(time.Second))
	now := start.Add(580 * time.Millisecond)
	all := make([]uint16, 600)
	for i := range all {
		all[i] = uint16(i)
	}
	queued := p.Resend(now, all)
	// 100 ms at half of 10 Mbit/s, and the packet that overdraws it.
	if want := 62500/1200 + 1; queued != want || p.Snapshot().Refused != uint64(600-want) {
		t.Errorf("%d of 600 queued, want %d; %+v", queued, want, p.Snapshot())
	}
}

func TestCacheBounds(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want int
	}{
		{"packets", Config{CachePackets: 64}, 64},
		{"bytes", Config{CacheBytes: 12_000}, 10},
		{"age", Config{CacheAge: 10 * time.Millisecond}, 84},
	} {
		c.cfg.Pace, c.cfg.NoTailGuard = 80*rate.Mbps, true
		p := New(c.cfg)
		enqueue(p, start, frame(1, Video, 1000, 1200))
		walk(t, p, start, start.Add(time.Second))
		s := p.Snapshot()
		if s.Cached != c.want || s.CachedBytes != 1200*c.want || s.Unacked != c.want {
			t.Errorf("bound by %s: %+v, want %d", c.name, s, c.want)
		}
	}
}

func TestDrop(t *testing.T) {
	setUp := func() *Pacer {
		p := New(Config{Pace: rate.Mbps, MinBurstBytes: 1, NoTailGuard: true})
		enqueue(p, start, frame(1, Video, 3, 1000))
		enqueue(p, start, frame(2, Video, 3, 1000))
		enqueue(p, start, frame(3, Video, 3, 1000))
		return p
	}
	p := setUp()
	p.Next(start) // the first picture has begun
	if n, key := p.Drop(1); n != 2 || key {
		t.Errorf("dropped %d, key frame %v", n, key)
	}
	if out := walk(t, p, start, start.Add(time.Second)); len(out) != 2 || out[1].Frame != 1 || !out[1].Marker {
		t.Errorf("the picture that had begun was not finished: %v", out)
	}
	p = setUp()
	enqueue(p, start, frame(4, KeyFrame, 2, 1000))
	enqueue(p, start, frame(5, Video, 2, 1000))
	if n, key := p.Drop(2); n != 2 || !key {
		t.Errorf("dropped %d, key frame %v", n, key)
	}
	var frames []uint64
	for i, s := range walk(t, p, start, start.Add(time.Second)) {
		if frames = append(frames, s.Frame); s.Seq != uint16(i) {
			t.Errorf("packet %d has number %d", i, s.Seq)
		}
	}
	if want := []uint64{1, 1, 1, 4, 4, 5, 5}; !slices.Equal(frames, want) {
		t.Errorf("left %v, want %v", frames, want)
	}
	if p.Snapshot().QueuedBytes != 0 {
		t.Errorf("%+v", p.Snapshot())
	}
	if n, key := p.Drop(9); n != 0 || key {
		t.Errorf("dropped %d of nothing, key frame %v", n, key)
	}
}

// guards gives the tail guard's times within the first second.
func guards(after time.Duration) (at []time.Duration) {
	for _, ms := range []time.Duration{20, 45, 90, 180, 360, 720} {
		at = append(at, after+ms*time.Millisecond)
	}
	return at
}

func TestTailGuard(t *testing.T) {
	for _, c := range []struct {
		name  string
		acked []uint16
		next  time.Duration // when another picture comes; 0: none
		want  []time.Duration
	}{
		{"nothing known", nil, 0, guards(0)},
		{"all arrived", []uint16{0, 1, 2}, 0, nil},
		{"one missing", []uint16{0, 2}, 0, guards(0)},
		{"the stream goes on", nil, 17 * time.Millisecond, guards(17 * time.Millisecond)},
	} {
		p := New(Config{Pace: 100 * rate.Mbps})
		enqueue(p, start, frame(1, Video, 3, 1200))
		var out []sent
		end := start.Add(time.Second)
		if c.next > 0 {
			walk(t, p, start, start.Add(c.next-1))
			enqueue(p, start.Add(c.next), frame(2, Video, 3, 1200))
			out = walk(t, p, start.Add(c.next), end)
		} else {
			walk(t, p, start, start.Add(time.Millisecond))
			p.Acked(c.acked...)
			out = walk(t, p, start.Add(time.Millisecond), end)
		}
		var got []time.Duration
		for i, s := range out {
			if s.Class == Resend && (out[i-1].Class != Padding || !s.Marker) {
				t.Errorf("%s: resent %+v", c.name, s.Packet)
			}
			if s.Class == Padding {
				got = append(got, s.at.Sub(start))
				if s.PadBytes == 0 || s.hasPayload() || s.Timestamp == 0 || s.Marker {
					t.Errorf("%s: guard packet %+v", c.name, s.Packet)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: guards at %v, want %v", c.name, got, c.want)
		}
	}
}

// A path that is gone for longer than the cache reaches takes everything with
// it. The guard goes on, and what the receiver then asks for is past repair.
func TestLongOutage(t *testing.T) {
	p := New(Config{Pace: 100 * rate.Mbps})
	enqueue(p, start, frame(1, KeyFrame, 2, 1200))
	walk(t, p, start, start.Add(time.Millisecond))
	p.Acked(0, 1)
	if !p.Settled() || p.BeyondRepair([]uint16{7}) {
		t.Error("everything has arrived")
	}
	at := start.Add(time.Second)
	enqueue(p, at, frame(2, Video, 2, 1200))
	out := walk(t, p, at, at.Add(4*time.Second))
	if last := out[len(out)-1]; last.Class != Padding || last.at.Sub(at) != 3*time.Second {
		t.Errorf("the last guard in 4 s is %+v", last)
	}
	if p.Settled() || !p.BeyondRepair([]uint16{2}) || p.BeyondRepair([]uint16{out[len(out)-1].Seq}) {
		t.Error("picture 2 is lost and forgotten, the newest guard is still held")
	}
	at = at.Add(5 * time.Second)
	enqueue(p, at, frame(3, KeyFrame, 2, 1200))
	out = walk(t, p, at, at.Add(time.Millisecond))
	for seq := range out[len(out)-1].Seq + 1 {
		p.Acked(seq)
	}
	if !p.Settled() || p.BeyondRepair([]uint16{2}) {
		t.Error("a key frame that arrived makes up for all before it")
	}
}

// hasPayload says whether a padding packet carries a payload, which it must not.
func (s sent) hasPayload() bool { return len(s.Body) > 0 || s.HeadLen > 0 }

func TestLostGuardIsRepairedWithoutPayload(t *testing.T) {
	p := New(Config{Pace: 100 * rate.Mbps})
	enqueue(p, start, frame(1, Video, 1, 1200))
	walk(t, p, start, start.Add(20*time.Millisecond))
	now := start.Add(21 * time.Millisecond)
	if p.Resend(now, []uint16{1}) != 1 {
		t.Fatal("a guard packet is not in the cache")
	}
	pkt, ok := p.Next(now)
	if !ok || pkt.Class != Resend || pkt.Seq != 1 || pkt.PadBytes != 0 || len(pkt.Body) != 0 {
		t.Errorf("%+v, %v", pkt, ok)
	}
}

func TestPaddingFillsBetweenPictures(t *testing.T) {
	p := New(Config{Pace: 10 * rate.Mbps, Pad: 4 * rate.Mbps, NoTailGuard: true})
	if !p.Deadline().IsZero() {
		t.Error("padding before the first picture")
	}
	open := frame(1, Video, 10, 1000)
	enqueue(p, start, open[:9])
	for _, s := range walk(t, p, start, start.Add(100*time.Millisecond)) {
		if s.Class == Padding {
			t.Fatal("padding within a picture")
		}
	}
	now := start.Add(100 * time.Millisecond)
	enqueue(p, now, open[9:])
	out := walk(t, p, now, now.Add(time.Second))
	if got := rate.Of(sizes(out), time.Second); got < 3900*rate.Kbps || got > 4100*rate.Kbps {
		t.Errorf("padded to %v", got)
	}
	p.SetRates(now.Add(time.Second), 10*rate.Mbps, 0)
	if !p.Deadline().IsZero() {
		t.Error("padding goes on without a rate")
	}
}

// TestNextHonorsDeadline holds, for random use, what the session relies on:
// at its deadline the pacer has a packet, and before it none.
func TestNextHonorsDeadline(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	p := New(Config{Pace: 5 * rate.Mbps})
	now := start
	number := uint64(0)
	for range 20_000 {
		switch rng.IntN(6) {
		case 0:
			number++
			enqueue(p, now, frame(number, Class(rng.IntN(2))+KeyFrame, 1+rng.IntN(30), 1000))
		case 1:
			p.SetRates(now, rate.Rate(rng.IntN(50_000_000)), rate.Rate(rng.IntN(2)*1_000_000))
		case 2:
			p.Resend(now, []uint16{p.seq - uint16(rng.IntN(50)), uint16(rng.Uint32())})
		case 3:
			p.Acked(p.seq - uint16(rng.IntN(50)))
		case 4:
			p.Drop(number - uint64(rng.IntN(5)))
		}
		due := p.Deadline()
		if due.IsZero() {
			if _, ok := p.Next(now); ok {
				t.Fatal("a packet without a deadline")
			}
			now = now.Add(time.Duration(rng.IntN(1_000_000)))
			continue
		}
		if due.After(now) {
			if _, ok := p.Next(due.Add(-1)); ok && due.Add(-1).After(now) {
				t.Fatal("a packet before its deadline")
			}
			now = due
		}
		if _, ok := p.Next(now); !ok && p.resend.len()+p.video.len() > 0 {
			t.Fatalf("nothing at the deadline; %+v", p.Snapshot())
		}
	}
	s := p.Snapshot()
	if s.Unacked < 0 || s.Unacked > s.Cached || s.CachedBytes < 0 {
		t.Errorf("counts went astray: %+v", s)
	}
}

func TestTimeGoingBackwards(t *testing.T) {
	p := New(Config{Pace: 5 * rate.Mbps})
	enqueue(p, start, frame(1, Video, 50, 1200))
	walk(t, p, start, start.Add(time.Second))
	enqueue(p, start.Add(-time.Hour), frame(2, Video, 50, 1200))
	p.Resend(start.Add(-time.Hour), []uint16{1, 2})
	if out := walk(t, p, start.Add(time.Second), start.Add(2*time.Second)); len(out) < 50 {
		t.Errorf("%d packets", len(out))
	}
}

func BenchmarkPacer(b *testing.B) {
	p := New(Config{Pace: rate.Mbps * 100_000})
	pkt := Packet{Class: Video, Frame: 1, First: true, Marker: true, HeadLen: 2, Body: make([]byte, 1100)}
	now := start
	var acked [1]uint16
	step := func() {
		now = now.Add(10 * time.Microsecond)
		p.Enqueue(now, pkt)
		p.Deadline()
		out, _ := p.Next(now)
		acked[0] = out.Seq
		if out.Seq%50 == 7 {
			p.Resend(now, acked[:])
			p.Next(now)
		}
		p.Acked(acked[:]...)
	}
	for range 10_000 {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}
