package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"nearglass/pacing"
	"nearglass/pacing/packetize"
)

// stream sends count pictures and returns their NALs.
func stream(h *host, count, sizeBytes int) [][]byte {
	rng := rand.New(rand.NewPCG(7, uint64(count)))
	var want [][]byte
	for range count {
		nals := picture(rng, sizeBytes)
		want = append(want, nals...)
		h.frames <- nals
	}
	return want
}

// collect reads packets until count pictures have ended and no number is
// missing between the first and the last. What an earlier call has seen does not
// count again: the tail guard resends the end of a stream.
func collect(t *testing.T, v *viewer, count int) []*rtp.Packet {
	t.Helper()
	var packets []*rtp.Packet
	markers := 0
	var first, last uint16
	for {
		p := receive(t, v.packets, "packet")
		if v.seen[p.SequenceNumber] {
			continue
		}
		if len(packets) == 0 {
			first, last = p.SequenceNumber, p.SequenceNumber
		}
		if int16(p.SequenceNumber-last) > 0 {
			last = p.SequenceNumber
		}
		if int16(p.SequenceNumber-first) < 0 {
			first = p.SequenceNumber
		}
		v.seen[p.SequenceNumber] = true
		packets = append(packets, p)
		if p.Marker {
			markers++
		}
		if markers >= count && len(packets) == int(last-first)+1 {
			return packets
		}
	}
}

func TestStreamArrivesWhole(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{})
	v.connect(p)
	h := newHost(t, p)
	want := stream(h, 20, 20_000)
	sameNALs(t, reassemble(t, collect(t, v, 20)), want)

	if p.Profile() != ConstrainedBaseline {
		t.Errorf("profile %v", p.Profile())
	}
	route, ok := p.Route()
	loopback := netip.MustParseAddr("127.0.0.1")
	if !ok || route.Local.Addr() != loopback || route.Remote.Addr() != loopback || route.LocalType != "host" {
		t.Errorf("route %+v, %v", route, ok)
	}
	h.until("everything acknowledged", func() bool {
		_, all := h.arrivals()
		return all && len(h.sent) > 300
	})
	h.until("a round trip", func() bool { return h.rtt > 0 && h.rtt < time.Second })
	for i, s := range h.sent {
		if s.Sequence != uint64(i+1) || s.SizeBytes > 1200 || s.SizeBytes < 30 {
			t.Fatalf("sent record %d: %+v", i, s)
		}
	}
	inOrder(t, h)
}

// arrivals gives the arrival time of each packet sent, false while one of them
// is not known to have arrived. It is called with the host locked.
func (h *host) arrivals() ([]time.Duration, bool) {
	at := make([]time.Duration, len(h.sent))
	known := 0
	for _, a := range h.acks {
		if !a.Lost && a.Sequence <= uint64(len(at)) && at[a.Sequence-1] == 0 {
			at[a.Sequence-1] = a.Arrived + 1 // from zero on, where the clock begins
			known++
		}
	}
	return at, known == len(at)
}

// inOrder wants arrival times in the order of sending within the video and
// within its resends. Between the two the viewer keeps no order: pion reads each
// SSRC on a goroutine of its own and takes the time there, so that the tail
// guard's padding and the resend that follows it at once may be stamped either
// way, or one of them be reported missing first and as arrived later.
func inOrder(t *testing.T, h *host) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	at, _ := h.arrivals()
	last := map[bool]time.Duration{}
	for i, s := range h.sent {
		if at[i] == 0 {
			break // sent since, by the tail guard
		}
		if at[i] < last[s.Resend] {
			t.Fatalf("packet %+v arrived at %v, one before it at %v", s, at[i], last[s.Resend])
		}
		last[s.Resend] = at[i]
	}
}

func TestHeaderExtensions(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{})
	v.connect(p)
	ids := extensionIDs(v)
	h := newHost(t, p)
	before := time.Now()
	stream(h, 3, 5000)
	collect(t, v, 3)
	headers := v.wire.seen()
	firsts := 0
	for i, hd := range headers {
		if sequence := binary.BigEndian.Uint16(hd.GetExtension(ids[transportCCURI])); sequence != uint16(i+1) {
			t.Errorf("packet %d: transport-wide sequence %d", i, sequence)
		}
		if delay := hd.GetExtension(ids[playoutURI]); len(delay) != 3 || delay[0]|delay[1]|delay[2] != 0 {
			t.Errorf("packet %d: playout delay % x", i, delay)
		}
		if stamp := hd.GetExtension(ids[captureTimeURI]); stamp != nil {
			firsts++
			ntp := binary.BigEndian.Uint64(stamp)
			seconds := float64(ntp)/(1<<32) - ntpEpoch
			if off := seconds - float64(before.UnixNano())/1e9; math.Abs(off) > 5 {
				t.Errorf("capture time is off by %v s", off)
			}
		}
	}
	if firsts != 3 {
		t.Errorf("capture time on %d packets, want the first of each of 3 pictures", firsts)
	}
}

// TestDependencyOverTheWire: it is there for a viewer that offers it, and not for
// another.
func TestDependencyOverTheWire(t *testing.T) {
	for _, offered := range []bool{true, false} {
		p := newTestPeer(t, PeerConfig{})
		v := newViewer(t, viewerConfig{dependency: offered})
		v.connect(p)
		h := newHost(t, p)
		stream(h, 3, 5000)
		collect(t, v, 3)
		if p.Dependency() != offered {
			t.Errorf("offered: %v, and the peer says %v", offered, p.Dependency())
		}
		id := extensionIDs(v)[dependencyURI]
		for i, hd := range v.wire.seen() {
			if hd.Padding || hd.PayloadType == rtxType {
				continue // the tail guard's, which may carry no picture
			}
			if d := hd.GetExtension(id); offered != (len(d) >= packetize.UsualDescriptorBytes) {
				t.Errorf("offered: %v, packet %d has % x", offered, i, d)
			}
		}
	}
}

func extensionIDs(v *viewer) map[string]uint8 {
	ids := map[string]uint8{}
	for _, r := range v.pc.GetReceivers() {
		for _, e := range r.GetParameters().HeaderExtensions {
			ids[e.URI] = uint8(e.ID)
		}
	}
	return ids
}

// loseOnce loses the media packets that choose picks, the first time each.
func loseOnce(choose func(seq uint16) bool) func(*rtp.Header) bool {
	gone := map[uint16]bool{}
	return func(h *rtp.Header) bool {
		if h.PayloadType != h264Type || gone[h.SequenceNumber] || !choose(h.SequenceNumber) {
			return false
		}
		gone[h.SequenceNumber] = true
		return true
	}
}

func TestLossIsRepairedByRTX(t *testing.T) {
	v := newViewer(t, viewerConfig{lose: loseOnce(func(seq uint16) bool { return seq%7 == 3 && seq != 65_500 })})
	p := newTestPeer(t, PeerConfig{})
	v.connect(p)
	h := newHost(t, p)
	want := stream(h, 30, 20_000)
	sameNALs(t, reassemble(t, collect(t, v, 30)), want)
	h.until("losses reported", func() bool {
		lost := 0
		for _, a := range h.acks {
			if a.Lost {
				lost++
			}
		}
		return lost > 10 && h.resent >= lost
	})
	resends := 0
	for i, s := range h.sent {
		if s.Sequence != uint64(i+1) {
			t.Fatalf("a resend broke the transport-wide sequence: %+v", s)
		}
		if s.Resend {
			resends++
		}
	}
	if resends < 30 {
		t.Errorf("%d resends", resends)
	}
}

// TestTailIsRepaired loses the last packet of a picture that nothing follows:
// only the guard's padding can show the gap.
func TestTailIsRepaired(t *testing.T) {
	lost := false
	v := newViewer(t, viewerConfig{lose: func(h *rtp.Header) bool {
		lose := !lost && h.Marker && h.Timestamp == 2*1500
		lost = lost || lose
		return lose
	}})
	p := newTestPeer(t, PeerConfig{})
	v.connect(p)
	h := newHost(t, p)
	want := stream(h, 2, 20_000)
	sameNALs(t, reassemble(t, collect(t, v, 2)), want)
	h.until("one resend", func() bool { return h.resent >= 1 })
	padding := 0
	for _, hd := range v.wire.seen() {
		if hd.Padding {
			padding++
		}
	}
	if padding == 0 {
		t.Error("no padding came")
	}
}

func TestWithoutRTXLossAsksForAKeyFrame(t *testing.T) {
	v := newViewer(t, viewerConfig{noRTX: true, lose: loseOnce(func(seq uint16) bool { return seq == 65_505 })})
	p := newTestPeer(t, PeerConfig{})
	v.connect(p)
	h := newHost(t, p)
	stream(h, 3, 20_000)
	h.until("a key frame request", func() bool { return h.key > 0 })
	if _, err := p.Write(time.Now(), &pacing.Packet{Class: pacing.Resend}); err == nil {
		t.Error("a resend without RTX was written")
	}
}

func TestPictureLossIndication(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{})
	v.connect(p)
	h := newHost(t, p)
	stream(h, 1, 100)
	collect(t, v, 1)
	ssrc := v.wire.seen()[0].SSRC
	check(t, v.pc.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: ssrc}}))
	h.until("PLI", func() bool { return h.key == 1 })
	check(t, v.pc.WriteRTCP([]rtcp.Packet{&rtcp.FullIntraRequest{MediaSSRC: ssrc, FIR: []rtcp.FIREntry{{SSRC: ssrc}}}}))
	h.until("FIR", func() bool { return h.key == 2 })
}

func TestDataChannels(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{})
	refused := v.channel("shell")
	closed := make(chan struct{})
	refused.OnClose(func() { close(closed) })
	input := v.channel("input")
	v.connect(p)
	for range 2 {
		waitEvent(t, p, ChannelOpen)
	}
	receive(t, closed, "refusal of an unknown label")

	check(t, input.SendText(`{"type":"release"}`))
	if m := receive(t, p.Messages(), "message"); m.Label != "input" || string(m.Data) != `{"type":"release"}` {
		t.Errorf("message %+v", m)
	}
	check(t, p.Send("control", []byte(`{"type":"bye"}`)))
	if m := receive(t, v.messages, "message"); m != `control:{"type":"bye"}` {
		t.Errorf("message %q", m)
	}
	if err := p.Send("pointer", nil); !errors.Is(err, ErrNotOpen) {
		t.Errorf("send on a channel that is not there: %v", err)
	}
	// Binary and oversized messages do not reach the session.
	check(t, v.control.Send([]byte{1}))
	check(t, v.control.SendText(strings.Repeat("x", MaxMessageBytes-1)))
	if m := receive(t, p.Messages(), "message"); len(m.Data) != MaxMessageBytes-1 {
		t.Errorf("message of %d bytes", len(m.Data))
	}
	// A flood waits at the viewer and is not lost.
	const flood = 3 * messageQueue
	for range flood {
		check(t, input.SendText("x"))
	}
	for range flood {
		receive(t, p.Messages(), "message of the flood")
	}
}

func TestICERestart(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{})
	v.connect(p)
	h := newHost(t, p)
	want := stream(h, 2, 5000)
	sameNALs(t, reassemble(t, collect(t, v, 2)), want)
	old := v.pc.CurrentRemoteDescription().SDP
	answer := v.negotiate(p, &webrtc.OfferOptions{ICERestart: true})
	if ufrag(answer) == ufrag(old) || !strings.Contains(answer, "a=candidate:") {
		t.Errorf("the restart's answer has ufrag %q as before, or no candidate", ufrag(answer))
	}
	waitEvent(t, p, Connected)
	want = stream(h, 5, 5000)
	sameNALs(t, reassemble(t, collect(t, v, 5)), want)
}

func ufrag(sdp string) string {
	_, after, _ := strings.Cut(sdp, "a=ice-ufrag:")
	line, _, _ := strings.Cut(after, "\r\n")
	return line
}

func TestTrickle(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	if err := p.AddCandidate("a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n"); !errors.Is(err, ErrNotConnected) {
		t.Errorf("a candidate before the offer: %v", err)
	}
	v := newViewer(t, viewerConfig{})
	var bare, trickled []string
	for line := range strings.Lines(v.offer(nil)) {
		if strings.HasPrefix(line, "a=candidate:") {
			trickled = append(trickled, line)
		} else {
			bare = append(bare, line)
		}
	}
	answer := must[string](t)(p.Answer(context.Background(), strings.Join(bare, "")))
	check(t, p.AddCandidate("a=ice-ufrag:x\r\na=mid:0\r\n"+strings.Join(trickled, "")+"a=end-of-candidates\r\n"))
	if p.AddCandidate("a=candidate:nonsense\r\n") == nil {
		t.Error("a broken candidate was taken")
	}
	check(t, v.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}))
	waitEvent(t, p, Connected)
}

func TestSoundIsAnsweredInactive(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{audio: true})
	answer := v.negotiate(p, nil)
	waitEvent(t, p, Connected)
	_, audio, _ := strings.Cut(answer, "m=audio ")
	audio, _, _ = strings.Cut(audio, "m=")
	if strings.HasPrefix(audio, "0 ") || !strings.Contains(audio, "a=inactive") {
		t.Errorf("sound section:\nm=audio %s", audio)
	}
	h := newHost(t, p)
	want := stream(h, 2, 5000)
	sameNALs(t, reassemble(t, collect(t, v, 2)), want)
}

func TestViewerLeaves(t *testing.T) {
	p := newTestPeer(t, PeerConfig{})
	v := newViewer(t, viewerConfig{})
	v.connect(p)
	waitEvent(t, p, ChannelOpen)
	check(t, v.pc.GracefulClose())
	if e := waitEvent(t, p, Closed); e.Reason == "" {
		t.Error("no reason given")
	}
	if _, open := <-p.Events(); open {
		t.Error("an event after the last")
	}
	if _, err := p.Write(time.Now(), &pacing.Packet{Class: pacing.Video}); err == nil {
		t.Error("a packet was written to a viewer that left")
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	e := must[*Endpoint](t)(Listen(Config{Addr: "127.0.0.1:0"}))
	for range 3 {
		p := must[*Peer](t)(e.NewPeer(PeerConfig{}))
		v := newViewer(t, viewerConfig{})
		v.connect(p)
		waitEvent(t, p, ChannelOpen)
		check(t, p.Close())
		check(t, p.Close())
		_ = v.pc.GracefulClose() // pion reports that the other side was first
		if _, err := p.Answer(context.Background(), v.pc.CurrentLocalDescription().SDP); !errors.Is(err, ErrClosed) {
			t.Errorf("an answer after Close: %v", err)
		}
	}
	waiting := must[*Peer](t)(e.NewPeer(PeerConfig{}))
	check(t, e.Close())
	waitEvent(t, waiting, Closed)
	if _, err := e.NewPeer(PeerConfig{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a peer after Close: %v", err)
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks())
		}
		time.Sleep(5 * time.Millisecond)
	}
}
