package cc

import (
	"math"
	"time"

	"nearglass/cc/rate"
)

// sizes knows how much of what goes over the wire is payload of new pictures.
// The rest is headers and resends.
type sizes struct {
	largest int     // UDP payload of the largest packet so far
	again   float64 // decaying bytes of resends
	at      time.Time
}

// rtpOverheadBytes is what RTP header, header extensions and the SRTP tag
// take, as server/transport writes them.
const rtpOverheadBytes = 12 + 20 + 16

const (
	// usualPacket is a full packet until one was seen.
	usualPacket = 1142 + rtpOverheadBytes
	// resendMemory is how long resends are remembered: one burst is over soon.
	resendMemory = 500 * time.Millisecond
	// mostResends bounds the share that is kept free for them: many of them
	// are no reason to starve the pictures.
	mostResends = 0.3
	// leastPayload is the least share of payload in a picture of one packet.
	leastPayload = 0.5
)

func (s *sizes) send(p *packet) {
	if p.Probe != 0 {
		return // a train comes rarely
	}
	s.largest = max(s.largest, p.SizeBytes)
	if !s.at.IsZero() {
		s.again *= math.Exp(-min(max(p.At.Sub(s.at), 0), time.Minute).Seconds() / resendMemory.Seconds())
	}
	s.at = p.At
	if p.Resend {
		s.again += float64(p.wireBytes)
	}
}

// full is the UDP payload of a full packet.
func (s *sizes) full() int {
	if s.largest <= rtpOverheadBytes+leastTrainBytes {
		return usualPacket
	}
	return s.largest
}

// encoder is the encoder's part of a rate on the wire, for pictures at this
// interval: what is left when each packet has its headers.
func (s *sizes) encoder(wire rate.Rate, interval time.Duration) rate.Rate {
	picture := float64(wire.Bytes(interval))
	packets := math.Ceil(picture / float64(s.full()+ipOverheadBytes))
	payload := max(picture-packets*(rtpOverheadBytes+ipOverheadBytes), leastPayload*picture)
	again := 8 * s.again / resendMemory.Seconds() / max(float64(wire), 1)
	return wire.Scale(payload / max(picture, 1) * (1 - min(again, mostResends)))
}

// carried is a rate on the wire as UDP payload.
func (s *sizes) carried(wire rate.Rate) rate.Rate {
	return wire.Scale(float64(s.full()) / float64(s.full()+ipOverheadBytes))
}
