package losslab

import (
	"slices"
	"testing"
	"time"

	"nearglass/gpu/capture"
	"nearglass/pacing"
)

// ms after the beginning of a test.
func ms(n int) time.Time { return time.Unix(1000, 0).Add(time.Duration(n) * time.Millisecond) }

// sent makes the packets of pictures, so many of each, in order.
func sent(perPicture int, references ...uint64) (list []packet) {
	for i, r := range references {
		for n := range perPicture {
			list = append(list, packet{
				class: pacing.Video, media: int64(firstMedia + len(list)), frame: uint64(i + 1), reference: r, first: n == 0, last: n == perPicture-1,
			})
		}
	}
	return list
}

// decodes gives the numbers of the pictures that come out of frames when all
// packets but those lost arrive in order.
func decodes(f frames, packets []packet, lost ...int) (list []uint64) {
	for i := range packets {
		if slices.Contains(lost, i) {
			continue
		}
		f.take(&packets[i])
		for p, ok := f.next(); ok; p, ok = f.next() {
			list = append(list, p.frame)
		}
	}
	return list
}

// TestFrames: what a viewer decodes with and without descriptors.
func TestFrames(t *testing.T) {
	packets := sent(2, 0, 1, 2, 2, 4, 0, 6)
	for _, c := range []struct {
		name        string
		descriptors bool
		lost        []int
		want        []uint64
	}{
		{"all, by order", false, nil, []uint64{1, 2, 3, 4, 5, 6, 7}},
		{"all, by descriptors", true, nil, []uint64{1, 2, 3, 4, 5, 6, 7}},
		{"a packet of the third, by order", false, []int{5}, []uint64{1, 2, 6, 7}},
		{"a packet of the third, by descriptors", true, []int{5}, []uint64{1, 2, 4, 5, 6, 7}},
		{"the second, by descriptors", true, []int{2, 3}, []uint64{1, 6, 7}},
		{"the first, by order", false, []int{0}, []uint64{6, 7}},
	} {
		if got := decodes(newFrames(c.descriptors), packets, c.lost...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLatePackets: what is sent again makes pictures whole in their order, and what
// is older than the newest decoded is of no use.
func TestLatePackets(t *testing.T) {
	packets := sent(2, 0, 1, 2, 2)
	late := func(f frames, order ...int) []uint64 {
		var moved []packet
		for _, i := range order {
			moved = append(moved, packets[i])
		}
		return decodes(f, moved)
	}
	if got := late(newFrames(false), 0, 1, 2, 4, 5, 3, 3, 6, 7); !slices.Equal(got, []uint64{1, 2, 3, 4}) {
		t.Errorf("by order: %v", got)
	}
	if got := late(newFrames(true), 0, 1, 2, 3, 4, 6, 7, 5); !slices.Equal(got, []uint64{1, 2, 4}) {
		t.Errorf("by descriptors: %v", got)
	}
}

// TestAsks: a gap is asked for at once and every 100 ms, ten times; one that padding
// shows waits for a packet with a payload.
func TestAsks(t *testing.T) {
	var a asks
	a.arrived(ms(0), 100, true, false)
	a.arrived(ms(5), 103, true, false)
	if got := a.take(ms(5)); !slices.Equal(got, []uint16{101, 102}) {
		t.Errorf("asked for %v", got)
	}
	a.arrived(ms(50), 101, true, true)
	if got := a.take(ms(104)); got != nil {
		t.Errorf("asked again for %v after 99 ms", got)
	}
	asked := 1
	for at := 105; at < 3000; at += 5 {
		if got := a.take(ms(at)); slices.Equal(got, []uint16{102}) {
			asked++
		}
	}
	if asked != nackTries || !a.due().IsZero() {
		t.Errorf("asked %d times, and is due at %v", asked, a.due())
	}
	a.arrived(ms(4000), 105, false, false)
	if got := a.take(ms(4000)); got != nil {
		t.Errorf("asked for %v behind padding", got)
	}
	a.arrived(ms(4010), 106, true, false)
	if got := a.take(ms(4010)); !slices.Equal(got, []uint16{104}) {
		t.Errorf("asked for %v", got)
	}
	a.passed(106)
	if !a.due().IsZero() {
		t.Error("asks for what is passed")
	}
}

// TestReports: the numbers that did not come are reported lost, once.
func TestReports(t *testing.T) {
	r := newReports(ms(0))
	for _, n := range []uint64{1, 2, 4} {
		r.take(ms(int(n)), &packet{class: pacing.Video, sequence: n, media: firstMedia + int64(n)})
	}
	r.take(ms(6), &packet{report: true, left: ms(1)})
	list := r.say(ms(100))
	if len(list) != 1 || len(list[0].acks) != 4 || !list[0].acks[2].Lost || list[0].acks[3].Lost || len(list[0].received) != 3 {
		t.Errorf("%+v", list)
	}
	list = r.say(ms(1000))
	if len(list) != 1 || !list[0].reported || list[0].lossFraction != 0.25 || list[0].asked != ms(1) || list[0].held != 994*time.Millisecond {
		t.Errorf("%+v", list)
	}
}

// TestSceneSaysItsNumber: the number can be read, and the tiles are clear of it and
// of each other.
func TestSceneSaysItsNumber(t *testing.T) {
	s := NewScene()
	pix := make([]byte, 4*Size.X*Size.Y)
	for _, n := range []int{0, 1, 161, 70_000} {
		s.Draw(pix, 4*Size.X, n)
		if got, ok := capture.ReadPatch(pix[4*(numberAt.Y*Size.X+numberAt.X):], 4*Size.X); !ok || got != uint32(n) {
			t.Errorf("picture %d says %d (%v)", n, got, ok)
		}
		for i, at := range tiles() {
			if white := pix[4*(at.Y*Size.X+at.X)] == 255; white != (hash(uint32(n))>>i&1 == 1) {
				t.Errorf("picture %d: tile %d is white: %v", n, i, white)
			}
		}
	}
}

func TestCount(t *testing.T) {
	at := func(n int) time.Duration { return Settle + time.Duration(n)*time.Millisecond }
	var f Figures
	f.Count([]Sighting{{at(-40), at(-20)}, {at(0), at(20)}, {at(16), at(130)}, {at(160), at(190)}, {at(1000), at(1100)}}, at(1000))
	if f.Shown != 3 || f.Longest != 810 || f.Delay != 114 || f.Of != 60 {
		t.Errorf("%+v", f)
	}
}
