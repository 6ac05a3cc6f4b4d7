package pacing

import (
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// picture is one of a queue under test: its number is its place from 1.
type picture struct {
	needs uint64 // 0: the one before
	key   bool
	stale bool
}

// queueOf enqueues pictures of two packets each, with a pace of zero.
func queueOf(pictures []picture) *Pacer {
	p := New(Config{NoTailGuard: true})
	for i, pic := range pictures {
		addPicture(p, uint64(i+1), pic)
	}
	return p
}

func addPicture(p *Pacer, number uint64, pic picture) {
	class, deadline := Video, start.Add(time.Second)
	if pic.key {
		class = KeyFrame
	}
	if pic.stale {
		deadline = start.Add(-1)
	}
	for _, pkt := range frame(number, class, 2, 1000) {
		pkt.DependsOn, pkt.Deadline = pic.needs, deadline
		p.Enqueue(start, pkt)
	}
}

// kept lists the pictures that leave p and checks that they leave whole.
func kept(t *testing.T, name string, p *Pacer) (frames []uint64) {
	t.Helper()
	p.SetRates(start, 100*rate.Mbps, 0)
	out := walk(t, p, start, start.Add(time.Second))
	for i, s := range out {
		if s.Seq != uint16(i) || s.First != (i%2 == 0) {
			t.Errorf("%s: packet %d is %+v", name, i, s.Packet)
		}
		if s.First {
			frames = append(frames, s.Frame)
		}
	}
	if s := p.Snapshot(); s.QueuedBytes != 0 || s.Queued != 0 {
		t.Errorf("%s: %+v", name, s)
	}
	return frames
}

const (
	key   = true
	stale = true
)

func TestDropFollowsReferences(t *testing.T) {
	for _, c := range []struct {
		name     string
		pictures []picture
		drop     uint64
		want     []uint64
		goesOn   bool
	}{
		{"a chain", []picture{{key: key}, {}, {}, {}}, 2, []uint64{1}, false},
		{"a chain to a key frame", []picture{{key: key}, {}, {}, {key: key}, {}}, 2, []uint64{1, 4, 5}, true},
		{"a leaf", []picture{{key: key}, {}, {needs: 1}, {needs: 3}}, 2, []uint64{1, 3, 4}, true},
		{"a branch", []picture{{key: key}, {}, {needs: 1}, {needs: 2}, {needs: 3}, {needs: 4}}, 2, []uint64{1, 3, 5}, false},
		{"the newest", []picture{{key: key}, {}}, 2, []uint64{1}, false},
		{"a key frame", []picture{{key: key}, {}, {key: key}, {}}, 3, []uint64{1, 2}, false},
		{"what is not there", []picture{{key: key}, {}}, 9, []uint64{1, 2}, false},
		{"a reference that left long ago", []picture{{key: key}, {needs: 900}, {needs: 900}}, 2, []uint64{1, 3}, true},
	} {
		p := queueOf(c.pictures)
		n, goesOn := p.Drop(c.drop)
		if n != len(c.pictures)-len(c.want) || goesOn != c.goesOn || p.Snapshot().Dropped != uint64(n) {
			t.Errorf("%s: %d went, goes on %v, %+v", c.name, n, goesOn, p.Snapshot())
		}
		if p.NeedsKey() != (n > 0 && !goesOn) {
			t.Errorf("%s: needs a key frame: %v", c.name, p.NeedsKey())
		}
		if got := kept(t, c.name, p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v left, want %v", c.name, got, c.want)
		}
	}
}

// TestDropOnArrival: a picture that was being encoded while its reference was
// dropped cannot be decoded either.
func TestDropOnArrival(t *testing.T) {
	p := queueOf([]picture{{key: key}, {}, {}})
	p.Drop(2)
	addPicture(p, 4, picture{})         // needs 3, which is gone
	addPicture(p, 5, picture{needs: 4}) // and so on
	if !p.NeedsKey() || p.Snapshot().Dropped != 4 {
		t.Errorf("needs a key frame: %v, %+v", p.NeedsKey(), p.Snapshot())
	}
	addPicture(p, 6, picture{needs: 1}) // repaired by reference
	addPicture(p, 7, picture{})
	if p.NeedsKey() {
		t.Error("needs a key frame after a repair")
	}
	addPicture(p, 8, picture{needs: 5})
	addPicture(p, 9, picture{key: key})
	addPicture(p, 10, picture{})
	if got, want := kept(t, "arrivals", p), []uint64{1, 6, 7, 9, 10}; !slices.Equal(got, want) || p.NeedsKey() {
		t.Errorf("%v left, want %v; needs a key frame: %v", got, want, p.NeedsKey())
	}
}

func TestStale(t *testing.T) {
	for _, c := range []struct {
		name     string
		pictures []picture
		want     []uint64
	}{
		{"nothing stale", []picture{{key: key}, {}, {key: key}}, []uint64{1, 2, 3}},
		{"a chain that the newest needs", []picture{{key: key, stale: stale}, {stale: stale}, {}}, []uint64{1, 2, 3}},
		{"up to the key frame", []picture{{stale: stale}, {stale: stale}, {}, {key: key, stale: stale}, {stale: stale}}, []uint64{4, 5}},
		{"from the stale one on", []picture{{key: key}, {}, {stale: stale}, {}, {key: key}}, []uint64{1, 2, 5}},
		{"a leaf", []picture{{key: key}, {stale: stale}, {needs: 1}}, []uint64{1, 3}},
		{"a leaf of a leaf", []picture{{key: key}, {stale: stale}, {}, {needs: 1, stale: stale}}, []uint64{1, 4}},
		{"two key frames", []picture{{key: key, stale: stale}, {stale: stale}, {key: key, stale: stale}, {key: key}}, []uint64{4}},
		{"only the newest", []picture{{stale: stale}}, []uint64{1}},
		{"none", nil, nil},
	} {
		p := queueOf(c.pictures)
		n, goesOn := p.Stale(start)
		if n != len(c.pictures)-len(c.want) || goesOn != (n > 0) || p.NeedsKey() {
			t.Errorf("%s: %d went, goes on %v, needs a key frame %v", c.name, n, goesOn, p.NeedsKey())
		}
		if got := kept(t, c.name, p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v left, want %v", c.name, got, c.want)
		}
	}
	p := queueOf([]picture{{stale: stale}, {key: key}})
	p.SetRates(start, rate.Kbps, 0)
	p.Next(start) // the stale picture has begun
	if n, _ := p.Stale(start); n != 0 {
		t.Error("a picture was cut in two")
	}
}

// TestQueueIsBounded: a pace of zero does not gather pictures without end, and
// the pacer comes back with the next key frame.
func TestQueueIsBounded(t *testing.T) {
	p := New(Config{NoTailGuard: true})
	for number := range uint64(maxQueued) {
		addPicture(p, number+1, picture{key: number == 0})
		p.Enqueue(start, Packet{Class: Audio})
	}
	if s := p.Snapshot(); s.Queued > maxQueued+maxAudio || s.Dropped != maxQueued/2 || !p.NeedsKey() {
		t.Errorf("needs a key frame: %v, %+v", p.NeedsKey(), s)
	}
	for range maxAudio {
		p.Next(start)
	}
	if p.Drop(1); !p.NeedsKey() {
		t.Error("needs no key frame with all dropped")
	}
	addPicture(p, maxQueued+1, picture{key: key})
	addPicture(p, maxQueued+2, picture{})
	if got := kept(t, "after the flood", p); !slices.Equal(got, []uint64{maxQueued + 1, maxQueued + 2}) {
		t.Errorf("%v left", got)
	}
}

// TestGoneErrsOnTheSafeSide: however many pictures were dropped, none of them
// is taken for present.
func TestGoneErrsOnTheSafeSide(t *testing.T) {
	var g gone
	for frame := uint64(10); frame < 1000; frame += 3 {
		g.add(frame)
	}
	for frame := uint64(10); frame < 1000; frame += 3 {
		if !g.has(frame) {
			t.Fatalf("%d is forgotten", frame)
		}
	}
	if g.has(0) || g.has(9) || g.has(1001) {
		t.Error("more than the dropped range is gone")
	}
}
