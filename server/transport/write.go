package transport

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"nearglass/cc"
	"nearglass/pacing"
	"nearglass/pacing/packetize"
)

// sendRecords is how many sent packets are remembered to make sense of
// feedback: 1.6 s at 50 Mbit/s, and browsers report every 250 ms at least.
const sendRecords = 8192

// ntpEpoch is the offset of 1970 from NTP's 1900, in seconds (RFC 5905).
const ntpEpoch = 2208988800

// sendRecord remembers what a transport-wide sequence number carried.
type sendRecord struct {
	sequence uint64
	media    uint16
	arrived  bool // the viewer said so
}

// writer makes and writes RTP packets. Everything that depends on the moment
// of release is set here.
type writer struct {
	mu  sync.Mutex
	out interceptor.RTPWriter // nil until negotiated
	// info is what was negotiated.
	info       interceptor.StreamInfo
	transport  uint8 // header extension ids; 0: not negotiated
	playout    uint8
	dependency uint8
	captured   uint8
	extensions []rtp.Extension // in the order transport, playout, dependency, captured
	bare       int             // how many of them a packet without payload has
	short      int             // how many of them a packet without capture time has

	header       rtp.Header
	payload      [1500]byte
	transportSeq [2]byte
	playoutDelay [3]byte // min = max = 0: show at once
	descriptor   [packetize.MaxDescriptorBytes]byte
	captureTime  [8]byte

	sequence uint64 // of the next packet
	rtxSeq   uint16
	records  []sendRecord

	// origin ties the monotonic clock to the wall clock once, so that a
	// step of the latter does not reach the NTP times sent.
	origin, originWall time.Time

	packets, octets uint32 // of the media SSRC, for sender reports
	lastTimestamp   uint32
	lastCaptured    time.Time
}

func (w *writer) init() {
	w.records = make([]sendRecord, sendRecords)
	w.sequence = 1
	w.rtxSeq = uint16(rand.Uint32())
	w.origin = time.Now()
	w.originWall = w.origin.Round(0)
}

// tap is the only interceptor: it hands pion's bottom writer to ours, and has
// the socket collect what that writes.
type tap struct {
	interceptor.NoOp
	peer *Peer
}

// NewInterceptor implements interceptor.Factory.
func (t *tap) NewInterceptor(string) (interceptor.Interceptor, error) { return t, nil }

// BindLocalStream takes the writer of a negotiated stream.
func (t *tap) BindLocalStream(info *interceptor.StreamInfo, out interceptor.RTPWriter) interceptor.RTPWriter {
	t.peer.endpoint.collected.collect(&t.peer.batch, info.SSRC, info.SSRCRetransmission)
	t.peer.writer.bind(info, out)
	return out
}

// UnbindLocalStream forgets it.
func (t *tap) UnbindLocalStream(*interceptor.StreamInfo) {
	t.peer.writer.unbind()
	t.peer.endpoint.collected.release(&t.peer.batch)
}

// bind prepares the header of all packets to come.
func (w *writer) bind(info *interceptor.StreamInfo, out interceptor.RTPWriter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out, w.info = out, *info
	w.transport, w.playout, w.dependency, w.captured = 0, 0, 0, 0
	for _, e := range info.RTPHeaderExtensions {
		if e.ID < 1 || e.ID > 14 {
			continue // has no place in a one-byte header (RFC 8285, 4.2)
		}
		switch e.URI {
		case transportCCURI:
			w.transport = uint8(e.ID)
		case playoutURI:
			w.playout = uint8(e.ID)
		case dependencyURI:
			w.dependency = uint8(e.ID)
		case captureTimeURI:
			w.captured = uint8(e.ID)
		}
	}
	w.layOut()
}

// unbind ends writing.
func (w *writer) unbind() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = nil
}

// layOut builds the list of header extensions once; their contents are
// rewritten in place for each packet, which saves the allocations.
func (w *writer) layOut() {
	var h rtp.Header
	add := func(id uint8, value []byte) {
		if id != 0 {
			_ = h.SetExtension(id, value) // cannot fail: id and size fit
		}
	}
	add(w.transport, w.transportSeq[:])
	add(w.playout, w.playoutDelay[:])
	w.bare = len(h.Extensions)
	add(w.dependency, w.descriptor[:])
	w.short = len(h.Extensions)
	add(w.captured, w.captureTime[:])
	w.extensions = h.Extensions
}

// Write sends a packet that the pacer released at now and returns its send
// record. It leaves with the next Flush, which is due when all packets of this
// turn are written; before that when 64 wait, and with the next Write when the
// Flush is a millisecond late. Until the first Flush it leaves at once. A packet
// that could not be written has no record and uses up no transport-wide sequence
// number. One goroutine calls it.
func (p *Peer) Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error) {
	w := &p.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out == nil {
		return cc.Sent{}, fmt.Errorf("write packet: %w", ErrNotConnected)
	}
	w.setHeader(pkt)
	payload, err := w.setPayload(pkt)
	if err != nil {
		return cc.Sent{}, err
	}
	p.batch.begin(now)
	n, err := w.out.Write(&w.header, payload, nil)
	if err != nil {
		return cc.Sent{}, fmt.Errorf("write packet: %w", err)
	}
	if n == 0 { // pion's way of saying that SRTP is not up yet
		return cc.Sent{}, fmt.Errorf("write packet: %w", ErrNotConnected)
	}
	return w.record(now, pkt, n, len(payload)), nil
}

// Flush sends what Write has collected, in one system call where the system has
// one for it. The session calls it after each turn of writing. An error says how
// many packets did not leave since the last Flush: their send records stand, and
// they are lost like packets that the network loses. It never waits for the
// device. Safe for concurrent use.
func (p *Peer) Flush() error { return p.batch.flush() }

// setHeader fills the header for pkt.
func (w *writer) setHeader(pkt *pacing.Packet) {
	h := &w.header
	h.Version = 2
	h.Marker = pkt.Marker
	h.Timestamp = pkt.Timestamp
	h.Padding, h.PaddingSize = pkt.PadBytes > 0, pkt.PadBytes
	if pkt.Class == pacing.Resend {
		h.SSRC, h.PayloadType = w.info.SSRCRetransmission, w.info.PayloadTypeRetransmission
		h.SequenceNumber = w.rtxSeq
	} else {
		h.SSRC, h.PayloadType = w.info.SSRC, w.info.PayloadType
		h.SequenceNumber = pkt.Seq
	}
	// Before the descriptor: in a header without extensions it would be taken for
	// a new one, and written over the next in the list.
	h.Extension, h.ExtensionProfile = len(w.extensions) > 0, rtp.ExtensionProfileOneByte
	h.Extensions = w.extensions[:w.bare]
	binary.BigEndian.PutUint16(w.transportSeq[:], uint16(w.sequence))
	if int(pkt.HeadLen)+len(pkt.Body) > 0 {
		h.Extensions = w.extensions[:w.short]
		w.setDescriptor(pkt)
	}
	if pkt.First && !pkt.Captured.IsZero() {
		h.Extensions = w.extensions
		binary.BigEndian.PutUint64(w.captureTime[:], w.ntp(pkt.Captured))
	}
	h.Extension = len(h.Extensions) > 0
}

// setDescriptor says what the packet's picture depends on.
func (w *writer) setDescriptor(pkt *pacing.Packet) {
	if w.dependency == 0 {
		return
	}
	d := packetize.Descriptor{First: pkt.First, Last: pkt.Marker, Frame: pkt.Frame}
	if pkt.DependsOn > 0 {
		d.Back = pkt.Frame - pkt.DependsOn
	}
	_ = w.header.SetExtension(w.dependency, d.Append(w.descriptor[:0])) // cannot fail: it replaces one
}

// setPayload puts the payload together. A resend begins with the original
// sequence number (RFC 4588, 4). Without a negotiated RTX stream there are no
// resends: the same packet under the same number would reuse an SRTP nonce
// with other extensions.
func (w *writer) setPayload(pkt *pacing.Packet) ([]byte, error) {
	b := w.payload[:0]
	if pkt.Class == pacing.Resend {
		if w.info.SSRCRetransmission == 0 {
			return nil, fmt.Errorf("write packet: the viewer takes no RTX")
		}
		b = binary.BigEndian.AppendUint16(b, pkt.Seq)
	}
	if len(b)+int(pkt.HeadLen)+len(pkt.Body) > len(w.payload) {
		return nil, fmt.Errorf("write packet: payload of %d bytes is larger than any path takes", len(pkt.Body))
	}
	b = append(b, pkt.Head[:pkt.HeadLen]...)
	return append(b, pkt.Body...), nil
}

// record notes a packet that left with n bytes.
func (w *writer) record(now time.Time, pkt *pacing.Packet, n, payloadBytes int) cc.Sent {
	sequence := w.sequence
	w.records[sequence%sendRecords] = sendRecord{sequence: sequence, media: pkt.Seq}
	w.sequence++
	if pkt.Class == pacing.Resend {
		w.rtxSeq++
	} else {
		w.packets++
		w.octets += uint32(payloadBytes)
	}
	if pkt.Class == pacing.Video || pkt.Class == pacing.KeyFrame {
		w.lastTimestamp, w.lastCaptured = pkt.Timestamp, pkt.Captured
	}
	rec := cc.Sent{Sequence: sequence, SizeBytes: n, At: now, Probe: pkt.Probe}
	switch pkt.Class {
	case pacing.Padding:
	case pacing.Resend:
		rec.Frame, rec.Resend = pkt.Frame, true
	default:
		rec.Frame, rec.Last = pkt.Frame, pkt.Marker
	}
	return rec
}

// sent finds the record of a transport-wide sequence number; nil for one that
// was never sent or is forgotten.
func (w *writer) sent(sequence uint64) *sendRecord {
	r := &w.records[sequence%sendRecords]
	if r.sequence != sequence || sequence == 0 {
		return nil
	}
	return r
}

// ntp is t as NTP's 32.32 fixed point (RFC 5905, 6).
func (w *writer) ntp(t time.Time) uint64 {
	wall := w.originWall.Add(t.Sub(w.origin))
	fraction := uint64(wall.Nanosecond()) << 32 / uint64(time.Second)
	return uint64(wall.Unix()+ntpEpoch)<<32 | fraction
}

// SenderReport sends an RTCP sender report, which the viewer's round trip
// report and its lip sync build on. The session calls it once a second while
// it sends. Before the first picture it does nothing.
func (p *Peer) SenderReport(now time.Time) error {
	report, ok := p.writer.report(now)
	p.mu.Lock()
	pc := p.pc
	p.mu.Unlock()
	if !ok || pc == nil {
		return nil
	}
	names := &rtcp.SourceDescription{Chunks: []rtcp.SourceDescriptionChunk{{
		Source: report.SSRC,
		Items:  []rtcp.SourceDescriptionItem{{Type: rtcp.SDESCNAME, Text: "nearglass"}},
	}}}
	if err := pc.WriteRTCP([]rtcp.Packet{report, names}); err != nil {
		return fmt.Errorf("write sender report: %w", err)
	}
	return nil
}

func (w *writer) report(now time.Time) (*rtcp.SenderReport, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out == nil || w.lastCaptured.IsZero() {
		return nil, false
	}
	const clockRate = 90000
	elapsed := now.Sub(w.lastCaptured)
	return &rtcp.SenderReport{
		SSRC: w.info.SSRC, NTPTime: w.ntp(now),
		RTPTime:     w.lastTimestamp + uint32(elapsed.Microseconds()*clockRate/1e6),
		PacketCount: w.packets, OctetCount: w.octets,
	}, true
}
