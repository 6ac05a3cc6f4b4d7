package signaling

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Bounds of what a viewer may send. They are far above what people do and keep
// arithmetic on the values safe.
const (
	MaxMessageBytes = 64 << 10
	maxTextRunes    = 4096
	maxCodeBytes    = 32
	maxKeyRunes     = 32
	maxSide         = 32768     // X11 pictures are at most 32767 wide
	maxWheel        = 120 * 100 // 1/120 notches in one message
	maxButton       = 4
	maxTime         = 1e10 // ms: no stream lasts four months
)

// wire is every field that a viewer's message can have; nil is absent.
type wire struct {
	Type   string   `json:"type"`
	T      *float64 `json:"t"`
	RTP    *uint32  `json:"rtp"`
	N      *uint32  `json:"n"`
	Hidden *bool    `json:"hidden"`
	On     *bool    `json:"on"`
	Down   *bool    `json:"down"`
	Button *int     `json:"button"`
	X      *float64 `json:"x"`
	Y      *float64 `json:"y"`
	W      *float64 `json:"w"`
	H      *float64 `json:"h"`
	DX     *float64 `json:"dx"`
	DY     *float64 `json:"dy"`
	Code   *string  `json:"code"`
	Key    *string  `json:"key"`
	Text   *string  `json:"text"`

	Received float64 `json:"received"`
	Decoding float64 `json:"decoding"`
	Decoded  float64 `json:"decoded"`
	Shown    float64 `json:"shown"`
}

// Decode reads one message of a viewer that came on the channel with this
// label. Everything it returns is within the ranges of the type; anything else
// is an error and must have no effect. Fields that the type does not have are
// ignored, so that a newer viewer can say more.
func Decode(label string, data []byte) (Message, error) {
	if len(data) > MaxMessageBytes {
		return nil, fmt.Errorf("message on %q has %d bytes: more than %d", label, len(data), MaxMessageBytes)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("message on %q is not UTF-8", label)
	}
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("message on %q: %w", label, err)
	}
	m, err := w.message(label)
	if err != nil {
		return nil, fmt.Errorf("message %q on %q: %w", clip(w.Type), label, err)
	}
	return m, nil
}

var errUnknown = errors.New("unknown type on this channel")

func (w *wire) message(label string) (Message, error) {
	switch label {
	case ControlChannel:
		return w.control()
	case InputChannel:
		return w.input()
	}
	return nil, errors.New("viewers do not speak on this channel")
}

func (w *wire) control() (Message, error) {
	switch {
	case w.Type == "ping" && w.T != nil:
		return Ping{*w.T}, nil
	case w.Type == "shown" && w.RTP != nil:
		return w.shown()
	case w.Type == "hidden" && w.Hidden != nil:
		return Hidden{*w.Hidden}, nil
	case w.Type == "stats" && w.On != nil:
		return WantStats{*w.On}, nil
	case w.Type == "ping", w.Type == "shown", w.Type == "hidden", w.Type == "stats":
		return nil, errors.New("a field is missing")
	}
	return nil, errUnknown
}

// shown checks that the times, where they are given, lie in order.
func (w *wire) shown() (Message, error) {
	s := Shown{*w.RTP, w.Received, w.Decoding, w.Decoded, w.Shown}
	if s.Received < 0 || s.Decoding < s.Received || s.Decoded < s.Decoding || s.Shown < s.Decoded || s.Shown > maxTime {
		return nil, fmt.Errorf("received, decoding, decoded and shown are not in order between 0 and %g", float64(maxTime))
	}
	return s, nil
}

func (w *wire) input() (Message, error) {
	switch w.Type {
	case "move":
		s, err := w.spot()
		return Move{s}, err
	case "button":
		return w.button()
	case "wheel":
		return w.wheel()
	case "key":
		return w.key()
	case "text":
		return w.text()
	case "release":
		return Release{}, nil
	case "mark":
		if w.N == nil {
			return nil, errors.New("n is missing")
		}
		return Mark{*w.N}, nil
	}
	return nil, errUnknown
}

func (w *wire) spot() (Spot, error) {
	if w.X == nil || w.Y == nil || w.W == nil || w.H == nil {
		return Spot{}, errors.New("x, y, w or h is missing")
	}
	s := Spot{*w.X, *w.Y, *w.W, *w.H}
	if s.W < 1 || s.H < 1 || s.W > maxSide || s.H > maxSide {
		return Spot{}, fmt.Errorf("w and h must be 1 to %d", maxSide)
	}
	if math.Abs(s.X) > 2*maxSide || math.Abs(s.Y) > 2*maxSide {
		return Spot{}, errors.New("x or y is far outside of any picture")
	}
	return s, nil
}

func (w *wire) button() (Message, error) {
	s, err := w.spot()
	if err != nil {
		return nil, err
	}
	if w.Button == nil || w.Down == nil || *w.Button < 0 || *w.Button > maxButton {
		return nil, fmt.Errorf("button must be 0 to %d and down must be given", maxButton)
	}
	return Button{*w.Button, *w.Down, s}, nil
}

func (w *wire) wheel() (Message, error) {
	s, err := w.spot()
	if err != nil {
		return nil, err
	}
	if w.DX == nil || w.DY == nil || math.Abs(*w.DX) > maxWheel || math.Abs(*w.DY) > maxWheel {
		return nil, fmt.Errorf("dx and dy must be given and at most %d", maxWheel)
	}
	return Wheel{*w.DX, *w.DY, s}, nil
}

func (w *wire) key() (Message, error) {
	if w.Code == nil || w.Down == nil {
		return nil, errors.New("code or down is missing")
	}
	k := Key{Code: *w.Code, Down: *w.Down}
	if w.Key != nil {
		k.Key = *w.Key
	}
	if len(k.Code) > maxCodeBytes || !alphanumeric(k.Code) {
		return nil, fmt.Errorf("code must be letters and digits, at most %d", maxCodeBytes)
	}
	if utf8.RuneCountInString(k.Key) > maxKeyRunes || !typeable(k.Key) {
		return nil, fmt.Errorf("key must be at most %d characters", maxKeyRunes)
	}
	return k, nil
}

func (w *wire) text() (Message, error) {
	if w.Text == nil || *w.Text == "" {
		return nil, errors.New("text is missing")
	}
	if utf8.RuneCountInString(*w.Text) > maxTextRunes {
		return nil, fmt.Errorf("text is longer than %d characters", maxTextRunes)
	}
	if !typeable(*w.Text) {
		return nil, errors.New("text has control characters")
	}
	return Text{*w.Text}, nil
}

func alphanumeric(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// typeable refuses what is not text: C0 and C1 controls but tab and line feed,
// and the replacement character, which stands for broken UTF-16.
func typeable(s string) bool {
	for _, r := range s {
		if (r < 0x20 && r != '\t' && r != '\n') || (r >= 0x7f && r < 0xa0) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

func clip(s string) string {
	if len(s) > 32 {
		return s[:32] + "..."
	}
	return s
}
