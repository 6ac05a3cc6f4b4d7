package session

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc"
	"nearglass/pacing"
)

// TestMissing: a packet of a picture is missing when what carried it last is reported
// lost.
func TestMissing(t *testing.T) {
	var o outcomes
	for i, pkt := range []pacing.Packet{
		{Class: pacing.Video, Seq: 100}, {Class: pacing.Video, Seq: 101}, {Class: pacing.Padding, Seq: 102},
		{Class: pacing.Resend, Seq: 100}, {Class: pacing.Audio, Seq: 101},
	} {
		o.sent(cc.Sent{Sequence: uint64(i + 1)}, &pkt)
	}
	lost := func(sequences ...uint64) (list []uint16) {
		var f cc.Feedback
		for _, s := range sequences {
			f.Acks = append(f.Acks, cc.Ack{Sequence: s, Lost: true})
		}
		return o.missing(f)
	}
	if got := lost(1, 2, 3, 5); !slices.Equal(got, []uint16{101}) {
		t.Errorf("%v are missing, want 101: 100 left once more", got)
	}
	if got := lost(4); !slices.Equal(got, []uint16{100}) {
		t.Errorf("%v are missing, want 100", got)
	}
	if got := lost(2 + uint64(len(o.packets))); len(got) != 0 {
		t.Errorf("%v of packets that never left", got)
	}
}

// TestLostRequest: a packet that is reported lost is sent again although its request does
// not come, unless that is to be left to the requests.
func TestLostRequest(t *testing.T) {
	for _, c := range []struct {
		repair Repair
		want   bool
	}{{RepairAuto, true}, {RepairResend, false}, {RepairKey, false}} {
		t.Run(string(c.repair), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMendStandWith(t, func(o *Config) { o.Repair, o.Gaps = c.repair, c.repair.ByReference() })
				defer m.end(t)
				missing := m.sent()
				at := slices.IndexFunc(m.peer.packets, func(pkt pacing.Packet) bool { return pkt.Class == pacing.Video && pkt.Seq == missing })
				m.feedback <- cc.Feedback{At: time.Now(), Acks: []cc.Ack{{Sequence: uint64(at + 1), Lost: true}}}
				settle(5 * time.Millisecond)
				resent := m.resent(missing)
				if resent != c.want {
					t.Errorf("sent again: %v", resent)
				}
			})
		})
	}
}
