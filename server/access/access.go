// Package access decides who may watch and who may work on this host.
//
// A device comes in by a pairing code: six digits, good for one use and ten
// minutes, given out by a person at the host. In exchange the device receives a
// token of 32 random bytes, of which the host keeps the SHA-256 alone, in
// devices.json in the state folder. From then on the token is the device: it is
// looked up on every request, and revoking the device ends its running streams
// at once through [Store.Watch].
//
// What a device may do is fixed when it is paired and stands in the host's own
// record. Nothing that a viewer sends can widen it. [Grant] is the one place
// that answers the question.
//
// The current time is a parameter everywhere, so that expiry and locks can be
// tested without waiting.
package access

import (
	"errors"
	"fmt"
	"time"
)

// Rights is what a device may do.
type Rights string

// The rights that a pairing code can carry.
const (
	View    Rights = "view"    // see the picture and the pointer
	Control Rights = "control" // also move the pointer, press keys, type
)

// ParseRights reads "view" or "control".
func ParseRights(s string) (Rights, error) {
	switch r := Rights(s); r {
	case View, Control:
		return r, nil
	}
	return "", fmt.Errorf("rights %q are unknown: write view or control", s)
}

// Device is one paired viewer as the host remembers it.
type Device struct {
	ID        string    `json:"id"`        // eight hexadecimal digits
	Name      string    `json:"name"`      // as the viewer called itself, for people to read
	Rights    Rights    `json:"rights"`    // fixed at pairing
	Created   time.Time `json:"created"`   // when it was paired
	LastSeen  time.Time `json:"lastSeen"`  // to within SeenStep
	TokenHash string    `json:"tokenHash"` // SHA-256 of the token, hexadecimal
}

// Errors that callers tell apart. A message for the person in front of the
// viewer is the caller's to word; these say what happened.
var (
	ErrCode    = errors.New("the pairing code is wrong, used or expired")
	ErrToken   = errors.New("this device is not paired")
	ErrDevice  = errors.New("no such device")
	ErrFull    = errors.New("too many")
	ErrCorrupt = errors.New("the devices file cannot be read")
)

// LockedError answers tries that come too fast. Until RetryAfter has passed
// every code from that address is refused unseen.
type LockedError struct{ RetryAfter time.Duration }

func (e *LockedError) Error() string {
	return fmt.Sprintf("too many wrong pairing codes: try again in %s", e.RetryAfter.Round(time.Second))
}

// Grant is what an authenticated device may do. The zero Grant may do nothing.
type Grant struct {
	DeviceID string
	Name     string
	Rights   Rights
}

// MayView reports whether the device may see pictures, sources and previews.
func (g Grant) MayView() bool { return g.Rights == View || g.Rights == Control }

// MayControl reports whether the device may move the pointer, press and type.
func (g Grant) MayControl() bool { return g.Rights == Control }

// Allows reports whether a message of this type, as it arrived on a data
// channel, may take effect. A type that is not listed here is refused.
func (g Grant) Allows(messageType string) bool {
	switch messageType {
	case "ping", "shown", "hidden", "stats":
		return g.MayView()
	case "move", "button", "wheel", "key", "text", "release", "mark":
		return g.MayControl()
	}
	return false
}
