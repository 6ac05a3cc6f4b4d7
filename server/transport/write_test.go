package transport

import (
	"bytes"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"

	"nearglass/cc"
	"nearglass/pacing"
	"nearglass/pacing/packetize"
)

// TestSendRecordSaysWhatLeft: the controller measures whole pictures and trains,
// so it has to know which packets belong to one.
func TestSendRecordSaysWhatLeft(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, tt := range map[string]struct {
		pkt  pacing.Packet
		want cc.Sent
	}{
		"the end of a picture": {
			pacing.Packet{Class: pacing.Video, Frame: 7, Marker: true},
			cc.Sent{Frame: 7, Last: true}},
		"video in a train": {
			pacing.Packet{Class: pacing.KeyFrame, Frame: 7, Probe: 3},
			cc.Sent{Frame: 7, Probe: 3}},
		"the end of a picture, once more": {
			pacing.Packet{Class: pacing.Resend, Frame: 7, Marker: true},
			cc.Sent{Frame: 7, Resend: true}},
		"a repeated packet that fills a train": {
			pacing.Packet{Class: pacing.Resend, Frame: 7, Filler: true, Probe: 3},
			cc.Sent{Frame: 7, Resend: true, Probe: 3}},
		"padding behind a picture": {
			pacing.Packet{Class: pacing.Padding, Frame: 7, PadBytes: 255, Probe: 3},
			cc.Sent{Probe: 3}},
	} {
		var w writer
		w.init()
		tt.want.Sequence, tt.want.SizeBytes, tt.want.At = 1, 1200, now
		if got := w.record(now, &tt.pkt, 1200, 1100); got != tt.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, tt.want)
		}
	}
}

// TestDescriptorOfEachPacket: every packet with a payload says what its picture
// depends on, sent again or not, and fits where it has to.
func TestDescriptorOfEachPacket(t *testing.T) {
	var got rtp.Header
	var bytesSent int
	p := newPeer(&Endpoint{}, PeerConfig{})
	p.writer.bind(&interceptor.StreamInfo{
		SSRC: mediaSSRC, SSRCRetransmission: rtxSSRC, PayloadType: h264Type, PayloadTypeRetransmission: rtxType,
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{
			{ID: 3, URI: transportCCURI}, {ID: 4, URI: dependencyURI}, {ID: 5, URI: playoutURI}, {ID: 7, URI: captureTimeURI},
		},
	}, interceptor.RTPWriterFunc(func(h *rtp.Header, payload []byte, a interceptor.Attributes) (int, error) {
		got = h.Clone()
		n, err := discard(h, payload, a)
		bytesSent = n
		return n, err
	}))
	full, now := make([]byte, MaxPayloadBytes-2), time.Now()
	key := pacing.Packet{Class: pacing.KeyFrame, Frame: 9, First: true, Captured: now, Body: full[:100]}
	for name, tt := range map[string]struct {
		pkt  pacing.Packet
		want packetize.Descriptor
	}{
		"key frame":       {key, packetize.Descriptor{First: true, Frame: 9}},
		"its end":         {pacing.Packet{Class: pacing.KeyFrame, Frame: 9, Marker: true, Body: full}, packetize.Descriptor{Last: true, Frame: 9}},
		"next picture":    {pacing.Packet{Class: pacing.Video, Frame: 10, DependsOn: 9, First: true, Captured: now, HeadLen: 2, Body: full}, packetize.Descriptor{First: true, Frame: 10, Back: 1}},
		"repair":          {pacing.Packet{Class: pacing.Video, Frame: 30, DependsOn: 9, First: true, Captured: now, HeadLen: 2, Body: full}, packetize.Descriptor{First: true, Frame: 30, Back: 21}},
		"repair, resent":  {pacing.Packet{Class: pacing.Resend, Frame: 30, DependsOn: 9, First: true, Captured: now, HeadLen: 2, Body: full}, packetize.Descriptor{First: true, Frame: 30, Back: 21}},
		"padding":         {pacing.Packet{Class: pacing.Padding, Frame: 30, PadBytes: 4}, packetize.Descriptor{}},
		"padding, resent": {pacing.Packet{Class: pacing.Resend, Frame: 30}, packetize.Descriptor{}},
	} {
		if _, err := p.Write(now, &tt.pkt); err != nil {
			t.Fatal(err)
		}
		var want []byte
		if tt.want.Frame > 0 {
			want = tt.want.Append(nil)
		}
		if d := got.GetExtension(4); !bytes.Equal(d, want) {
			t.Errorf("%s: % x, want % x", name, d, want)
		}
		if stamped := len(got.GetExtension(7)) == 8; stamped != tt.pkt.First || bytesSent > packetBytes {
			t.Errorf("%s: %d bytes, with a capture time: %v", name, bytesSent, stamped)
		}
	}
}
