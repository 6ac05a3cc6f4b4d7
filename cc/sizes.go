package cc

import (
	"math"
	"time"

	"nearglass/cc/rate"
)

// sizes knows how much of what goes over the wire is payload of new pictures.
// The rest is headers and resends.
type sizes struct {
	// Bytes of new pictures: on the wire, as UDP payload, without headers.
	media, udp, payload float64
	again, all          float64 // bytes of resends, and of everything
	at                  time.Time
}

// rtpOverheadBytes is what RTP header, header extensions and the SRTP tag
// take, as server/transport writes them.
const rtpOverheadBytes = 12 + 20 + 16

const (
	// sizesMemory is how many packets the share of headers is taken over, and
	// resendMemory how long that of resends: one burst of them is over soon.
	sizesMemory  = 128
	resendMemory = 500 * time.Millisecond
	// mostResends bounds the share that is kept free for them: many of them
	// are no reason to starve the pictures.
	mostResends = 0.3
)

func (s *sizes) send(p *packet) {
	if p.Probe != 0 {
		return // a train comes rarely
	}
	wire := float64(p.wireBytes)
	if !s.at.IsZero() {
		keep := math.Exp(-min(max(p.At.Sub(s.at), 0), time.Minute).Seconds() / resendMemory.Seconds())
		s.again *= keep
		s.all *= keep
	}
	s.at = p.At
	s.all += wire
	switch {
	case p.Resend:
		s.again += wire
	case p.Frame != 0:
		const keep = 1 - 1.0/sizesMemory
		s.media = s.media*keep + wire
		s.udp = s.udp*keep + float64(p.SizeBytes)
		s.payload = s.payload*keep + float64(max(p.SizeBytes-rtpOverheadBytes, 0))
	}
}

// encoder is the encoder's part of a rate on the wire.
func (s *sizes) encoder(wire rate.Rate) rate.Rate {
	if s.media <= 0 || s.all <= 0 {
		return wire
	}
	return wire.Scale(s.payload / s.media * (1 - min(s.again/s.all, mostResends)))
}

// carried is a rate on the wire as UDP payload.
func (s *sizes) carried(wire rate.Rate) rate.Rate {
	if s.media <= 0 {
		return wire
	}
	return wire.Scale(s.udp / s.media)
}
