package transport

import (
	"time"

	"github.com/pion/webrtc/v4"
)

// otherAge is how long ago something must have come over a pair of addresses for
// it to count as one that works: browsers check those that they keep in reserve
// every 25 s (backup_connection_ping_interval in libwebrtc's P2PTransportChannel).
const otherAge = time.Minute

// OtherRTT is the least round trip over a pair of addresses that works and does
// not carry the stream, as ICE measured it last; false while there is none. It
// takes a tenth of a millisecond: once a second is fine, once a packet is not.
func (p *Peer) OtherRTT(now time.Time) (time.Duration, bool) {
	p.mu.Lock()
	pc := p.pc
	p.mu.Unlock()
	if pc == nil || pc.ConnectionState() != webrtc.PeerConnectionStateConnected {
		return 0, false
	}
	used, ok := pc.SCTP().Transport().ICETransport().GetSelectedCandidatePairStats()
	if !ok {
		return 0, false
	}
	var pairs []webrtc.ICECandidatePairStats
	for _, s := range pc.GetStats() {
		if pair, ok := s.(webrtc.ICECandidatePairStats); ok && pair.ID != used.ID {
			pairs = append(pairs, pair)
		}
	}
	return leastRTT(now, pairs)
}

// leastRTT is the least round trip of the pairs that work at now.
func leastRTT(now time.Time, pairs []webrtc.ICECandidatePairStats) (least time.Duration, known bool) {
	for _, p := range pairs {
		heard := max(p.LastResponseTimestamp, p.LastRequestReceivedTimestamp).Time()
		if p.State != webrtc.StatsICECandidatePairStateSucceeded || p.CurrentRoundTripTime <= 0 || now.Sub(heard) > otherAge {
			continue
		}
		rtt := time.Duration(p.CurrentRoundTripTime * float64(time.Second))
		if !known || rtt < least {
			least, known = rtt, true
		}
	}
	return least, known
}
