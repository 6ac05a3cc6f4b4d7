package transport

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"
)

// Queue lengths between pion's goroutines and the session's loop. Feedback
// comes 20 times a second at most and events a few in all, so a full queue
// means that the loop stands still; messages push back on the viewer instead.
const (
	feedbackQueue = 128
	eventQueue    = 64
	messageQueue  = 256
)

// Peer is the connection to one viewer. Its methods are safe for concurrent
// use, except that Write and SenderReport belong to one goroutine.
type Peer struct {
	endpoint *Endpoint
	cfg      PeerConfig
	log      *slog.Logger

	feedback chan Feedback
	messages chan Message
	done     chan struct{} // closed by Close
	loops    sync.WaitGroup

	writer  writer
	batch   batch
	rtcp    rtcpReader
	payload atomic.Int32 // what MaxPayload answers
	last    atomic.Pointer[Route]

	signaling sync.Mutex // held by Answer and AddCandidate

	mu       sync.Mutex // guards the rest
	pc       *webrtc.PeerConnection
	codec    codec
	channels map[string]*webrtc.DataChannel
	events   chan Event
	ended    bool // events is closed
	closed   bool
}

func newPeer(e *Endpoint, c PeerConfig) *Peer {
	p := &Peer{
		endpoint: e, cfg: c, log: e.log,
		feedback: make(chan Feedback, feedbackQueue),
		messages: make(chan Message, messageQueue),
		events:   make(chan Event, eventQueue),
		done:     make(chan struct{}),
		channels: make(map[string]*webrtc.DataChannel),
	}
	p.writer.init()
	p.batch.init()
	p.payload.Store(MaxPayloadBytes)
	p.rtcp.writer = &p.writer
	return p
}

// Events tells of changes. It is closed after the event Closed.
func (p *Peer) Events() <-chan Event { return p.events }

// Feedback tells what the viewer reports. It is never closed.
func (p *Peer) Feedback() <-chan Feedback { return p.feedback }

// Messages gives the viewer's text messages. It is never closed. While it is
// full, the viewer's channels stand still.
func (p *Peer) Messages() <-chan Message { return p.messages }

// Profile is the H.264 profile that was agreed on; valid after Answer.
func (p *Peer) Profile() Profile {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codec.profile
}

// RTX says whether the viewer takes packets again (RFC 4588); valid after Answer.
func (p *Peer) RTX() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codec.rtx != 0
}

// Dependency says whether the viewer takes a picture's references from the
// packets, so that it can go on without pictures that nothing refers to; valid
// after Answer.
func (p *Peer) Dependency() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codec.dependency
}

// Answer takes the viewer's offer and returns the answer, complete with
// candidates. A second offer renegotiates; with new ICE credentials it
// restarts ICE, on the interfaces that are up by then. Errors wrap
// ErrBadOffer or ErrNoH264 where the offer is at fault. After an error the
// peer is of no further use.
func (p *Peer) Answer(ctx context.Context, offerSDP string) (string, error) {
	p.signaling.Lock()
	defer p.signaling.Unlock()
	c, err := readOffer(offerSDP, p.cfg.HighProfile)
	if err != nil {
		return "", err
	}
	c.dependency = c.dependency && !p.cfg.NoDependency
	pc, err := p.connection(c)
	if err != nil {
		return "", err
	}
	offer := webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offerSDP}
	if err := pc.SetRemoteDescription(offer); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadOffer, err)
	}
	return p.answer(ctx, pc)
}

// answer makes the answer to the offer just set.
func (p *Peer) answer(ctx context.Context, pc *webrtc.PeerConnection) (string, error) {
	for _, t := range pc.GetTransceivers() {
		if t.Kind() == webrtc.RTPCodecTypeAudio || t.Sender() == nil {
			if err := t.Stop(); err != nil {
				return "", fmt.Errorf("answer a section as inactive: %w", err)
			}
		}
	}
	// Asked for after the offer was set: an ICE restart begins to gather
	// there, and before it the state still says that all is gathered.
	gathered := webrtc.GatheringCompletePromise(pc)
	answer, err := pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadOffer, err)
	}
	if err := pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("apply the answer: %w", err)
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", fmt.Errorf("gather candidates: %w", ctx.Err())
	case <-p.done:
		return "", ErrClosed
	}
	return pc.LocalDescription().SDP, nil
}

// connection returns the peer connection, made on the first offer.
func (p *Peer) connection(c codec) (*webrtc.PeerConnection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, ErrClosed
	case p.pc != nil && c != p.codec:
		return nil, fmt.Errorf("%w: it changes the codec; make a new session", ErrBadOffer)
	case p.pc != nil:
		return p.pc, nil
	}
	pc, sender, err := p.create(c)
	if err != nil {
		return nil, err
	}
	p.pc, p.codec = pc, c
	p.loops.Go(func() { p.drain(sender) })
	return pc, nil
}

// create makes the peer connection for a codec.
func (p *Peer) create(c codec) (*webrtc.PeerConnection, *webrtc.RTPSender, error) {
	media, err := mediaEngine(c, !p.cfg.NoPlayoutDelay)
	if err != nil {
		return nil, nil, err
	}
	registry := &interceptor.Registry{}
	registry.Add(&tap{peer: p})
	api := webrtc.NewAPI(
		webrtc.WithMediaEngine(media),
		webrtc.WithInterceptorRegistry(registry),
		webrtc.WithSettingEngine(p.endpoint.settings(p.rtcpBuffer)),
	)
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, nil, fmt.Errorf("make a peer connection: %w", err)
	}
	sender, err := addVideo(pc, c)
	if err != nil {
		_ = pc.Close()
		return nil, nil, err
	}
	pc.OnDataChannel(p.onChannel)
	pc.OnConnectionStateChange(p.onState)
	pc.SCTP().Transport().ICETransport().OnSelectedCandidatePairChange(p.onRoute)
	return pc, sender, nil
}

// addVideo adds the sendonly track that meets the viewer's transceiver.
func addVideo(pc *webrtc.PeerConnection, c codec) (*webrtc.RTPSender, error) {
	capability := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeH264, ClockRate: 90000, SDPFmtpLine: c.fmtp}
	track, err := webrtc.NewTrackLocalStaticRTP(capability, "video", "nearglass")
	if err != nil {
		return nil, fmt.Errorf("make the video track: %w", err)
	}
	direction := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly}
	t, err := pc.AddTransceiverFromTrack(track, direction)
	if err != nil {
		return nil, fmt.Errorf("add the video track: %w", err)
	}
	return t.Sender(), nil
}

// AddCandidate takes a fragment of the viewer's SDP with candidates that came
// after the offer (RFC 8840). Lines other than a=candidate are ignored.
func (p *Peer) AddCandidate(sdpFragment string) error {
	p.signaling.Lock()
	defer p.signaling.Unlock()
	p.mu.Lock()
	pc := p.pc
	p.mu.Unlock()
	if pc == nil {
		return fmt.Errorf("add a candidate: no offer came yet: %w", ErrNotConnected)
	}
	var line uint16
	for text := range strings.Lines(sdpFragment) {
		value, ok := strings.CutPrefix(strings.TrimSpace(text), "a=candidate:")
		if !ok {
			continue
		}
		candidate := webrtc.ICECandidateInit{Candidate: "candidate:" + value, SDPMLineIndex: &line}
		if err := pc.AddICECandidate(candidate); err != nil {
			return fmt.Errorf("add candidate %q: %w", value, err)
		}
	}
	return nil
}

// Route tells which addresses carry the stream now, or did last; false before any
// do.
func (p *Peer) Route() (Route, bool) {
	if r, ok := p.route(); ok {
		return r, true
	}
	if r := p.last.Load(); r != nil {
		return *r, true
	}
	return Route{}, false
}

// route asks pion, which forgets the addresses when the connection ends.
func (p *Peer) route() (Route, bool) {
	p.mu.Lock()
	pc := p.pc
	p.mu.Unlock()
	if pc == nil {
		return Route{}, false
	}
	pair, err := pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	if err != nil || pair == nil {
		return Route{}, false
	}
	return routeOf(pair), true
}

func routeOf(pair *webrtc.ICECandidatePair) Route {
	return Route{
		Local: addrPort(pair.Local), Remote: addrPort(pair.Remote),
		LocalType: pair.Local.Typ.String(), RemoteType: pair.Remote.Typ.String(),
	}
}

// onRoute takes another path, the first one too.
func (p *Peer) onRoute(pair *webrtc.ICECandidatePair) {
	route := routeOf(pair)
	p.last.Store(&route)
	p.payload.Store(int32(route.maxPayload(p.endpoint.mtuOf(route.Local.Addr()))))
	p.emit(Event{Kind: Moved})
}

// SetMTU tells what the interface takes by which the packets leave, in bytes; zero
// or less is not known. It holds until they take another pair of addresses. Where
// one socket serves all addresses, the system chooses the interface for each
// packet, and what ICE takes for the local address need not be on that one.
func (p *Peer) SetMTU(mtu int) {
	if route, ok := p.Route(); ok {
		p.payload.Store(int32(route.maxPayload(mtu)))
	}
}

// addrPort is the zero value for a candidate that hides behind a name.
func addrPort(c *webrtc.ICECandidate) netip.AddrPort {
	ip, err := netip.ParseAddr(c.Address)
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip, c.Port)
}

// onState turns pion's states into events.
func (p *Peer) onState(s webrtc.PeerConnectionState) {
	switch s {
	case webrtc.PeerConnectionStateConnected:
		p.emit(Event{Kind: Connected})
	case webrtc.PeerConnectionStateDisconnected:
		p.emit(Event{Kind: Disconnected, Reason: "nothing comes from the viewer at present"})
	case webrtc.PeerConnectionStateFailed:
		p.end("the viewer cannot be reached")
	case webrtc.PeerConnectionStateClosed:
		p.end("the viewer left")
	}
}

// emit queues an event and never blocks; a session that reads none loses it.
func (p *Peer) emit(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	select {
	case p.events <- e:
	default:
	}
}

// end queues the last event, making room for it, and closes the channel.
func (p *Peer) end(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	for {
		select {
		case p.events <- Event{Kind: Closed, Reason: reason}:
			close(p.events)
			return
		default:
		}
		select {
		case <-p.events:
		default:
		}
	}
}

// Close ends the connection and waits until nothing of it runs any more. It
// may be called more than once.
func (p *Peer) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	pc := p.pc
	p.mu.Unlock()
	close(p.done)
	p.end("the host closed the connection")
	p.endpoint.forget(p)
	if pc == nil {
		return nil
	}
	if err := p.Flush(); err != nil {
		p.log.Debug("the last packets are lost", "error", err)
	}
	err := pc.GracefulClose()
	p.loops.Wait()
	if err != nil {
		return fmt.Errorf("close the peer connection: %w", err)
	}
	return nil
}
