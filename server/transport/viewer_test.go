package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/pacing"
	"nearglass/pacing/packetize"
)

// patience bounds every wait of these tests; it is never waited out unless
// something is wrong.
const patience = 20 * time.Second

// viewer is a second pion peer, standing in for the browser.
type viewer struct {
	t        *testing.T
	pc       *webrtc.PeerConnection
	wire     *wire
	packets  chan *rtp.Packet // in order of arrival, RTX unwrapped
	seen     map[uint16]bool  // sequence numbers that collect has taken
	control  *webrtc.DataChannel
	messages chan string
}

// wire sits below pion's interceptors at the viewer: it records what really
// arrived and drops what the test wants lost. pion's own track reader would
// hand a repaired packet out only when another media packet follows.
type wire struct {
	interceptor.NoOp
	packets chan *rtp.Packet
	mu      sync.Mutex
	headers []rtp.Header
	lose    func(*rtp.Header) bool
	mute    bool // takes packets without a record
}

func (w *wire) NewInterceptor(string) (interceptor.Interceptor, error) { return w, nil }

func (w *wire) BindRemoteStream(_ *interceptor.StreamInfo, r interceptor.RTPReader) interceptor.RTPReader {
	return interceptor.RTPReaderFunc(func(b []byte, a interceptor.Attributes) (int, interceptor.Attributes, error) {
		for {
			n, attributes, err := r.Read(b, a)
			if err != nil {
				return n, attributes, err
			}
			pkt := &rtp.Packet{}
			if err := pkt.Unmarshal(slices.Clone(b[:n])); err != nil || w.take(pkt) {
				return n, attributes, err
			}
		}
	})
}

// take notes a packet unless it is to be lost.
func (w *wire) take(pkt *rtp.Packet) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lose != nil && w.lose(&pkt.Header) {
		return false
	}
	if w.mute {
		return true
	}
	w.headers = append(w.headers, pkt.Header)
	if pkt.PayloadType == rtxType {
		pkt.SequenceNumber = binary.BigEndian.Uint16(pkt.Payload)
		pkt.Payload = pkt.Payload[2:]
	}
	w.packets <- pkt
	return true
}

// Payload types of the test's offers.
const (
	h264Type = 102
	rtxType  = 103
)

func (w *wire) seen() []rtp.Header {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.headers)
}

type viewerConfig struct {
	fmtp  string // of the H.264 offered
	noRTX bool
	audio bool // offers sound as WHEP players do
	// dependency offers dependency descriptors.
	dependency bool
	lose       func(*rtp.Header) bool
	// socket is what the viewer uses instead of sockets of pion's.
	socket net.PacketConn
	// screen asks for what is missing, in place of pion's generator of NACKs;
	// then wire keeps no record.
	screen *screen
}

const baselineFmtp = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newViewer(t *testing.T, c viewerConfig) *viewer {
	t.Helper()
	packets := make(chan *rtp.Packet, 10_000)
	v := &viewer{t: t, wire: &wire{lose: c.lose, packets: packets}, packets: packets, seen: map[uint16]bool{}, messages: make(chan string, 100)}
	registry := &interceptor.Registry{}
	registry.Add(v.wire)
	registry.Add(must[*twcc.SenderInterceptorFactory](t)(twcc.NewSenderInterceptor()))
	if c.screen != nil {
		v.wire.mute = true
		registry.Add(c.screen)
	} else {
		registry.Add(must[*nack.GeneratorInterceptorFactory](t)(nack.NewGeneratorInterceptor(nack.GeneratorInterval(20 * time.Millisecond))))
	}
	registry.Add(must[*report.ReceiverInterceptorFactory](t)(report.NewReceiverInterceptor(report.ReceiverInterval(100 * time.Millisecond))))
	var s webrtc.SettingEngine
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetIncludeLoopbackCandidate(true)
	s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	s.SetIPFilter(net.IP.IsLoopback)
	if c.socket != nil {
		s.SetICEUDPMux(ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: c.socket}))
	}
	api := webrtc.NewAPI(webrtc.WithMediaEngine(viewerMedia(t, c)), webrtc.WithInterceptorRegistry(registry), webrtc.WithSettingEngine(s))
	v.pc = must[*webrtc.PeerConnection](t)(api.NewPeerConnection(webrtc.Configuration{}))
	t.Cleanup(func() { _ = v.pc.GracefulClose() })
	recvonly := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}
	if c.audio {
		must[*webrtc.RTPTransceiver](t)(v.pc.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio, recvonly))
	}
	must[*webrtc.RTPTransceiver](t)(v.pc.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, recvonly))
	v.control = v.channel("control")
	v.pc.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		go func() { // pion takes sender reports only while something reads
			for b := make([]byte, 1500); ; {
				if _, _, err := receiver.Read(b); err != nil {
					return
				}
			}
		}()
		for {
			if _, _, err := track.ReadRTP(); err != nil {
				return
			}
		}
	})
	return v
}

func viewerMedia(t *testing.T, c viewerConfig) *webrtc.MediaEngine {
	t.Helper()
	if c.fmtp == "" {
		c.fmtp = baselineFmtp
	}
	feedback := []webrtc.RTCPFeedback{{Type: "nack"}, {Type: "nack", Parameter: "pli"}, {Type: "ccm", Parameter: "fir"}, {Type: "transport-cc"}}
	m := &webrtc.MediaEngine{}
	register := func(kind webrtc.RTPCodecType, pt webrtc.PayloadType, mime, fmtp string, clock uint32, channels uint16) {
		check(t, m.RegisterCodec(webrtc.RTPCodecParameters{PayloadType: pt, RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType: mime, ClockRate: clock, Channels: channels, SDPFmtpLine: fmtp, RTCPFeedback: feedback}}, kind))
	}
	register(webrtc.RTPCodecTypeVideo, 96, webrtc.MimeTypeVP8, "", 90000, 0)
	register(webrtc.RTPCodecTypeVideo, h264Type, webrtc.MimeTypeH264, c.fmtp, 90000, 0)
	if !c.noRTX {
		register(webrtc.RTPCodecTypeVideo, rtxType, webrtc.MimeTypeRTX, "apt=102", 90000, 0)
	}
	register(webrtc.RTPCodecTypeAudio, 111, webrtc.MimeTypeOpus, "minptime=10;useinbandfec=1", 48000, 2)
	uris := []string{"urn:ietf:params:rtp-hdrext:sdes:mid", transportCCURI, captureTimeURI, playoutURI}
	if c.dependency {
		uris = append(uris, dependencyURI)
	}
	for _, uri := range uris {
		check(t, m.RegisterHeaderExtension(webrtc.RTPHeaderExtensionCapability{URI: uri}, webrtc.RTPCodecTypeVideo))
	}
	return m
}

func (v *viewer) channel(label string) *webrtc.DataChannel {
	v.t.Helper()
	dc := must[*webrtc.DataChannel](v.t)(v.pc.CreateDataChannel(label, nil))
	dc.OnMessage(func(m webrtc.DataChannelMessage) { v.messages <- label + ":" + string(m.Data) })
	return dc
}

// offer makes an offer with all candidates in it.
func (v *viewer) offer(options *webrtc.OfferOptions) string {
	v.t.Helper()
	offer := must[webrtc.SessionDescription](v.t)(v.pc.CreateOffer(options))
	gathered := webrtc.GatheringCompletePromise(v.pc)
	check(v.t, v.pc.SetLocalDescription(offer))
	<-gathered
	return v.pc.LocalDescription().SDP
}

// connect has p answer the viewer's offer and waits for Connected.
func (v *viewer) connect(p *Peer) {
	v.t.Helper()
	v.negotiate(p, nil)
	waitEvent(v.t, p, Connected)
}

func (v *viewer) negotiate(p *Peer, options *webrtc.OfferOptions) string {
	v.t.Helper()
	answer := must[string](v.t)(p.Answer(context.Background(), v.offer(options)))
	check(v.t, v.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}))
	return answer
}

func waitEvent(t *testing.T, p *Peer, kind EventKind) Event {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e, ok := <-p.Events():
			if e.Kind == kind {
				return e
			}
			if !ok {
				t.Fatalf("events ended before %v", kind)
			}
		case <-timeout:
			t.Fatalf("no event %v; goroutines:\n%s", kind, stacks())
		}
	}
}

func stacks() []byte {
	b := make([]byte, 1<<20)
	return b[:runtime.Stack(b, true)]
}

func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

func listen(t *testing.T) *Endpoint {
	t.Helper()
	e := must[*Endpoint](t)(Listen(Config{Addr: "127.0.0.1:0"}))
	t.Cleanup(func() { check(t, e.Close()) })
	return e
}

func newTestPeer(t *testing.T, c PeerConfig) *Peer {
	t.Helper()
	return must[*Peer](t)(listen(t).NewPeer(c))
}

// host plays the session: it paces frames to a peer and answers feedback.
type host struct {
	t      *testing.T
	peer   *Peer
	pacer  *pacing.Pacer
	frames chan [][]byte
	stop   chan struct{}
	done   chan struct{}

	mu     sync.Mutex
	sent   []cc.Sent
	acks   []cc.Ack
	key    int
	rtt    time.Duration
	resent int
}

func newHost(t *testing.T, p *Peer) *host {
	h := &host{t: t, peer: p, frames: make(chan [][]byte), stop: make(chan struct{}), done: make(chan struct{}),
		pacer: pacing.New(pacing.Config{Pace: 20 * rate.Mbps, FirstSeq: 65_500})}
	go h.run()
	t.Cleanup(func() { close(h.stop); <-h.done })
	return h
}

func (h *host) run() {
	defer close(h.done)
	reports := time.NewTicker(50 * time.Millisecond)
	defer reports.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	frame := uint64(0)
	for {
		if due := h.pacer.Deadline(); !due.IsZero() {
			timer.Reset(time.Until(due))
		}
		select {
		case <-h.stop:
			return
		case nals := <-h.frames:
			frame++
			h.enqueue(frame, nals)
		case f := <-h.peer.Feedback():
			h.take(f)
		case <-reports.C:
			_ = h.peer.SenderReport(time.Now())
		case <-timer.C:
		}
		h.drain()
		_ = h.peer.Flush()
	}
}

func (h *host) enqueue(frame uint64, nals [][]byte) {
	now := time.Now()
	payloads := packetize.H264(nil, nals, MaxPayloadBytes)
	for i, p := range payloads {
		h.pacer.Enqueue(now, pacing.Packet{
			Class: pacing.Video, Frame: frame, Timestamp: uint32(frame * 1500), Captured: now,
			First: i == 0, Marker: i == len(payloads)-1, Head: p.Head, HeadLen: p.HeadLen, Body: p.Body,
		})
	}
}

func (h *host) take(f Feedback) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pacer.Acked(f.Received...)
	h.resent += h.pacer.Resend(f.At, f.Nacks)
	h.pacer.SetRTT(f.RTT)
	h.acks = append(h.acks, f.Acks...)
	if f.KeyFrame {
		h.key++
	}
	if f.RTT > 0 {
		h.rtt = f.RTT
	}
}

func (h *host) drain() {
	for range 512 {
		now := time.Now()
		pkt, ok := h.pacer.Next(now)
		if !ok {
			return
		}
		s, err := h.peer.Write(now, &pkt)
		if err != nil {
			continue
		}
		h.mu.Lock()
		h.sent = append(h.sent, s)
		h.mu.Unlock()
	}
}

func (h *host) until(what string, ok func() bool) {
	h.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(patience)
	for {
		h.mu.Lock()
		done := ok()
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-timeout:
			h.t.Fatalf("not reached: %s", what)
		}
	}
}

// picture makes an access unit of random NALs, key frame or not.
func picture(rng *rand.Rand, sizeBytes int) [][]byte {
	slice := make([]byte, sizeBytes)
	for i := range slice {
		slice[i] = byte(rng.Uint32())
	}
	slice[0] = 0x41
	return [][]byte{{0x67, 0x42, 0xe0, 0x1f, byte(rng.Uint32())}, {0x68, 0xce, 0x3c, 0x80}, slice}
}

// reassemble puts the NALs of whole pictures together by sequence number.
func reassemble(t *testing.T, packets []*rtp.Packet) [][]byte {
	t.Helper()
	slices.SortFunc(packets, func(a, b *rtp.Packet) int { return int(int16(a.SequenceNumber - b.SequenceNumber)) })
	var nals [][]byte
	for _, p := range packets {
		b := p.Payload
		if len(b) == 0 {
			continue
		}
		switch b[0] & 0x1f {
		case 24:
			for b = b[1:]; len(b) > 2; {
				n := int(b[0])<<8 | int(b[1])
				nals = append(nals, b[2:2+n])
				b = b[2+n:]
			}
		case 28:
			if b[1]&0x80 != 0 {
				nals = append(nals, []byte{b[0]&0xe0 | b[1]&0x1f})
			}
			nals[len(nals)-1] = append(nals[len(nals)-1], b[2:]...)
		default:
			nals = append(nals, b)
		}
	}
	return nals
}

func sameNALs(t *testing.T, got, want [][]byte) {
	t.Helper()
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Fatalf("%d NALs came out, want %d equal ones", len(got), len(want))
	}
}

var _ io.Closer = (*Endpoint)(nil)
