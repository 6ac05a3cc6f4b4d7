// Package transport carries one stream to one viewer over WebRTC. It is the
// only package of the server that imports pion.
//
// An Endpoint owns the UDP sockets; every viewer is a Peer of it and shares
// its port. A Peer answers the viewer's offer, takes its feedback and
// messages, and writes the packets that the session's pacer releases:
// transport-wide sequence number, RTX numbers, header extensions and the send
// record are all set in Write, at the moment of release. pion's own pacers,
// NACK responder and reports are not used.
//
// # Candidates
//
// The host offers host candidates only, on every interface that is up when a
// Peer answers, tailscale0 and ZeroTier's included, and accepts the browser's
// mDNS names. Two more kinds have their place kept: a TURN server is an entry
// of the ICEServers in (*Peer).create, and ICE-TCP is a TCP mux beside the
// UDP mux in (*Endpoint).settings, fed by the HTTP listener's port.
package transport

import (
	"errors"
	"net/netip"

	"nearglass/cc"
)

// Errors that a caller may match.
var (
	// ErrNoH264 says that the viewer's offer holds no H.264 in
	// packetization mode 1, so there is nothing that it could be sent.
	ErrNoH264 = errors.New("the viewer offers no H.264 video in packetization mode 1")
	// ErrBadOffer says that an offer cannot be understood or lacks what
	// WebRTC needs.
	ErrBadOffer = errors.New("the offer is not usable")
	// ErrNotConnected says that the media path is not up yet, or no more.
	ErrNotConnected = errors.New("not connected")
	// ErrNotOpen says that the viewer has not opened that data channel.
	ErrNotOpen = errors.New("data channel not open")
	// ErrBacklog says that the viewer does not take its messages; the
	// session should end.
	ErrBacklog = errors.New("data channel backlog is full")
	// ErrClosed says that the peer or the endpoint was closed.
	ErrClosed = errors.New("transport closed")
)

// MaxMessageBytes is the largest message that a data channel accepts.
const MaxMessageBytes = 64 << 10

// Profile is the H.264 profile that the encoder has to keep to.
type Profile uint8

// Profiles.
const (
	ConstrainedBaseline Profile = iota
	High
)

// String names the profile.
func (p Profile) String() string {
	if p == High {
		return "high"
	}
	return "constrained baseline"
}

// EventKind is what happened to a peer.
type EventKind uint8

// Kinds of event.
const (
	// Connected: media and messages can flow; also after a disturbance.
	Connected EventKind = iota + 1
	// Disconnected: nothing comes through at present; it may recover.
	Disconnected
	// ChannelOpen: the viewer opened the data channel Label.
	ChannelOpen
	// Moved: the packets take another pair of addresses, the first one too.
	Moved
	// Closed: it is over, for the Reason given. It is the last event, and
	// the channel of events is closed after it.
	Closed
)

var eventNames = map[EventKind]string{
	Connected: "connected", Disconnected: "disconnected", ChannelOpen: "channel open", Moved: "moved", Closed: "closed",
}

// String names the kind for logs.
func (k EventKind) String() string { return eventNames[k] }

// Event is a change in a peer's life.
type Event struct {
	Kind   EventKind
	Label  string // of ChannelOpen
	Reason string // in words, for people; of Disconnected and Closed
}

// Feedback is what one RTCP packet of the viewer told.
type Feedback = cc.Feedback

// Message is one text message of the viewer.
type Message struct {
	Label string // "control" or "input"
	Data  []byte
}

// Route is the pair of addresses that carries the stream.
type Route struct {
	Local, Remote netip.AddrPort
	// LocalType and RemoteType are ICE's names: "host", "srflx", "prflx" or
	// "relay". A remote of "prflx" is a viewer whose address was hidden by
	// mDNS or a NAT.
	LocalType, RemoteType string
}

// PeerConfig sets up a Peer.
type PeerConfig struct {
	// HighProfile allows H.264 High where the viewer offers it; otherwise
	// constrained baseline is used.
	HighProfile bool
	// NoPlayoutDelay leaves the playout-delay header extension out, and so
	// the viewer's jitter buffer as its browser likes it. For measuring.
	NoPlayoutDelay bool
	// NoDependency leaves the dependency descriptor out, so that the viewer takes
	// references from the order of packets. For measuring.
	NoDependency bool
}
