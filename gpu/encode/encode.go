package encode

import (
	"errors"
	"fmt"
	"image"
	"runtime"
	"slices"
	"strings"
	"time"

	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode/h264"
)

// MinQP and MaxQP bound Order.QP: 0 would be lossless, which the constrained
// baseline profile does not have, and 51 is the end of the scale.
const (
	MinQP = 1
	MaxQP = 51
)

// DefaultReferences is the References of an empty Config: a picture can be
// dropped, and what is encoded in its place cannot.
const DefaultReferences = 2

// MaxReferences is the most that H.264 has (A.3.1, item h).
const MaxReferences = 16

// DefaultPreset is the x264 preset of an empty Config.Preset.
const DefaultPreset = "ultrafast"

// Config describes one encoder. It is fixed for its life: a new picture size
// needs a new encoder.
type Config struct {
	// Size of the pictures, in pixels, from 1x1 to 16384x16384. Odd sizes
	// are padded inside and cropped by the SPS.
	Size image.Point
	// FPS is the most pictures a second, for choosing the level. 0 means 60.
	FPS int
	// Profile of the bitstream; the zero value is constrained baseline.
	Profile h264.Profile
	// Preset is an x264 preset name; "" means DefaultPreset.
	Preset string
	// Threads encode one picture together, one slice each; 0 means the
	// number of CPUs, at most 4.
	Threads int
	// References is how many pictures the encoder and every decoder keep, 1 to
	// MaxReferences; 0 means DefaultReferences. All but one of them may be
	// dropped or given up in a row. Each takes memory (4 MB at 1080p with the
	// default preset) and no time: only the newest that was not given up is
	// searched. More than the level allows raise the level; up to 4 do not at
	// the usual sizes.
	References int
	// Gaps says that a decoder may never get a picture that no later one needs,
	// and is to be told so (gaps_in_frame_num_value_allowed_flag). Without it a
	// decoder takes what is missing for an error.
	Gaps bool
	// PSNR has the encoder measure AccessUnit.PSNR.
	PSNR bool
	// Control is what decides the size of pictures.
	Control Control
}

// Control is what decides the size of pictures.
type Control int

const (
	// ByOrder has each picture encoded at Order.QP.
	ByOrder Control = iota
	// CBR has the encoder hold Order.Bitrate by itself: at FPS pictures a second all
	// together take that, and none more than its frame interval. It is the mode of
	// encoders whose QP cannot be ordered.
	CBR
	// CRF has x264 hold its usual quality where Order.Bitrate allows that (a constant
	// rate factor of 23 with a VBV of 100 ms). It is what ByOrder is measured by.
	CRF
)

// Order says how to encode the loaded picture.
type Order struct {
	// QP of every macroblock that is coded, MinQP (sharpest) to MaxQP. Of no effect
	// but with ByOrder.
	QP int
	// Bitrate is what CBR and CRF keep to from this picture on. It may differ from
	// picture to picture: it is changed in place, and no key frame comes of it. Of no
	// effect with ByOrder.
	Bitrate rate.Rate
	// Key asks for an IDR picture. The first picture is always one. It codes
	// every macroblock.
	Key bool
	// Sharpen marks macroblocks, row by row, that are coded though nothing of
	// them was loaded since the last unit. All others of those stay as the viewer
	// has them. Nil: all of them do. An encoder that codes whole pictures only
	// need not heed it.
	Sharpen []bool
	// Newest gives up all pictures with a higher AccessUnit.Number, for good:
	// the viewer lacks them, or may. The picture is coded against the newest one
	// that is left, and is a key frame if the last Config.References are all
	// given up. An encoder that keeps only one gives a key frame always. 0 gives
	// up none.
	Newest uint64
}

// AccessUnit is one encoded picture.
type AccessUnit struct {
	// NALs without start codes, in decoding order. The memory belongs to the
	// unit and is not reused.
	NALs [][]byte
	// Number counts the encoder's pictures from 1, those included that were
	// dropped, whose placeholders have their numbers.
	Number uint64
	// Reference is the Number of the picture that this one is predicted from;
	// 0 for a key frame.
	Reference uint64
	// Key is true for an IDR picture, which carries its SPS and PPS.
	Key bool
	// QP is the one that was ordered. With CBR and CRF it is what the picture began
	// with; what fills its interval ends coarser.
	QP int
	// SizeBytes is the sum of the NAL lengths.
	SizeBytes int
	// Hasty is true where a quick look for motion found much less than it did in the
	// pictures before. Dropped and encoded again at the same QP, the picture is looked
	// through well, and may take far less.
	Hasty bool
	// PSNR of the luma that a decoder makes of the unit, in dB, against the
	// converted picture: 100 where they are equal, and 0 unless Config.PSNR
	// asks for it.
	PSNR float64
	// Convert is what the last Load took (zero when the picture is encoded
	// again without one), Encode what the encoder took.
	Convert, Encode time.Duration
}

// Encoder encodes the pictures of one viewer. It is used by one goroutine.
//
// Every unit that it gives is sent, or else given back at once with Drop.
type Encoder interface {
	// Load converts what changed in a frame into the encoder's own
	// picture. The frame may be released when it returns. The size must be
	// Config.Size. A nil Damage converts the whole picture, as does the
	// first Load.
	Load(*gpu.Frame) error
	// Encode encodes the loaded picture: one call gives one access unit.
	// It is an error before the first Load.
	Encode(Order) (AccessUnit, error)
	// Drop takes back the unit that Encode gave last, which was not sent and
	// never will be: it was too large, say. The next picture is then coded
	// against the one before the dropped one, whatever both changed. Nothing
	// else is needed: Encode codes the loaded picture, and a Load in between
	// may name its own damage only.
	//
	// The unit that Drop gives goes in the dropped one's place. It is tiny,
	// decodes to a copy of the picture before, and keeps the stream without a
	// gap in frame_num, so that no decoder conceals, waits or asks for a key
	// frame. It is a picture of its own to the receiver, with a timestamp of
	// its own. A sender whose receiver knows from elsewhere what each picture
	// depends on may leave it out, and so may one whose next picture is a key
	// frame. Its QP is the dropped unit's, its times are zero.
	//
	// ErrNotDroppable says that the unit has to be sent after all: it is a key
	// frame, no other picture would be left to code against (Config.References-1
	// units before it were dropped or given up in a row), it was dropped already,
	// or there is none. An encoder that cannot take anything back gives it always.
	Drop() (AccessUnit, error)
	// Close frees everything; the encoder cannot be used after it. It may
	// be called twice.
	Close() error
}

// ErrNotLoaded is returned by Encode when no picture was loaded yet.
var ErrNotLoaded = errors.New("encode: no picture was loaded")

// ErrNotDroppable is returned by Drop when the unit before has to be sent.
var ErrNotDroppable = errors.New("encode: the last unit cannot be dropped")

// ErrClosed is returned by Load, Encode and Drop after Close.
var ErrClosed = errors.New("encode: the encoder was closed")

// maxSide is the largest width or height that any level of H.264 and x264 take.
const maxSide = 16384

// presets are x264's, fastest first.
var presets = []string{"ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo"}

// checkOrder says whether an encoder with this Config can do as ordered.
func (c Config) checkOrder(o Order) error {
	switch {
	case c.Control != ByOrder && o.Bitrate <= 0:
		return fmt.Errorf("encode: %s is no bitrate to hold", o.Bitrate)
	case c.Control == ByOrder && (o.QP < MinQP || o.QP > MaxQP):
		return fmt.Errorf("encode: qp %d is outside %d to %d", o.QP, MinQP, MaxQP)
	}
	return nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Size.X < 1 || c.Size.Y < 1 || c.Size.X > maxSide || c.Size.Y > maxSide {
		return c, fmt.Errorf("encode: picture size %dx%d is outside 1x1 to %dx%d", c.Size.X, c.Size.Y, maxSide, maxSide)
	}
	if c.FPS <= 0 {
		c.FPS = 60
	}
	if c.Preset == "" {
		c.Preset = DefaultPreset
	}
	if !slices.Contains(presets, c.Preset) {
		return c, fmt.Errorf("encode: unknown preset %q, want one of %s", c.Preset, strings.Join(presets, ", "))
	}
	if c.Threads <= 0 {
		c.Threads = min(runtime.NumCPU(), 4)
	}
	if c.References == 0 {
		c.References = DefaultReferences
	}
	if c.References < 1 || c.References > MaxReferences {
		return c, fmt.Errorf("encode: %d references are outside 1 to %d", c.References, MaxReferences)
	}
	return c, nil
}
