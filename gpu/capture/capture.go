// Package capture copies pictures of a desktop, a monitor or a window into a
// gpu.Ring.
//
// A Backend lists what can be captured and opens it; a Capture then runs until
// its context or its source ends. Capture is driven by what changes: a still
// source costs nothing, and only the rows that changed are copied.
//
// There are three backends: the X server (OpenX11), an interactive desktop
// drawn in Go for machines without a display (NewDemo), and a moving test
// picture that carries its number (NewPattern).
package capture

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"time"

	"nearglass/gpu"
)

// Kind says what sort of thing a source is.
type Kind string

// The kinds of source.
const (
	KindDesktop Kind = "desktop" // all monitors together
	KindDisplay Kind = "display" // one monitor
	KindWindow  Kind = "window"
	KindDemo    Kind = "demo"
	KindPattern Kind = "pattern"
)

// Source describes something that can be captured.
type Source struct {
	ID    string // "desktop", "display:HDMI-1", "window:0x1a00003", "demo", "pattern"
	Kind  Kind
	Title string
	App   string // the application that owns a window
	// Bounds is where the source lies on the desktop, in pixels.
	Bounds image.Rectangle
	Scale  float64 // pixels for each unit of the interface; 1 where unknown
	// Unavailable says why it cannot be captured now; empty when it can.
	Unavailable string
}

type bounds struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// MarshalJSON writes lower-case keys and bounds as x, y, width and height.
func (s Source) MarshalJSON() ([]byte, error) {
	b := s.Bounds
	return json.Marshal(struct {
		ID          string  `json:"id"`
		Kind        Kind    `json:"kind"`
		Title       string  `json:"title"`
		App         string  `json:"app"`
		Bounds      bounds  `json:"bounds"`
		Scale       float64 `json:"scale"`
		Unavailable string  `json:"unavailable,omitempty"`
	}{s.ID, s.Kind, s.Title, s.App, bounds{b.Min.X, b.Min.Y, b.Dx(), b.Dy()}, s.Scale, s.Unavailable})
}

// Options of a capture. The zero value is useful.
type Options struct {
	FPS     int         // most pictures a second; 0 means the backend's default, 60 for X11
	Pointer bool        // draw the pointer into the picture
	Size    image.Point // of the demo and the pattern; zero means 1280x720
	// Mark numbers the newest input that the display server has carried out, for
	// pictures of an X server; nil leaves their Mark 0. The demo counts by itself.
	Mark func() uint64
}

// mark is the number of the newest input.
func (o Options) mark() uint64 {
	if o.Mark == nil {
		return 0
	}
	return o.Mark()
}

// fpsOr returns the rate limit, or def when none is set.
func (o Options) fpsOr(def int) int {
	if o.FPS <= 0 {
		return def
	}
	return o.FPS
}

// sizeOr returns the size, or def when none is set.
func (o Options) sizeOr(def image.Point) image.Point {
	if o.Size.X <= 0 || o.Size.Y <= 0 {
		return def
	}
	return o.Size
}

// Backend lists and opens sources. Its methods are safe for concurrent use.
type Backend interface {
	Name() string
	List(ctx context.Context) ([]Source, error)
	// Open prepares a capture of the source with this ID. An ID that is not
	// listed gives ErrNotFound.
	Open(ctx context.Context, id string, o Options) (Capture, error)
	Close() error
}

// Capture is one opened source.
type Capture interface {
	// Run configures and fills the ring until ctx ends, which gives nil, or
	// the source ends, which gives an error wrapping ErrClosed or ErrGone. It
	// is called once, takes no picture while the ring has no reader, and does
	// not close the ring.
	Run(ctx context.Context, ring *gpu.Ring) error
	// Place says where the picture lies on the desktop now. It is safe for
	// concurrent use, also before and after Run.
	Place() Place
	Source() Source
}

// Place is where a picture lies on the desktop.
type Place struct {
	Origin, Size image.Point
	Window       uint32 // X window that is captured; 0 when it is no window
}

var (
	// ErrNotFound means that no source has the ID that was asked for.
	ErrNotFound = errors.New("no such source")
	// ErrClosed means that the source ended for good.
	ErrClosed = errors.New("the window was closed")
	// ErrGone means that the display server or the monitor went away; it may
	// come back, so trying again later is right.
	ErrGone = errors.New("the display is gone")
)

// slots is how many pictures a ring holds: the newest, the one being written,
// and one that a reader still converts.
const slots = 3

// interval returns the time between two pictures at fps.
func interval(fps int) time.Duration { return time.Second / time.Duration(fps) }
