// Package packetize cuts access units into RTP payloads.
//
// H264 follows RFC 6184, packetization mode 1: a NAL that fits travels alone,
// small neighbors travel together in a STAP-A, and a large NAL is cut into
// FU-A fragments. The NAL data is not copied: a Payload holds the few header
// bytes itself and points into the access unit for the rest. The one
// exception is a STAP-A, which copies its small NALs together.
//
// The functions are pure and safe for concurrent use.
package packetize

// Payload is one RTP payload: Head[:HeadLen] followed by Body.
type Payload struct {
	Head    [4]byte
	HeadLen uint8
	// Body aliases the access unit and must not be changed while the
	// payload, or a packet in a retransmission cache, is in use.
	Body []byte
}

// SizeBytes is the length of the payload on the wire.
func (p *Payload) SizeBytes() int { return int(p.HeadLen) + len(p.Body) }

// MinPayloadBytes is the least payload limit that H264 honors; a smaller
// limit is raised to it. No path that carries IP is that narrow.
const MinPayloadBytes = 64

const (
	typeMask  = 0x1f
	nriMask   = 0x60
	fBit      = 0x80
	typeSTAPA = 24 // RFC 6184, 5.7.1
	typeFUA   = 28 // RFC 6184, 5.8
	fuStart   = 0x80
	fuEnd     = 0x40
	// smallNALBytes bounds what a STAP-A may copy: parameter sets and SEI
	// are below it, and larger NALs gain too little from sharing a packet.
	smallNALBytes = 200
)

// H264 appends to dst the payloads of one access unit and returns it. nals
// are NAL units without start codes, in decoding order; empty ones are
// skipped. No payload exceeds maxPayloadBytes. Fragments of one NAL differ in
// size by at most one byte, so that no packet is a needlessly small tail. The
// marker bit belongs on the last payload.
func H264(dst []Payload, nals [][]byte, maxPayloadBytes int) []Payload {
	limit := max(maxPayloadBytes, MinPayloadBytes)
	for i := 0; i < len(nals); {
		run := smallRun(nals[i:], limit)
		switch {
		case run > 1:
			dst = append(dst, aggregate(nals[i:i+run]))
			i += run
			continue
		case len(nals[i]) == 0:
		case len(nals[i]) <= limit:
			dst = append(dst, Payload{Body: nals[i]})
		default:
			dst = fragment(dst, nals[i], limit)
		}
		i++
	}
	return dst
}

// smallRun counts the NALs at the front that one STAP-A of at most limit
// bytes can carry.
func smallRun(nals [][]byte, limit int) int {
	sizeBytes := 1
	for n, nal := range nals {
		sizeBytes += 2 + len(nal)
		if len(nal) == 0 || len(nal) > smallNALBytes || sizeBytes > limit {
			return n
		}
	}
	return len(nals)
}

// aggregate joins NALs into a STAP-A. Its NRI is the highest of its NALs'
// and its F bit is set if any of theirs is (RFC 6184, 5.7).
func aggregate(nals [][]byte) Payload {
	sizeBytes := 0
	head := byte(typeSTAPA)
	for _, nal := range nals {
		sizeBytes += 2 + len(nal)
		head |= nal[0] & fBit
		head = head&^nriMask | max(head&nriMask, nal[0]&nriMask)
	}
	body := make([]byte, 0, sizeBytes)
	for _, nal := range nals {
		body = append(body, byte(len(nal)>>8), byte(len(nal)))
		body = append(body, nal...)
	}
	return Payload{Head: [4]byte{head}, HeadLen: 1, Body: body}
}

// fragment cuts one NAL into FU-A payloads of nearly equal size. The NAL's
// first byte travels in the fragment headers instead of the body.
func fragment(dst []Payload, nal []byte, limit int) []Payload {
	indicator := nal[0]&(fBit|nriMask) | typeFUA
	kind := nal[0] & typeMask
	body := nal[1:]
	count := (len(body) + limit - 3) / (limit - 2)
	for i := range count {
		from, to := i*len(body)/count, (i+1)*len(body)/count
		header := kind
		if i == 0 {
			header |= fuStart
		}
		if i == count-1 {
			header |= fuEnd
		}
		dst = append(dst, Payload{Head: [4]byte{indicator, header}, HeadLen: 2, Body: body[from:to]})
	}
	return dst
}
