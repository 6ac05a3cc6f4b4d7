package ratecontrol

import "nearglass/cc/rate"

// Kind of a picture to encode.
type Kind uint8

const (
	// Motion is a picture in which something changed.
	Motion Kind = iota
	// Refine is the picture before, encoded again, sharper.
	Refine
	// Key is an IDR picture, for a new or a lost viewer.
	Key
	kinds = 3
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
	// Pixels of the whole picture.
	Pixels int
	// ChangedPixels since the picture before: the damage, clipped to 0 to
	// Pixels. Ignored for Refine and Key, which concern the whole picture.
	ChangedPixels int
	Kind          Kind
}

// Decision is how to encode one picture.
type Decision struct {
	// QP from Config.MinQP to Config.MaxQP.
	QP int
	// PredictedBytes is what the model expects at that QP.
	PredictedBytes int
	// AllowedBytes is what the budget gave the picture.
	AllowedBytes int
}

// Config of a Controller. The zero value of each field means its default.
type Config struct {
	// Target is the rate that video may use; SetTarget changes it. Default
	// 20 Mbit/s.
	Target rate.Rate
	// FPS is the most pictures a second, 1 to 240, default 60.
	FPS int
	// MotionQP is the sharpest QP of a moving picture, default 20.
	MotionQP int
	// RefineQP is the QP at which a still picture is finished, default
	// DefaultRefineQP.
	RefineQP int
	// MaxQP is the coarsest QP, default 48.
	MaxQP int
}
