package pacing

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// trainOf keeps the packets of one train.
func trainOf(out []sent, id uint32) (train []sent) {
	for _, s := range out {
		if s.Probe == id {
			train = append(train, s)
		}
	}
	return train
}

// onClock checks that a train keeps its size and its spacing.
func onClock(t *testing.T, name string, train []sent, want Train) {
	t.Helper()
	bytes := 0
	for i, s := range train {
		if due := train[0].at.Add(want.Rate.Duration(bytes)); i > 0 && s.at.Sub(due).Abs() > time.Microsecond {
			t.Fatalf("%s: packet %d left %v after its time", name, i, s.at.Sub(due))
		}
		if bytes >= want.Bytes {
			t.Fatalf("%s: packet %d is beyond %d bytes", name, i, want.Bytes)
		}
		bytes += s.sizeBytes()
	}
	if bytes < want.Bytes {
		t.Errorf("%s: %d of %d bytes in %d packets", name, bytes, want.Bytes, len(train))
	}
}

func TestTrainKeepsItsOwnClock(t *testing.T) {
	train := Train{ID: 7, Rate: 40 * rate.Mbps, Bytes: 24_000}
	for _, c := range []struct {
		name            string
		pace            rate.Rate
		before, waiting int // packets of the picture sent before, and of the one that waits
		noRTX           bool
		fillers         int
	}{
		{"all of it video", rate.Mbps, 10, 40, false, 0},
		{"half of it video", rate.Mbps, 10, 10, false, 10},
		{"no video", rate.Mbps, 10, 0, false, 20},
		{"no video, no pace", 0, 10, 0, false, 20},
		{"no video, few packets before it", rate.Mbps, 3, 0, false, 20},
		{"no video, no RTX", rate.Mbps, 10, 0, true, 80},
	} {
		p := New(Config{Pace: 100 * rate.Mbps, NoRTX: c.noRTX, NoTailGuard: true})
		enqueue(p, start, frame(1, KeyFrame, c.before, 1200))
		walk(t, p, start, start.Add(50*time.Millisecond))
		now := start.Add(100 * time.Millisecond)
		p.SetRates(now, c.pace, 0)
		enqueue(p, now, frame(2, Video, c.waiting, 1200))
		p.Probe(now, train)
		p.Probe(now, train)
		got := trainOf(walk(t, p, now, now.Add(20*time.Millisecond)), 7)
		onClock(t, c.name, got, train)
		fillers := 0
		for i, s := range got {
			if s.Filler || s.Class == Padding {
				fillers++
			} else if i != fillers+int(s.Seq)-c.before {
				t.Errorf("%s: packet %d of the train is %d", c.name, i, s.Seq)
			}
			if s.Filler && (s.Class != Resend || len(s.Body) == 0 || c.noRTX) {
				t.Errorf("%s: filler %+v", c.name, s.Packet)
			}
		}
		if s := p.Snapshot(); fillers != c.fillers || s.Fillers != uint64(fillers) || s.Trains != 1 {
			t.Errorf("%s: %d fillers, want %d; %+v", c.name, fillers, c.fillers, s)
		}
	}
}

// TestTrainWithALateTimer: a train catches up with a coarse tick, and starts
// again where it is after a longer silence.
func TestTrainWithALateTimer(t *testing.T) {
	for _, c := range []struct {
		late time.Duration
		want int // packets at once; 12 in 10 ms
	}{{time.Millisecond, 1}, {11 * time.Millisecond, 13}, {windowsTick, 18}, {60 * time.Millisecond, 24}, {2 * time.Second, 0}} {
		p := New(Config{Pace: rate.Kbps, NoTailGuard: true})
		enqueue(p, start, frame(1, KeyFrame, 200, 1200))
		p.Probe(start, Train{ID: 1, Rate: 11520 * rate.Kbps, Bytes: 100_000})
		p.Next(start)
		n := 0
		for pkt, ok := p.Next(start.Add(c.late)); ok; pkt, ok = p.Next(start.Add(c.late)) {
			n += int(pkt.Probe)
		}
		if n != c.want {
			t.Errorf("%v late: %d packets at once, want %d", c.late, n, c.want)
		}
	}
}

// TestWithoutRTX: nothing is sent again, by whatever occasion.
func TestWithoutRTX(t *testing.T) {
	p := New(Config{Pace: 10 * rate.Mbps, NoRTX: true})
	enqueue(p, start, frame(1, KeyFrame, 10, 1200))
	walk(t, p, start, start.Add(10*time.Millisecond))
	if n := p.Resend(start.Add(10*time.Millisecond), []uint16{3}); n != 0 {
		t.Errorf("%d resends", n)
	}
	for _, s := range walk(t, p, start.Add(10*time.Millisecond), start.Add(time.Second)) {
		if s.Class != Padding {
			t.Errorf("%+v", s.Packet)
		}
	}
}

// TestTrainLeavesNoDebt: the pace goes on after a train as if it had just
// been used up.
func TestTrainLeavesNoDebt(t *testing.T) {
	p := New(Config{Pace: 2 * rate.Mbps, NoTailGuard: true})
	enqueue(p, start, frame(1, Video, 100, 1200))
	p.Probe(start, Train{ID: 1, Rate: 40 * rate.Mbps, Bytes: 12_000})
	out := walk(t, p, start, start.Add(time.Second))
	end := trainOf(out, 1)[9].at
	if wait := out[11].at.Sub(end); wait != (2 * rate.Mbps).Duration(1200) {
		t.Errorf("the second packet after the train left %v after it", wait)
	}
}

func TestTrainWaitsForTheFirstPicture(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 10}, {900 * time.Millisecond, 10}, {1100 * time.Millisecond, 0}} {
		p := New(Config{Pace: rate.Mbps, NoTailGuard: true})
		train := Train{ID: 1, Rate: 10 * rate.Mbps, Bytes: 12_000}
		p.Probe(start, train)
		if at := p.Deadline(); !at.IsZero() {
			t.Errorf("due at %v with nothing to send", at)
		}
		now := start.Add(c.after)
		enqueue(p, now, frame(1, KeyFrame, 30, 1200))
		got := trainOf(walk(t, p, now, now.Add(time.Second)), 1)
		if len(got) != c.want {
			t.Errorf("after %v: %d packets", c.after, len(got))
		}
		if c.want > 0 {
			onClock(t, "late start", got, train)
		}
	}
}

// TestTrainWithinAPicture fills without touching the media's numbers.
func TestTrainWithinAPicture(t *testing.T) {
	p := New(Config{Pace: 100 * rate.Mbps, NoTailGuard: true})
	open := frame(1, KeyFrame, 10, 1200)
	enqueue(p, start, open[:9])
	walk(t, p, start, start.Add(10*time.Millisecond))
	now := start.Add(20 * time.Millisecond)
	p.Probe(now, Train{ID: 3, Rate: 20 * rate.Mbps, Bytes: 30_000})
	out := walk(t, p, now, now.Add(50*time.Millisecond))
	enqueue(p, now.Add(50*time.Millisecond), open[9:])
	out = append(out, walk(t, p, now.Add(50*time.Millisecond), now.Add(time.Second))...)
	for i, s := range out[:len(out)-1] {
		if want := uint16(8 - i%9); !s.Filler || s.Seq != want {
			t.Errorf("filler %d repeats %d, want %d", i, s.Seq, want)
		}
	}
	if last := out[len(out)-1]; last.Seq != 9 || last.Probe != 0 {
		t.Errorf("the picture ends with %+v", last.Packet)
	}
}

func TestNewTrainTakesOver(t *testing.T) {
	p := New(Config{Pace: rate.Mbps, NoTailGuard: true})
	enqueue(p, start, frame(1, KeyFrame, 100, 1200))
	p.Probe(start, Train{ID: 1, Rate: 10 * rate.Mbps, Bytes: 50_000})
	out := walk(t, p, start, start.Add(9*time.Millisecond))
	now := start.Add(9 * time.Millisecond)
	second := Train{ID: 2, Rate: 30 * rate.Mbps, Bytes: 12_000}
	p.Probe(now, second)
	p.Probe(now, Train{ID: 0, Rate: rate.Mbps, Bytes: 5000})
	out = append(out, walk(t, p, now, now.Add(100*time.Millisecond))...)
	if n := len(trainOf(out, 1)); n != 10 {
		t.Errorf("%d packets of the first train", n)
	}
	onClock(t, "second", trainOf(out, 2), second)
	for _, broken := range []Train{{ID: 3}, {ID: 4, Rate: -1, Bytes: 5000}, {ID: 5, Rate: rate.Mbps, Bytes: -1}} {
		p.Probe(now.Add(100*time.Millisecond), broken)
		if got := trainOf(walk(t, p, now.Add(100*time.Millisecond), now.Add(time.Second)), broken.ID); len(got) > 0 {
			t.Errorf("%+v sent %d packets", broken, len(got))
		}
	}
}

// TestFillerCountsAsResend: a request for a packet that has just left as
// filler is answered already.
func TestFillerCountsAsResend(t *testing.T) {
	p := New(Config{Pace: 10 * rate.Mbps, NoTailGuard: true})
	p.SetRTT(50 * time.Millisecond)
	enqueue(p, start, frame(1, KeyFrame, 4, 1200))
	walk(t, p, start, start.Add(10*time.Millisecond))
	now := start.Add(20 * time.Millisecond)
	p.Probe(now, Train{ID: 1, Rate: 20 * rate.Mbps, Bytes: 2000})
	walk(t, p, now, now.Add(2*time.Millisecond))
	if n := p.Resend(now.Add(5*time.Millisecond), []uint16{3, 2, 1}); n != 1 {
		t.Errorf("%d of 3 queued", n)
	}
	if n := p.Resend(now.Add(60*time.Millisecond), []uint16{3}); n != 1 {
		t.Error("not resent after a round trip")
	}
}
