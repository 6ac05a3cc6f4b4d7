package session

import (
	"image"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
)

// sizer makes the pictures of a source as small as its ladder says. Nobody else
// needs to know: whoever speaks of places in a picture means the source's.
type sizer struct {
	ladder       *ratecontrol.Ladder
	rung         ratecontrol.Rung
	source, sent image.Point
	scaler       *encode.Scaler // nil at the source's own size
}

func newSizer(c Config) sizer {
	l := ratecontrol.NewLadder(ratecontrol.LadderConfig{SharpestQP: c.QP, Fixed: c.FullSize})
	return sizer{ladder: l, rung: ratecontrol.FullSize}
}

// choose takes the rung for the next picture and says whether it is another one,
// for which all of the newest picture is needed.
func (s *sizer) choose(now time.Time) bool {
	before := s.rung
	s.rung = s.ladder.Choose(now)
	return s.rung != before
}

// fit prepares for pictures of a source of this size and says whether it, or the
// size that is sent, is another than before.
func (s *sizer) fit(source image.Point) (changed bool, err error) {
	sent := s.rung.Size(source)
	if source == s.source && sent == s.sent {
		return false, nil
	}
	var scaler *encode.Scaler
	if sent != source {
		if scaler, err = encode.NewScaler(source, sent); err != nil {
			return false, err
		}
	}
	s.source, s.sent, s.scaler = source, sent, scaler
	return true, nil
}

// picture is what is sent of a frame of the source.
func (s *sizer) picture(f *gpu.Frame) (*gpu.Frame, error) {
	if s.scaler == nil {
		return f, nil
	}
	return s.scaler.Scale(f)
}
