package transport

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/transport/v5/packetio"
	"github.com/pion/webrtc/v4"
)

const (
	// disconnectedAfter and failedAfter are when a silent path counts as
	// disturbed and as gone. A WiFi roam takes up to about 3 s; half a
	// minute lets a laptop's lid or an ICE restart come in time.
	disconnectedAfter = 4 * time.Second
	failedAfter       = 30 * time.Second
	// keepAliveEvery holds the bindings of NATs and firewalls; 30 s is
	// their common least lifetime (RFC 4787), and a shorter interval
	// notices a changed path sooner.
	keepAliveEvery = time.Second
	// mostRTO bounds how long messages wait for their resend (SCTP's
	// retransmission timeout doubles without a bound of use). Behind an outage,
	// such as a tunnel that changes its way, the first one tells the viewer of
	// it; pion's least timeout is as long.
	mostRTO = time.Second
)

// Config sets up an Endpoint.
type Config struct {
	// Addr is the UDP address to listen on, such as ":7433" for every
	// interface, now and later, or "127.0.0.1:0" for a test.
	Addr string
	Log  *slog.Logger // nil discards
}

// Endpoint owns the UDP sockets that all peers share. Its methods are safe
// for concurrent use.
type Endpoint struct {
	log *slog.Logger
	mux *familyMux
	// collected names what the peers' batches take.
	collected streams
	mtuOf     func(netip.Addr) int // interfaceMTU; tests put another in its place

	mu     sync.Mutex
	peers  map[*Peer]struct{}
	closed bool
}

// Listen opens the sockets, one for each address family that the machine has.
func Listen(c Config) (*Endpoint, error) {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e := &Endpoint{log: log, peers: make(map[*Peer]struct{}), mtuOf: interfaceMTU}
	mux, err := listenMux(c.Addr, &e.collected, log)
	if err != nil {
		return nil, err
	}
	e.mux = mux
	return e, nil
}

// Addr is the address listened on, with the real port.
func (e *Endpoint) Addr() net.Addr { return e.mux.addr() }

// Close closes every peer and then the sockets.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	peers := make([]*Peer, 0, len(e.peers))
	for p := range e.peers {
		peers = append(peers, p)
	}
	e.mu.Unlock()
	for _, p := range peers {
		if err := p.Close(); err != nil {
			e.log.Debug("closing a peer failed", "error", err)
		}
	}
	if err := e.mux.Close(); err != nil {
		return fmt.Errorf("close UDP sockets: %w", err)
	}
	return nil
}

// NewPeer returns a peer that waits for the viewer's offer. It holds no
// resources of the network until Answer.
func (e *Endpoint) NewPeer(c PeerConfig) (*Peer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	p := newPeer(e, c)
	e.peers[p] = struct{}{}
	return p, nil
}

func (e *Endpoint) forget(p *Peer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.peers, p)
}

// settings prepares pion for one peer. buffers stands in for pion's queues of
// incoming packets.
func (e *Endpoint) settings(buffers func(packetio.BufferPacketType, uint32) io.ReadWriteCloser) webrtc.SettingEngine {
	var s webrtc.SettingEngine
	s.SetICEUDPMux(e.mux)
	// Naming only the families that have a socket matters: pion gives up
	// mDNS altogether when one of the families named has no multicast.
	s.SetNetworkTypes(e.mux.networkTypes())
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeQueryOnly)
	s.SetIncludeLoopbackCandidate(true)
	s.SetICETimeouts(disconnectedAfter, failedAfter, keepAliveEvery)
	s.SetSCTPMaxMessageSize(MaxMessageBytes)
	s.SetSCTPRTOMax(mostRTO)
	s.LoggerFactory = pionLogs{e.log}
	s.BufferFactory = buffers
	return s
}
