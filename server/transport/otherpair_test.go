package transport

import (
	"testing"
	"time"

	"github.com/pion/webrtc/v4"
)

func TestLeastRTT(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	pair := func(rtt float64, heard time.Duration, state webrtc.StatsICECandidatePairState) webrtc.ICECandidatePairStats {
		return webrtc.ICECandidatePairStats{State: state, CurrentRoundTripTime: rtt, LastResponseTimestamp: webrtc.StatsTimestamp(now.Add(-heard).UnixMilli())}
	}
	const works, failed = webrtc.StatsICECandidatePairStateSucceeded, webrtc.StatsICECandidatePairStateFailed
	checked := pair(0.003, time.Hour, works) // by the other end, and answered
	checked.LastRequestReceivedTimestamp = webrtc.StatsTimestamp(now.UnixMilli())
	tests := []struct {
		name  string
		pairs []webrtc.ICECandidatePairStats
		want  time.Duration
	}{
		{"none", nil, 0},
		{"the least", []webrtc.ICECandidatePairStats{pair(0.04, 0, works), pair(0.002, time.Second, works), pair(0.03, 0, works)}, 2 * time.Millisecond},
		{"one that failed", []webrtc.ICECandidatePairStats{pair(0.002, 0, failed)}, 0},
		{"one that was not answered yet", []webrtc.ICECandidatePairStats{pair(0, 0, works)}, 0},
		{"one that fell silent", []webrtc.ICECandidatePairStats{pair(0.002, 2*otherAge, works), pair(0.05, 0, works)}, 50 * time.Millisecond},
		{"one that the other end still checks", []webrtc.ICECandidatePairStats{checked}, 3 * time.Millisecond},
	}
	for _, tt := range tests {
		if got, known := leastRTT(now, tt.pairs); got != tt.want || known != (tt.want > 0) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, known, tt.want)
		}
	}
}

// Between two ends that reach each other by one pair there is no other one.
func TestNoOtherPair(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	if rtt, known := p.OtherRTT(time.Now()); known {
		t.Errorf("%v before there is a connection", rtt)
	}
	v := newViewer(t, viewerConfig{})
	v.connect(p)
	h := newHost(t, p)
	want := stream(h, 2, 1000)
	sameNALs(t, reassemble(t, collect(t, v, 2)), want)
	if rtt, known := p.OtherRTT(time.Now()); known {
		t.Errorf("%v over another pair than the only one", rtt)
	}
}
