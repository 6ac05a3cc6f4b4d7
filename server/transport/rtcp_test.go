package transport

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"nearglass/cc"
	"nearglass/pacing"
)

const (
	mediaSSRC = 0x11
	rtxSSRC   = 0x22
)

// boundPeer is a peer whose packets go to out, as if negotiated.
func boundPeer(t testing.TB, out interceptor.RTPWriter) *Peer {
	t.Helper()
	p := newPeer(&Endpoint{}, PeerConfig{})
	p.writer.bind(&interceptor.StreamInfo{
		SSRC: mediaSSRC, SSRCRetransmission: rtxSSRC, PayloadType: h264Type, PayloadTypeRetransmission: rtxType,
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{
			{ID: 3, URI: transportCCURI}, {ID: 5, URI: playoutURI}, {ID: 7, URI: captureTimeURI}, {ID: 15, URI: "urn:other"},
		},
	}, out)
	return p
}

// discard takes packets as pion's bottom writer does.
var discard = interceptor.RTPWriterFunc(func(h *rtp.Header, payload []byte, _ interceptor.Attributes) (int, error) {
	return h.MarshalSize() + len(payload) + int(h.PaddingSize) + 16, nil
})

// send writes count packets with media numbers from first on.
func send(t testing.TB, p *Peer, count int, first uint16) {
	t.Helper()
	for i := range count {
		pkt := pacing.Packet{Class: pacing.Video, Seq: first + uint16(i), Body: []byte{0x41}}
		if _, err := p.Write(time.Now(), &pkt); err != nil {
			t.Fatal(err)
		}
	}
}

func marshal(t testing.TB, p rtcp.Packet) []byte {
	t.Helper()
	b, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// feedbackFor builds transport feedback; a negative delta is a lost packet.
func feedbackFor(base uint16, reference uint32, deltas []int64) *rtcp.TransportLayerCC {
	f := &rtcp.TransportLayerCC{
		MediaSSRC: rtxSSRC, BaseSequenceNumber: base, PacketStatusCount: uint16(len(deltas)), ReferenceTime: reference,
	}
	for _, d := range deltas {
		symbol := rtcp.TypeTCCPacketReceivedSmallDelta
		if d < 0 {
			symbol = rtcp.TypeTCCPacketNotReceived
		} else {
			f.RecvDeltas = append(f.RecvDeltas, &rtcp.RecvDelta{Type: symbol, Delta: d})
		}
		f.PacketChunks = append(f.PacketChunks, &rtcp.RunLengthChunk{PacketStatusSymbol: symbol, RunLength: 1})
	}
	size := 20 + 2*len(deltas) + len(f.RecvDeltas)
	f.Header = rtcp.Header{
		Type: rtcp.TypeTransportSpecificFeedback, Count: rtcp.FormatTCC, Padding: size%4 != 0, Length: uint16((size+3)/4 - 1),
	}
	return f
}

func TestTransportFeedback(t *testing.T) {
	p := boundPeer(t, discard)
	send(t, p, 70_000, 0)
	const base = 69_990
	wire := uint64(base)
	f, ok := p.rtcp.read(time.Now(), rtxSSRC, marshal(t, feedbackFor(uint16(wire), 100, []int64{0, 250, -1, 1000})))
	at := f.Acks[0].Arrived
	want := []cc.Ack{
		{Sequence: base, Arrived: at}, {Sequence: base + 1, Arrived: at + 250*time.Microsecond},
		{Sequence: base + 2, Lost: true}, {Sequence: base + 3, Arrived: at + 1250*time.Microsecond},
	}
	if !ok || !slices.Equal(f.Acks, want) {
		t.Errorf("acks %+v, want %+v", f.Acks, want)
	}
	seq := wire - 1 // media numbers start at 0, transport numbers at 1
	if media := []uint16{uint16(seq), uint16(seq + 1), uint16(seq + 3)}; !slices.Equal(f.Received, media) {
		t.Errorf("received %v, want %v", f.Received, media)
	}
	// The reference time wraps after 12 days; time runs on.
	p.rtcp.arrival = arrivalClock{}
	late := p.rtcp.arrival.start(0xffffff)
	if d := p.rtcp.arrival.start(1) - late; d != 128*time.Millisecond {
		t.Errorf("over the wrap: %v", d)
	}
	if d := p.rtcp.arrival.start(0xffffff) - late; d != 0 {
		t.Errorf("reordered feedback: %v", d)
	}
	// Numbers never sent, or long forgotten, are not acknowledged.
	for _, base := range []uint16{uint16(uint64(70_100) & 0xffff), uint16(uint64(50_000))} {
		if f, ok := p.rtcp.read(time.Now(), mediaSSRC, marshal(t, feedbackFor(base, 5, []int64{0, 0}))); ok {
			t.Errorf("base %d: %+v", base, f)
		}
	}
}

func TestOtherReports(t *testing.T) {
	p := boundPeer(t, discard)
	nack := &rtcp.TransportLayerNack{MediaSSRC: mediaSSRC, Nacks: []rtcp.NackPair{{PacketID: 65_535, LostPackets: 0b101}}}
	f, ok := p.rtcp.read(time.Now(), mediaSSRC, marshal(t, nack))
	if want := []uint16{65_535, 0, 2}; !ok || !slices.Equal(f.Nacks, want) {
		t.Errorf("%v, want %v", f.Nacks, want)
	}
	nack.MediaSSRC = 99
	if _, ok := p.rtcp.read(time.Now(), mediaSSRC, marshal(t, nack)); ok {
		t.Error("another stream's NACK was taken")
	}
	now := time.Now()
	stamp := uint32(p.writer.ntp(now.Add(-150*time.Millisecond)) >> 16)
	report := &rtcp.ReceiverReport{Reports: []rtcp.ReceptionReport{
		{SSRC: rtxSSRC, FractionLost: 255},
		{SSRC: mediaSSRC, FractionLost: 64, LastSenderReport: stamp, Delay: 65536 / 10},
	}}
	f, ok = p.rtcp.read(now, mediaSSRC, marshal(t, report))
	if !ok || !f.Reported || f.LossFraction != 0.25 || (f.RTT-50*time.Millisecond).Abs() > time.Millisecond {
		t.Errorf("%+v", f)
	}
	if _, ok := p.rtcp.read(now, rtxSSRC, marshal(t, report)); ok {
		t.Error("one report counted twice")
	}
}

func TestRoundTrip(t *testing.T) {
	for units, want := range map[int32]time.Duration{
		65536: time.Second, 0: time.Second / 65536, -3: time.Second / 65536, -65536: 0, 11 * 65536: 0, 1 << 30: 0,
	} {
		if got := roundTrip(units); got != want {
			t.Errorf("roundTrip(%d) = %v, want %v", units, got, want)
		}
	}
}

// FuzzRTCP feeds any bytes as feedback of a viewer.
func FuzzRTCP(f *testing.F) {
	f.Add(marshal(f, feedbackFor(10, 1, []int64{0, 250, -1})))
	f.Add(marshal(f, &rtcp.PictureLossIndication{MediaSSRC: mediaSSRC}))
	f.Add(marshal(f, &rtcp.TransportLayerNack{MediaSSRC: mediaSSRC, Nacks: []rtcp.NackPair{{PacketID: 1, LostPackets: 0xffff}}}))
	f.Add(marshal(f, &rtcp.ReceiverReport{Reports: []rtcp.ReceptionReport{{SSRC: mediaSSRC, LastSenderReport: 1}}}))
	f.Add(absurd(0x3fff, 9, 0))
	f.Add(slices.Concat(absurd(0x1fff, 9, 0), marshal(f, feedbackFor(65_000, 0xffffff, []int64{0, 250, -1}))))
	p := boundPeer(f, discard)
	send(f, p, 300, 7)
	f.Fuzz(func(t *testing.T, raw []byte) {
		fb, ok := p.rtcp.read(time.Now(), mediaSSRC, raw)
		if !ok {
			return
		}
		if fb.RTT < 0 || fb.RTT > maxRTT || fb.LossFraction < 0 || fb.LossFraction > 1 || len(fb.Received) > len(fb.Acks) {
			t.Errorf("%+v", fb)
		}
		// Each report of 20 bytes speaks of each packet once at most.
		if len(fb.Acks) > 300*(len(raw)/feedbackHeaderBytes) || len(fb.Nacks) > 17*len(raw)/4 {
			t.Errorf("%d acks and %d nacks of %d bytes", len(fb.Acks), len(fb.Nacks), len(raw))
		}
		before := uint64(0)
		for _, a := range fb.Acks {
			if a.Sequence == 0 || a.Sequence > 300 || a.Sequence < before {
				t.Errorf("ack of %d, never sent or after %d", a.Sequence, before)
			}
			before = a.Sequence
		}
	})
}

func TestWrittenPackets(t *testing.T) {
	var got rtp.Packet
	p := boundPeer(t, interceptor.RTPWriterFunc(func(h *rtp.Header, payload []byte, _ interceptor.Attributes) (int, error) {
		b := make([]byte, 2000)
		n, err := (&rtp.Packet{Header: *h, Payload: payload, PaddingSize: h.PaddingSize}).MarshalTo(b)
		if err != nil {
			return 0, err
		}
		got = rtp.Packet{}
		return n, got.Unmarshal(b[:n])
	}))
	write := func(pkt pacing.Packet) cc.Sent {
		t.Helper()
		s, err := p.Write(time.Now(), &pkt)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	body := make([]byte, MaxPayloadBytes-2)
	s := write(pacing.Packet{Class: pacing.KeyFrame, Frame: 9, First: true, Marker: true, Seq: 77, Timestamp: 5,
		Captured: time.Now(), Head: [4]byte{0x7c, 0x85}, HeadLen: 2, Body: body})
	if s.Sequence != 1 || s.SizeBytes > 1200-16 || s.Frame != 9 || !s.Last || s.Resend {
		t.Errorf("sent %+v", s)
	}
	if got.SSRC != mediaSSRC || got.PayloadType != h264Type || got.SequenceNumber != 77 || !got.Marker ||
		len(got.Payload) != MaxPayloadBytes || got.Payload[0] != 0x7c || len(got.GetExtension(7)) != 8 {
		t.Errorf("media packet %v", got.Header)
	}
	s = write(pacing.Packet{Class: pacing.Resend, Seq: 77, First: true, Captured: time.Now(), HeadLen: 2, Body: body})
	if s.Sequence != 2 || !s.Resend || s.SizeBytes > 1200-16 {
		t.Errorf("sent %+v", s)
	}
	if got.SSRC != rtxSSRC || got.PayloadType != rtxType || got.Payload[0] != 0 || got.Payload[1] != 77 {
		t.Errorf("resend %v", got.Header)
	}
	first := got.SequenceNumber
	write(pacing.Packet{Class: pacing.Padding, Seq: 78, PadBytes: 200})
	if got.SSRC != mediaSSRC || got.SequenceNumber != 78 || got.PaddingSize != 200 || len(got.Payload) != 0 || got.GetExtension(7) != nil {
		t.Errorf("padding %v, %d bytes of payload", got.Header, len(got.Payload))
	}
	write(pacing.Packet{Class: pacing.Resend, Seq: 78})
	if got.SequenceNumber != first+1 || len(got.Payload) != 2 {
		t.Errorf("resent padding %v", got.Header)
	}
	if _, err := p.Write(time.Now(), &pacing.Packet{Class: pacing.Video, Body: make([]byte, 3000)}); err == nil {
		t.Error("a packet of 3000 bytes was written")
	}
	if r, ok := p.writer.report(time.Now()); !ok || r.PacketCount != 2 || r.SSRC != mediaSSRC {
		t.Errorf("report %+v", r)
	}
}

func TestNTPTime(t *testing.T) {
	var w writer
	w.init()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		at := w.origin.Add(time.Duration(rng.Int64N(int64(time.Hour))))
		ntp := w.ntp(at)
		wall := time.Unix(int64(ntp>>32)-ntpEpoch, int64((ntp&0xffffffff)*1e9>>32))
		if d := wall.Sub(at.Round(0)); d.Abs() > time.Microsecond {
			t.Fatalf("off by %v", d)
		}
	}
}

func BenchmarkWriteWithoutNetwork(b *testing.B) {
	p := boundPeer(b, discard)
	pkt := pacing.Packet{Class: pacing.Video, First: true, Captured: time.Now(), HeadLen: 2, Body: make([]byte, 1100)}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		pkt.Seq++
		if _, err := p.Write(now, &pkt); err != nil {
			b.Fatal(err)
		}
	}
}
