package transport

import (
	"testing"
	"time"

	"nearglass/cc"
	"nearglass/pacing"
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
