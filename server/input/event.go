// Package input puts what a viewer does with its mouse, keyboard and touch
// screen into the desktop of the host.
//
// An [Injector] is one connection to the desktop. Each viewer has a [Session]
// of its own on it, which remembers what that viewer holds down, so that
// everything can be let go of when the viewer leaves. Keys travel as physical
// positions (DOM KeyboardEvent.code): the keyboard layout of the host decides
// which character a position gives. Text travels as text and arrives exactly,
// whatever the layout of the host is.
package input

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Errors that callers can match.
var (
	// ErrGone says that the desktop went away (the X server died or closed
	// the connection). The Injector is of no more use: open a new one.
	ErrGone = errors.New("the display server is gone")
	// ErrInvalid says that an event carries values outside their range.
	ErrInvalid = errors.New("invalid input event")
	// ErrNoKey says that the host's keyboard has no such key.
	ErrNoKey = errors.New("no such key")
)

// Kind says what an Event is.
type Kind uint8

// The kinds of events.
const (
	Move    Kind = iota + 1 // the pointer goes to X, Y
	Button                  // the pointer goes to X, Y, then Button goes down or up
	Wheel                   // the pointer goes to X, Y, then the wheel turns by DX, DY
	Key                     // the key at the physical position Code goes down or up
	Text                    // Text is typed
	Release                 // everything that the viewer holds goes up
)

// Limits of what one event may carry.
const (
	// MaxTextRunes is the longest text of one event, in runes. Longer texts
	// belong into the clipboard: typing blocks the keyboard of the host.
	MaxTextRunes = 4096
	// maxWheel is the widest turn of one event in 1/120 notches: 100 notches.
	maxWheel = 100 * notch
	// notch is one click of a wheel in the unit of DX and DY.
	notch = 120
	// maxName bounds Code and Key, in bytes; the longest DOM name has 20.
	maxName = 40
)

// Event is one thing that a viewer did.
type Event struct {
	Kind Kind
	// X, Y are desktop coordinates in pixels, for Move, Button and Wheel.
	// Points outside the desktop are moved to its nearest pixel.
	X, Y int
	// Button is numbered as in the DOM: 0 left, 1 middle, 2 right, 3 back,
	// 4 forward.
	Button int
	// Down says whether a button or key goes down or up.
	Down bool
	// DX, DY are turns of the wheel in 1/120 notches with the sign of the
	// DOM: positive DY scrolls down, positive DX to the right.
	DX, DY float64
	// Code is the physical position of a key (DOM KeyboardEvent.code).
	Code string
	// Key is the DOM KeyboardEvent.key. It only helps where the host knows
	// no key at the position Code.
	Key string
	// Text is typed as it stands, in UTF-8. Line feed, tab and backspace are
	// the keys of those names; other control characters are left out.
	Text string
}

// Validate reports whether every value that the kind uses is in range. The
// error wraps [ErrInvalid].
func (e Event) Validate() error {
	switch e.Kind {
	case Move, Release:
		return nil
	case Button:
		if e.Button < 0 || e.Button > 4 {
			return fmt.Errorf("%w: button %d", ErrInvalid, e.Button)
		}
	case Wheel:
		if !wheelInRange(e.DX) || !wheelInRange(e.DY) {
			return fmt.Errorf("%w: wheel by %g, %g", ErrInvalid, e.DX, e.DY)
		}
	case Key:
		return validateKey(e)
	case Text:
		return validateText(e.Text)
	default:
		return fmt.Errorf("%w: kind %d", ErrInvalid, e.Kind)
	}
	return nil
}

// wheelInRange is false for NaN and the infinities too.
func wheelInRange(d float64) bool { return math.Abs(d) <= maxWheel }

func validateKey(e Event) error {
	if e.Code == "" && e.Key == "" {
		return fmt.Errorf("%w: key without code and name", ErrInvalid)
	}
	if len(e.Code) > maxName || len(e.Key) > maxName {
		return fmt.Errorf("%w: key name of %d bytes", ErrInvalid, max(len(e.Code), len(e.Key)))
	}
	if !utf8.ValidString(e.Key) {
		return fmt.Errorf("%w: key name is not UTF-8", ErrInvalid)
	}
	return nil
}

func validateText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: text is not UTF-8", ErrInvalid)
	}
	if n := utf8.RuneCountInString(s); n > MaxTextRunes {
		return fmt.Errorf("%w: text of %d characters, at most %d go at once", ErrInvalid, n, MaxTextRunes)
	}
	return nil
}
