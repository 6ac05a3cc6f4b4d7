package transport

import (
	"io"
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

// read parses one RTCP packet; false when it says nothing of interest.
func (r *rtcpReader) read(now time.Time, ssrc uint32, raw []byte) (Feedback, bool) {
	packets, err := rtcp.Unmarshal(raw)
	if err != nil {
		return Feedback{}, false // a broken packet is like a lost one
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	f := Feedback{At: now}
	told := false
	for _, packet := range packets {
		told = r.take(now, ssrc, packet, &f) || told
	}
	return f, told
}

// take reads one packet into f. The writer is locked.
func (r *rtcpReader) take(now time.Time, ssrc uint32, packet rtcp.Packet, f *Feedback) bool {
	switch packet := packet.(type) {
	case *rtcp.TransportLayerCC:
		f.Acks, f.Received = r.acks(packet)
		return len(f.Acks) > 0
	case *rtcp.TransportLayerNack:
		return r.nacks(packet, f)
	case *rtcp.PictureLossIndication:
		f.KeyFrame = packet.MediaSSRC == r.writer.info.SSRC
		return f.KeyFrame
	case *rtcp.FullIntraRequest:
		for _, entry := range packet.FIR {
			f.KeyFrame = f.KeyFrame || entry.SSRC == r.writer.info.SSRC
		}
		return f.KeyFrame
	case *rtcp.ReceiverReport:
		// A report that also names the RTX stream comes to both.
		return ssrc == r.writer.info.SSRC && r.report(now, packet.Reports, f)
	case *rtcp.SenderReport:
		return ssrc == r.writer.info.SSRC && r.report(now, packet.Reports, f)
	}
	return false
}

// nacks lists what is missing. A viewer without RTX can only be helped by a
// key frame.
func (r *rtcpReader) nacks(packet *rtcp.TransportLayerNack, f *Feedback) bool {
	if packet.MediaSSRC != r.writer.info.SSRC {
		return false
	}
	if r.writer.info.SSRCRetransmission == 0 {
		f.KeyFrame = len(packet.Nacks) > 0
		return f.KeyFrame
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

// acks turns transport feedback into acknowledgements of what was sent.
func (r *rtcpReader) acks(packet *rtcp.TransportLayerCC) (acks []cc.Ack, received []uint16) {
	w := r.writer
	base := unwrapSequence(packet.BaseSequenceNumber, w.sequence)
	if base == 0 {
		return nil, nil // it speaks of what was never sent
	}
	at := r.arrival.start(packet.ReferenceTime)
	deltas := packet.RecvDeltas
	i := uint64(0)
	for _, chunk := range packet.PacketChunks {
		for _, symbol := range symbols(chunk, int(packet.PacketStatusCount)-int(i)) {
			arrived := symbol == rtcp.TypeTCCPacketReceivedSmallDelta || symbol == rtcp.TypeTCCPacketReceivedLargeDelta
			if arrived {
				if len(deltas) == 0 {
					return acks, received
				}
				at += time.Duration(deltas[0].Delta) * time.Microsecond
				deltas = deltas[1:]
			}
			record, known := w.sent(base + i)
			i++
			if !known || symbol == rtcp.TypeTCCPacketReceivedWithoutDelta {
				continue
			}
			ack := cc.Ack{Sequence: record.sequence, Lost: !arrived}
			if arrived {
				ack.Arrived = at
				received = append(received, record.media)
			}
			acks = append(acks, ack)
		}
	}
	return acks, received
}

// symbols lists the states that a chunk gives, at most limit.
func symbols(chunk rtcp.PacketStatusChunk, limit int) []uint16 {
	switch chunk := chunk.(type) {
	case *rtcp.RunLengthChunk:
		list := make([]uint16, min(int(chunk.RunLength), max(limit, 0)))
		for i := range list {
			list[i] = chunk.PacketStatusSymbol
		}
		return list
	case *rtcp.StatusVectorChunk:
		return chunk.SymbolList[:min(len(chunk.SymbolList), max(limit, 0))]
	}
	return nil
}

// unwrapSequence finds the sequence number below next that ends in the 16
// bits of wire; zero, which is never sent, when there is none.
func unwrapSequence(wire uint16, next uint64) uint64 {
	newest := next - 1
	behind := uint64(uint16(newest) - wire)
	if behind > newest {
		return 0
	}
	return newest - behind
}

// arrivalClock unwraps the reference time of transport feedback, which counts
// 64 ms in 24 bits and so wraps after 12 days.
type arrivalClock struct {
	begun bool
	last  uint32
	ticks int64
}

// start returns the reference time of a feedback packet as a running time.
func (c *arrivalClock) start(wire uint32) time.Duration {
	const tick = 64 * time.Millisecond
	if !c.begun {
		c.begun, c.last = true, wire
	}
	// Sign-extend the 24-bit difference: feedback may come reordered.
	c.ticks += int64(int32((wire-c.last)<<8) >> 8)
	c.last = wire
	return time.Duration(c.ticks) * tick
}
