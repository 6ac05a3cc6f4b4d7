package session

import (
	"image"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/pacing"
)

// keeping is an encoder that keeps pictures, as x264 does, and makes access units of
// a fixed size.
type keeping struct {
	number uint64
	valid  []uint64
	orders []encode.Order
}

func (*keeping) Load(*gpu.Frame) error { return nil }

func (e *keeping) Encode(o encode.Order) (encode.AccessUnit, error) {
	e.number++
	e.orders = append(e.orders, o)
	e.valid = slices.DeleteFunc(e.valid, func(n uint64) bool {
		return o.Newest > 0 && n > o.Newest || n+encode.MaxReferences < e.number
	})
	u := encode.AccessUnit{NALs: [][]byte{make([]byte, usualBytes)}, Number: e.number, QP: o.QP, SizeBytes: usualBytes}
	if o.Key || len(e.valid) == 0 {
		u.Key, e.valid = true, nil
	} else {
		u.Reference = e.valid[len(e.valid)-1]
	}
	e.valid = append(e.valid, e.number)
	return u, nil
}

func (*keeping) Drop() (encode.AccessUnit, error) {
	return encode.AccessUnit{}, encode.ErrNotDroppable
}

func (*keeping) Close() error { return nil }

// mendStand is a stand whose viewer takes references from the packets.
type mendStand struct {
	*stand
	encoder *keeping
	said    int // packets of which the viewer has spoken
}

func newMendStand(t *testing.T) *mendStand {
	t.Helper()
	return newMendStandWith(t, func(*Config) {})
}

func newMendStandWith(t *testing.T, change func(*Config)) *mendStand {
	t.Helper()
	m := &mendStand{encoder: &keeping{}}
	m.stand = newStandWith(t, 50*rate.Mbps, func(c *Config) {
		c.Gaps = true
		c.Encoder = func(image.Point) (encode.Encoder, error) { return m.encoder, nil }
		change(c)
	})
	m.size(64, 64)
	return m
}

// show lets time pass with a picture a frame time. The viewer shows all of them
// but those that lose picks, 10 ms after they left, and asks for no packet.
func (m *mendStand) show(pictures int, lose func(frame uint64) bool) {
	for range pictures {
		m.picture()
		settle(10 * time.Millisecond)
		var shown []uint32
		for _, pkt := range m.peer.packets[m.said:] {
			if pkt.Marker && pkt.Class != pacing.Padding && !lose(pkt.Frame) {
				shown = append(shown, pkt.Timestamp)
			}
		}
		m.said = len(m.peer.packets)
		if shown != nil {
			m.session.Confirm(shown)
		}
		settle(time.Second/60 - 10*time.Millisecond)
	}
}

// of gives the packets of a picture.
func (m *mendStand) of(frame uint64) []pacing.Packet {
	var list []pacing.Packet
	for _, pkt := range m.peer.packets {
		if pkt.Frame == frame && (pkt.Class == pacing.Video || pkt.Class == pacing.KeyFrame) {
			list = append(list, pkt)
		}
	}
	return list
}

// repaired lists the pictures that refer to another one than that before.
func (m *mendStand) repaired() (list [][2]uint64) {
	for _, pkt := range m.peer.packets {
		if pkt.Class == pacing.Video && pkt.First && pkt.DependsOn+1 != pkt.Frame {
			list = append(list, [2]uint64{pkt.Frame, pkt.DependsOn})
		}
	}
	return list
}

// sent sends 30 pictures and one more, of which no word comes yet, and gives the number of
// a packet of that.
func (m *mendStand) sent() uint16 {
	m.show(30, none)
	m.picture()
	settle(5 * time.Millisecond)
	return m.of(31)[0].Seq
}

// resent says whether a packet was sent again.
func (m *mendStand) resent(seq uint16) bool {
	return slices.ContainsFunc(m.peer.packets, func(pkt pacing.Packet) bool { return pkt.Class == pacing.Resend && pkt.Seq == seq })
}

func (m *mendStand) keys() uint64 { return m.session.c.Meter.Snapshot(time.Now()).KeyFrames }

func none(uint64) bool { return false }

// TestBurstIsRepairedByReference: where much is missing, only the picture that the
// viewer waits for is sent again, and one refers to the last that it showed.
func TestBurstIsRepairedByReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMendStand(t)
		defer m.end(t)
		m.show(30, none)
		m.feedback <- cc.Feedback{At: time.Now(), RTT: 60 * time.Millisecond} // five pictures are no silence
		lost := func(frame uint64) bool { return frame > 30 && frame <= 35 }
		m.show(5, lost)
		m.picture()
		settle(time.Millisecond)
		var nacks []uint16
		for f := uint64(31); f <= 35; f++ {
			for _, pkt := range m.of(f) {
				nacks = append(nacks, pkt.Seq)
			}
		}
		m.feedback <- cc.Feedback{At: time.Now(), Nacks: nacks}
		m.show(30, func(frame uint64) bool { return frame > 30 && frame <= 36 })
		if got := m.repaired(); len(got) != 1 || got[0][1] != 30 {
			t.Errorf("repairs %v, want one that refers to 30", got)
		}
		for _, pkt := range m.peer.packets {
			if pkt.Class == pacing.Resend && !pkt.Filler && lost(pkt.Frame) && pkt.Frame > 31 {
				t.Errorf("a packet of picture %d was sent again", pkt.Frame)
			}
		}
		if s := m.session.c.Meter.Snapshot(time.Now()); s.KeyFrames != 1 || s.Repaired != 1 {
			t.Errorf("%d key frames and %d repairs", s.KeyFrames, s.Repaired)
		}
	})
}

// TestFewPacketsAreSentAgain: no repair is needed for what a resend mends.
func TestFewPacketsAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMendStand(t)
		defer m.end(t)
		missing := m.sent()
		m.feedback <- cc.Feedback{At: time.Now(), Nacks: []uint16{missing}}
		m.show(30, none)
		resent := m.resent(missing)
		if got := m.repaired(); len(got) != 0 || !resent || m.keys() != 1 {
			t.Errorf("repairs %v, %d key frames, sent again: %v", got, m.keys(), resent)
		}
	})
}

// TestSilenceHoldsTheEncoder: through an outage few pictures are coded, so that the
// one that the viewer has can still be referred to when the path is back.
func TestSilenceHoldsTheEncoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMendStand(t)
		defer m.end(t)
		m.show(30, none)
		begin := time.Now()
		m.show(48, func(uint64) bool { return time.Since(begin) < 800*time.Millisecond })
		m.show(60, none)
		got := m.repaired()
		if len(got) < 2 || m.keys() != 1 {
			t.Fatalf("repairs %v, %d key frames", got, m.keys())
		}
		for _, r := range got {
			if r[1] != 30 {
				t.Errorf("picture %d refers to %d, which the viewer lacks", r[0], r[1])
			}
		}
		if n := m.encoder.number; n < 30+40 || n > 30+16+70 {
			t.Errorf("%d pictures were coded", n)
		}
	})
}

// TestSilenceRepeatsTheRepair: what is coded in a silence leaves again and again, so that
// it is there as soon as the path is.
func TestSilenceRepeatsTheRepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMendStand(t)
		defer m.end(t)
		m.show(30, none)
		m.show(24, func(uint64) bool { return true })
		got := m.repaired()
		if len(got) != 1 || got[0][1] != 30 {
			t.Fatalf("repairs %v, want one that refers to 30", got)
		}
		again, last := 0, m.of(got[0][0])
		for _, pkt := range m.peer.packets {
			if pkt.Class == pacing.Resend && pkt.Seq == last[0].Seq {
				again++
			}
		}
		if coded := m.encoder.number; again < 6 || coded != got[0][0] {
			t.Errorf("%d times again, and %d pictures coded after the repair", again, coded-got[0][0])
		}
	})
}

// TestViewerThatSaysNothingGetsKeyFrames: without its word nobody knows what it has.
func TestViewerThatSaysNothingGetsKeyFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMendStand(t)
		defer m.end(t)
		for range 60 {
			m.picture()
			settle(time.Second / 60)
		}
		m.feedback <- cc.Feedback{At: time.Now(), KeyFrame: true}
		settle(100 * time.Millisecond)
		if got := m.repaired(); len(got) != 0 || m.keys() != 2 {
			t.Errorf("repairs %v, %d key frames", got, m.keys())
		}
	})
}

// TestRepairOfAStillScreen: the last picture before stillness is repaired although
// nothing new is to be shown.
func TestRepairOfAStillScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMendStand(t)
		defer m.end(t)
		m.show(30, none)
		m.picture()
		settle(time.Second)
		if got := m.repaired(); len(got) == 0 || got[0][1] != 30 {
			t.Errorf("repairs %v, want one that refers to 30", got)
		}
	})
}
