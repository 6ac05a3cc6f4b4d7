// Package signaling is the host's HTTP side: the list of sources, the WHEP
// requests that open and close a stream, pairing, and the messages that travel
// on the data channels beside the video.
//
// It knows neither WebRTC nor screens. What it needs from the host it states as
// [Host], [Session] and [Gate]; offers and answers pass through as text.
//
// docs/PROTOCOL.md describes the requests for those who write another viewer.
//
// # Who gets in
//
// A request passes these gates in order, and each answers with a status of its
// own and a problem document (RFC 9457) that says what to do next:
//
//   - plain HTTP from an address that is not loopback or private: 403
//   - a Host header that is not a name of this machine (DNS rebinding): 421
//   - another site's page (Origin, Sec-Fetch-Site): 403
//   - no token, or one that is unknown or revoked: 401
package signaling

import (
	"context"
	"errors"
	"fmt"
	"image"
	"net/netip"
	"time"
)

// CookieName is the cookie that holds a paired browser's token.
const CookieName = "nearglass_device"

// Host is what the HTTP side asks of the host. All methods may be called
// concurrently.
type Host interface {
	// Sources lists what can be watched now.
	Sources(ctx context.Context) ([]Source, error)
	// Preview returns one still picture of a source as JPEG, at most this large.
	// The error wraps ErrNotFound or ErrUnavailable where they apply.
	Preview(ctx context.Context, id string, most image.Point) (jpeg []byte, err error)
	// Open starts a stream and answers the viewer's offer. The context is the
	// request's; the session outlives it. The error wraps ErrNotFound,
	// ErrUnavailable, ErrOffer or ErrNoH264 where they apply.
	Open(ctx context.Context, r Request) (s Session, answer string, err error)
	// Streams gives the figures of the streams that run, the oldest first. The
	// error wraps ErrRights where this viewer may not see them.
	Streams(v Viewer) ([]Running, error)
}

// Session is one running stream. Methods may be called concurrently and after
// the session has ended.
type Session interface {
	// Restart answers a second offer (ICE restart).
	Restart(ctx context.Context, offer string) (answer string, err error)
	// Trickle takes candidates as an SDP fragment (RFC 8840).
	Trickle(fragment string) error
	// Close ends the stream; the viewer is told the reason.
	Close(reason string)
	// Done is closed when the stream has ended for whatever reason.
	Done() <-chan struct{}
}

// Gate decides who gets in. All methods may be called concurrently.
type Gate interface {
	// Authenticate finds the viewer who holds a token. It refuses with an error
	// that wraps ErrNotPaired.
	Authenticate(now time.Time, token string) (Viewer, error)
	// Redeem trades a pairing code for a token. It refuses with an error that
	// wraps ErrNotPaired, or with a *BusyError after too many tries.
	Redeem(now time.Time, code string, remote netip.Addr, name string) (token string, v Viewer, err error)
}

// Viewer is an authenticated device.
type Viewer struct {
	Device string // device id
	Name   string // device name, for people
	Rights string // "view" or "control"
	Remote netip.AddrPort
}

// Request is what a viewer asks for when it opens a stream.
type Request struct {
	Source         string
	Offer          string // SDP
	PointerInVideo bool   // the viewer cannot draw the pointer
	Viewer         Viewer
}

// Source is one thing that can be watched, as GET /api/sources lists it. X, Y,
// Width and Height are desktop coordinates in pixels.
type Source struct {
	ID          string  `json:"id"`
	Kind        string  `json:"kind"`
	Title       string  `json:"title"`
	App         string  `json:"app"`
	X           int     `json:"x"`
	Y           int     `json:"y"`
	Width       int     `json:"width"`
	Height      int     `json:"height"`
	Scale       float64 `json:"scale"`
	Unavailable string  `json:"unavailable,omitempty"` // why it cannot be captured now
}

// Running is a stream that runs, as GET /stats lists it.
type Running struct {
	ID      string    `json:"id"` // as in the logs of both ends
	Device  string    `json:"device"`
	Source  string    `json:"source"`
	Begun   time.Time `json:"begun"`
	Figures any       `json:"figures"` // as the message "stats" has them
}

// Errors by which a Host or Gate chooses the status of an answer. Wrap them
// with the detail that the person in front of the viewer should read.
var (
	ErrNotFound    = errors.New("no such source")                 // 404
	ErrUnavailable = errors.New("the source cannot be shown now") // 503
	ErrOffer       = errors.New("the offer cannot be answered")   // 400
	ErrNoH264      = errors.New("the viewer offers no H.264")     // 422
	ErrNotPaired   = errors.New("not paired")                     // 401, and 403 for a code
	ErrRights      = errors.New("this device may only watch")     // 403
)

// BusyError answers tries that come too fast (429).
type BusyError struct{ RetryAfter time.Duration }

func (e *BusyError) Error() string {
	return fmt.Sprintf("too many tries: try again in %s", e.RetryAfter.Round(time.Second))
}
