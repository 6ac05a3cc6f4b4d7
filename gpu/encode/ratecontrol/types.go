package ratecontrol

import (
	"image"

	"nearglass/cc/rate"
)

// Kind of a picture to encode.
type Kind uint8

const (
	// Motion is a picture in which something changed.
	Motion Kind = iota
	// Refine is the picture before, encoded again, sharper.
	Refine
	// Key is an IDR picture, for a new or a lost viewer.
	Key
)

// String names the kind as the stream log does.
func (k Kind) String() string {
	switch k {
	case Motion:
		return "motion"
	case Refine:
		return "refine"
	case Key:
		return "key"
	}
	return "unknown"
}

// Picture is what Plan is told about the picture to encode.
type Picture struct {
	// Size of the whole picture, in pixels.
	Size image.Point
	// Damage is what changed since the picture before; nil: all of it. What lies
	// outside the picture does not count. Ignored for Refine, of which nothing
	// changed, and Key, which codes everything.
	Damage []image.Rectangle
	// Missing is how many of the pictures that were done last this one cannot
	// refer to: what they changed is to be coded again.
	Missing int
	Kind    Kind
}

// Decision is how to encode one picture.
type Decision struct {
	// QP from Config.RefineQP to Config.MaxQP.
	QP int
	// Sharpen marks the macroblocks that a Refine picture codes again, row by
	// row; all others stay as the viewer has them. Nil: none, and such a picture
	// need not be encoded. It is valid until the next call of the Controller that
	// gives a Decision.
	Sharpen []bool
	// PredictedBytes is what the model expects at that QP.
	PredictedBytes int
	// AllowedBytes is what the budget gave the picture. PredictedBytes is
	// above it only when no QP is coarse enough.
	AllowedBytes int
	// Bitrate is what an encoder holds by itself from this picture on. 0: the QP
	// decides.
	Bitrate rate.Rate
}

// Config of a Controller. The zero value of each field means its default, and
// values out of range are moved into it.
type Config struct {
	// Target is the rate that video may use, until SetTarget. Default 20
	// Mbit/s. In a Controller it is what MaxAverage leaves of that for now.
	Target rate.Rate
	// MaxAverage bounds the average over the whole stream, whatever the Target is;
	// 0 is no bound. Short times may use up to Peak of it, when what came before left
	// so much.
	MaxAverage rate.Rate
	// ByEncoder says that the encoder holds a rate by itself: decisions then name the
	// rate, and no picture is encoded again because of its size.
	ByEncoder bool
	// FPS is the most pictures a second, 1 to 240, default 60.
	FPS int
	// RefineQP is where a still picture is finished, 1 to 51, default 12. Text
	// is done at 20 (49 dB of luma on a 1080p screen of tiny text), but grain
	// all over the picture arrived in a browser with 42.6 dB at 16, 44.3 at 14
	// and 46.3 at 12. Against 16 that costs a screen of text 8 % more packets
	// altogether, a web page 25 %, grain 85 %: once, on a still screen.
	RefineQP int
	// MotionQP is the sharpest QP of a large moving picture, RefineQP to 51,
	// default 15. Moving text at 720p, 57 a second, had 48.2 dB on the viewer's
	// screen at 15, with about 15 kB a picture, where x264's CBR at 8 Mbit/s has
	// 47.2; in the encoder a step is 0.6 dB.
	MotionQP int
	// MaxQP is the coarsest QP, MotionQP to 51, default 48.
	MaxQP int
}

const (
	defaultTarget   = 20 * rate.Mbps
	minTarget       = 50 * rate.Kbps
	defaultFPS      = 60
	maxFPS          = 240
	defaultRefineQP = 12
	defaultMotionQP = 15
	defaultMaxQP    = 48
	endOfScale      = 51
)

func (c Config) withDefaults() Config {
	c.Target = max(orDefault(c.Target, defaultTarget), minTarget)
	if c.MaxAverage != 0 {
		c.MaxAverage = max(c.MaxAverage, minTarget)
	}
	c.FPS = min(max(orDefault(c.FPS, defaultFPS), 1), maxFPS)
	c.RefineQP = min(max(orDefault(c.RefineQP, defaultRefineQP), 1), endOfScale)
	c.MotionQP = min(max(orDefault(c.MotionQP, defaultMotionQP), c.RefineQP), endOfScale)
	c.MaxQP = min(max(orDefault(c.MaxQP, defaultMaxQP), c.MotionQP), endOfScale)
	return c
}

func orDefault[T int | rate.Rate](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return v
}
