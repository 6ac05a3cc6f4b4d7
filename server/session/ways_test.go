package session

import (
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc"
)

// TestWays: each way to repair losses leaves out what it has to. A packet of the
// 31st picture is asked for.
func TestWays(t *testing.T) {
	for _, c := range []struct {
		repair           Repair
		resent, repaired bool
		keys             uint64
	}{
		{RepairAuto, true, false, 1},
		{RepairResend, true, false, 1},
		{RepairKey, false, false, 2},
		{RepairReference, false, true, 1},
	} {
		t.Run(string(c.repair), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMendStandWith(t, func(o *Config) { o.Repair, o.Gaps = c.repair, c.repair.ByReference() })
				defer m.end(t)
				missing := m.sent()
				m.feedback <- cc.Feedback{At: time.Now(), Nacks: []uint16{missing}}
				m.show(2, func(frame uint64) bool { return frame == 31 })
				resent := m.resent(missing)
				if repaired := len(m.repaired()) > 0; resent != c.resent || repaired != c.repaired || m.keys() != c.keys {
					t.Errorf("sent again: %v, repaired: %v, %d key frames", resent, repaired, m.keys())
				}
			})
		})
	}
}

// TestViewerWithoutResendsIsRepairedAtOnce: what cannot be sent again is not waited for.
func TestViewerWithoutResendsIsRepairedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMendStandWith(t, func(o *Config) { o.NoRTX = true })
		defer m.end(t)
		m.feedback <- cc.Feedback{At: time.Now(), Nacks: []uint16{m.sent()}}
		m.show(1, func(frame uint64) bool { return frame == 31 })
		if got := m.repaired(); len(got) != 1 || got[0][1] != 30 {
			t.Errorf("repairs %v, want one that refers to 30", got)
		}
	})
}
