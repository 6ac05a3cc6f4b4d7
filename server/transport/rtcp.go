package transport

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/transport/v5/packetio"
	"github.com/pion/webrtc/v4"

	"nearglass/cc"
)

// rtcpBuffer stands in for pion's queue of the RTCP addressed to one SSRC:
// what is written to it is read at once. pion reads only the media SSRC, but
// libwebrtc addresses transport feedback to the SSRC of the newest packet,
// which may be the RTX one.
type rtcpBuffer struct {
	peer *Peer
	ssrc uint32
	kind packetio.BufferPacketType
	once sync.Once
	done chan struct{}
}

// rtcpBuffer implements pion's buffer factory. RTP is not expected and is
// thrown away.
func (p *Peer) rtcpBuffer(kind packetio.BufferPacketType, ssrc uint32) io.ReadWriteCloser {
	return &rtcpBuffer{peer: p, ssrc: ssrc, kind: kind, done: make(chan struct{})}
}

func (b *rtcpBuffer) Write(raw []byte) (int, error) {
	if b.kind == packetio.RTCPBufferPacket {
		b.peer.onRTCP(b.ssrc, raw)
	}
	return len(raw), nil
}

func (b *rtcpBuffer) Read([]byte) (int, error) {
	<-b.done
	return 0, io.EOF
}

func (b *rtcpBuffer) Close() error {
	b.once.Do(func() { close(b.done) })
	return nil
}

// drain reads the sender until it stops; without a reader pion does not open
// the RTCP stream.
func (p *Peer) drain(sender *webrtc.RTPSender) {
	b := make([]byte, 1500)
	for {
		if _, _, err := sender.Read(b); err != nil {
			return
		}
	}
}

// onRTCP takes one RTCP packet that was addressed to ssrc. It runs on the
// connection's RTCP reader, which must not be held up.
func (p *Peer) onRTCP(ssrc uint32, raw []byte) {
	f, ok := p.rtcp.read(time.Now(), ssrc, raw)
	if !ok {
		return
	}
	select {
	case p.feedback <- f:
	case <-p.done:
	default: // the session stands still; old feedback will not help it
	}
}

// rtcpReader turns RTCP into Feedback. Its calls come one after another.
type rtcpReader struct {
	mu      sync.Mutex
	writer  *writer
	arrival arrivalClock
}

// read parses one RTCP packet, perhaps a compound one; false when it says
// nothing of interest. A part that is broken is like a lost one.
func (r *rtcpReader) read(now time.Time, ssrc uint32, raw []byte) (Feedback, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	f := Feedback{At: now}
	told := false
	for len(raw) >= 4 {
		size := 4 + 4*int(binary.BigEndian.Uint16(raw[2:]))
		if size > len(raw) {
			break
		}
		told = r.part(now, ssrc, raw[:size], &f) || told
		raw = raw[size:]
	}
	bySequence := func(a, b cc.Ack) int { return cmp.Compare(a.Sequence, b.Sequence) }
	if !slices.IsSortedFunc(f.Acks, bySequence) {
		slices.SortStableFunc(f.Acks, bySequence) // several reports in one packet may overlap
	}
	return f, told
}

// part reads one packet of a compound into f.
func (r *rtcpReader) part(now time.Time, ssrc uint32, raw []byte, f *Feedback) bool {
	if isTransportFeedback(raw) {
		before := len(f.Acks)
		if report, ok := readTransportFeedback(raw); ok {
			r.acks(report, f)
		}
		return len(f.Acks) > before
	}
	packets, err := rtcp.Unmarshal(raw)
	if err != nil {
		return false
	}
	told := false
	for _, packet := range packets {
		told = r.take(now, ssrc, packet, f) || told
	}
	return told
}

// take reads one packet into f. The writer is locked.
func (r *rtcpReader) take(now time.Time, ssrc uint32, packet rtcp.Packet, f *Feedback) bool {
	switch packet := packet.(type) {
	case *rtcp.TransportLayerNack:
		return r.nacks(packet, f)
	case *rtcp.PictureLossIndication:
		return asksForKey(f, packet.MediaSSRC == r.writer.info.SSRC)
	case *rtcp.FullIntraRequest:
		asked := false
		for _, entry := range packet.FIR {
			asked = asked || entry.SSRC == r.writer.info.SSRC
		}
		return asksForKey(f, asked)
	case *rtcp.ReceiverReport:
		// A report that also names the RTX stream comes to both.
		return ssrc == r.writer.info.SSRC && r.report(now, packet.Reports, f)
	case *rtcp.SenderReport:
		return ssrc == r.writer.info.SSRC && r.report(now, packet.Reports, f)
	}
	return false
}

// asksForKey notes a request for a key frame; one of them in a packet is enough.
func asksForKey(f *Feedback, asked bool) bool {
	f.KeyFrame = f.KeyFrame || asked
	return asked
}

// nacks lists what is missing. A viewer without RTX, and without dependency
// descriptors, can only be helped by a key frame.
func (r *rtcpReader) nacks(packet *rtcp.TransportLayerNack, f *Feedback) bool {
	if packet.MediaSSRC != r.writer.info.SSRC {
		return false
	}
	if r.writer.info.SSRCRetransmission == 0 && r.writer.dependency == 0 {
		return asksForKey(f, len(packet.Nacks) > 0)
	}
	for _, pair := range packet.Nacks {
		f.Nacks = append(f.Nacks, pair.PacketList()...)
	}
	return len(f.Nacks) > 0
}

// maxRTT is beyond what any path that can carry a desktop has; a larger value
// comes of a broken or forged report.
const maxRTT = 10 * time.Second

// report reads loss and round trip of the video (RFC 3550, 6.4.1).
func (r *rtcpReader) report(now time.Time, reports []rtcp.ReceptionReport, f *Feedback) bool {
	for _, report := range reports {
		if report.SSRC != r.writer.info.SSRC {
			continue
		}
		f.Reported = true
		f.LossFraction = float64(report.FractionLost) / 256
		if report.LastSenderReport != 0 {
			middle := uint32(r.writer.ntp(now) >> 16)
			f.RTT = roundTrip(int32(middle - report.LastSenderReport - report.Delay))
		}
	}
	return f.Reported
}

// roundTrip converts NTP's 16.16 fixed point. On a local path the two roundings
// of a report can make it zero or a little less, which then means the least;
// what cannot be right is zero, for unknown.
func roundTrip(units int32) time.Duration {
	const second = 1 << 16
	rtt := time.Duration(units) * time.Second / second
	switch {
	case rtt < -time.Millisecond || rtt > maxRTT:
		return 0
	case units < 1:
		return time.Second / second
	}
	return rtt
}
