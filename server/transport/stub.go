package transport

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"nearglass/cc"
	"nearglass/pacing"
)

// Config sets up an Endpoint.
type Config struct {
	// Addr is the UDP address to listen on, such as ":7433" or
	// "127.0.0.1:0".
	Addr string
	Log  *slog.Logger // nil discards
}

// Endpoint owns the UDP sockets that all peers share.
type Endpoint struct{}

// Listen opens the sockets.
func Listen(Config) (*Endpoint, error) { return nil, errors.ErrUnsupported }

// Addr is the address listened on.
func (e *Endpoint) Addr() net.Addr { return nil }

// Close ends the endpoint; its peers are closed first.
func (e *Endpoint) Close() error { return nil }

// NewPeer returns a peer that waits for an offer.
func (e *Endpoint) NewPeer(PeerConfig) (*Peer, error) { return nil, errors.ErrUnsupported }

// Peer is the connection to one viewer.
type Peer struct{}

func (p *Peer) Answer(ctx context.Context, offer string) (string, error) { return "", nil }
func (p *Peer) AddCandidate(fragment string) error                       { return nil }
func (p *Peer) Profile() Profile                                         { return 0 }
func (p *Peer) Events() <-chan Event                                     { return nil }
func (p *Peer) Feedback() <-chan Feedback                                { return nil }
func (p *Peer) Messages() <-chan Message                                 { return nil }
func (p *Peer) Send(label string, data []byte) error                     { return nil }
func (p *Peer) Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error) { return cc.Sent{}, nil }
func (p *Peer) SenderReport(now time.Time) error                         { return nil }
func (p *Peer) Route() (Route, bool)                                     { return Route{}, false }
func (p *Peer) Close() error                                             { return nil }
