package signaling

import (
	"encoding/json"
	"fmt"
)

// Labels of the data channels, all made by the viewer.
const (
	ControlChannel = "control" // ordered, reliable, both ways
	InputChannel   = "input"   // ordered, reliable, viewer to host
	PointerChannel = "pointer" // unordered, never resent, host to viewer
)

// Message is anything that travels on a data channel: a JSON object whose
// "type" is MessageType.
type Message interface{ MessageType() string }

// Spot is a place in the picture that the viewer saw: X and Y in pixels of a
// picture W wide and H high. X and Y may lie outside it.
type Spot struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// Messages from the viewer. Decode makes them, and only with values in the
// ranges given here.
type (
	// Ping asks for a Pong with the same T (finite, the viewer's own clock, ms).
	Ping struct {
		T float64 `json:"t"`
	}
	// Shown names the newest picture on the viewer's screen by RTP timestamp, and
	// says when it came, when the decoder took it, when it was decoded and when it
	// was put on the screen: ms since the stream's start by the host's clock, as
	// the viewer estimates it from pongs; 0 where it cannot tell.
	Shown struct {
		RTP      uint32  `json:"rtp"`
		Received float64 `json:"received"`
		Decoding float64 `json:"decoding"`
		Decoded  float64 `json:"decoded"`
		Shown    float64 `json:"shown"`
	}
	// Hidden tells whether the viewer's page is out of sight.
	Hidden struct {
		Hidden bool `json:"hidden"`
	}
	// WantStats turns the host's figures on or off.
	WantStats struct {
		On bool `json:"on"`
	}
	// Move moves the pointer.
	Move struct{ Spot }
	// Button presses or lets go of a button: 0 to 4 as the DOM numbers them.
	Button struct {
		Button int  `json:"button"`
		Down   bool `json:"down"`
		Spot
	}
	// Wheel turns the wheel by DX, DY in 1/120 of a notch, at most 100 notches.
	// Positive DY scrolls down.
	Wheel struct {
		DX float64 `json:"dx"`
		DY float64 `json:"dy"`
		Spot
	}
	// Key presses or lets go of a key. Code is the physical key as the DOM names
	// it (letters and digits, at most 32); Key is what the viewer's layout makes
	// of it (at most 32 characters, may be empty).
	Key struct {
		Code string `json:"code"`
		Key  string `json:"key"`
		Down bool   `json:"down"`
	}
	// Text is typed as it stands: 1 to 4096 characters, no control characters
	// but tab and line feed.
	Text struct {
		Text string `json:"text"`
	}
	// Release lets go of every key and button that this viewer holds.
	Release struct{}
	// Mark stands before a message of input and asks which picture is the first that
	// was captured after that was done. N is the viewer's own.
	Mark struct {
		N uint32 `json:"n"`
	}
)

// Messages from the host.
type (
	// Watching describes the source: sent at the start and whenever it changes.
	Watching struct {
		ID     string `json:"id"`
		Title  string `json:"title"`
		Kind   string `json:"kind"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
		Rights string `json:"rights"`
	}
	// State is "live", "paused" or "ended", with a reason for people.
	State struct {
		State  string `json:"state"`
		Reason string `json:"reason"`
	}
	// Cursor is a pointer shape. PNG is written as base64.
	Cursor struct {
		ID     string `json:"id"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
		HotX   int    `json:"hotX"`
		HotY   int    `json:"hotY"`
		PNG    []byte `json:"png"`
	}
	// Pointer is where the pointer is, in pixels of the picture. N counts up, so
	// that a viewer can ignore one that arrives late.
	Pointer struct {
		X       float64 `json:"x"`
		Y       float64 `json:"y"`
		Visible bool    `json:"visible"`
		Cursor  string  `json:"cursor"`
		N       uint64  `json:"n"`
	}
	// Pong answers a Ping. Host is when the host did, ms since the stream's start.
	Pong struct {
		T    float64 `json:"t"`
		Host float64 `json:"host"`
	}
	// Marked answers a Mark: RTP is the timestamp of the picture. A mark that no
	// picture follows, or that comes while another is not answered, gets none.
	Marked struct {
		N   uint32 `json:"n"`
		RTP uint32 `json:"rtp"`
	}
	// Stream names the stream in the logs of both ends; sent once, at the start.
	Stream struct {
		ID    string `json:"id"`
		Trace bool   `json:"trace"` // the viewer is to record each picture's way
	}
	// Path names the road that the stream's packets take: sent when it is known
	// and whenever more or something else is. Kind is a word for programs, Words
	// are for people; Unknown says what could not be known, and why. Changed is
	// set when the packets took another road before.
	Path struct {
		Kind    string `json:"kind"`
		Words   string `json:"words"`
		Unknown string `json:"unknown"`
		Changed bool   `json:"changed"`
	}
	// Bye ends the session.
	Bye struct {
		Reason string `json:"reason"`
	}
)

// Stats carries the host's figures: any value that encodes as a JSON object.
// Its fields stand beside "type".
type Stats struct{ Figures any }

func (Ping) MessageType() string      { return "ping" }
func (Shown) MessageType() string     { return "shown" }
func (Hidden) MessageType() string    { return "hidden" }
func (WantStats) MessageType() string { return "stats" }
func (Move) MessageType() string      { return "move" }
func (Button) MessageType() string    { return "button" }
func (Wheel) MessageType() string     { return "wheel" }
func (Key) MessageType() string       { return "key" }
func (Text) MessageType() string      { return "text" }
func (Release) MessageType() string   { return "release" }
func (Mark) MessageType() string      { return "mark" }
func (Marked) MessageType() string    { return "marked" }
func (Watching) MessageType() string  { return "source" }
func (State) MessageType() string     { return "state" }
func (Cursor) MessageType() string    { return "cursor" }
func (Pointer) MessageType() string   { return "pointer" }
func (Pong) MessageType() string      { return "pong" }
func (Stream) MessageType() string    { return "stream" }
func (Path) MessageType() string      { return "path" }
func (Bye) MessageType() string       { return "bye" }
func (Stats) MessageType() string     { return "stats" }

// MarshalJSON writes the figures alone; Encode adds the type.
func (s Stats) MarshalJSON() ([]byte, error) { return json.Marshal(s.Figures) }

// Encode writes a message as JSON with "type" first. It fails only for values
// that JSON cannot hold (NaN, infinity, figures that are no object).
func Encode(m Message) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding a %s message: %w", m.MessageType(), err)
	}
	if len(body) < 2 || body[0] != '{' {
		return nil, fmt.Errorf("encoding a %s message: it is no object", m.MessageType())
	}
	head := `{"type":"` + m.MessageType() + `"`
	if len(body) > 2 {
		head += ","
	}
	return append([]byte(head), body[1:]...), nil
}
