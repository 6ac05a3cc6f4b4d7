package encodelab

import (
	"strconv"

	"nearglass/cc/rate"
)

// regime is how x264's own rate control is set.
type regime struct {
	crf      float32 // constant rate factor; 0: a bitrate
	vbvFrame int     // size of the VBV in frames' worth of the target
}

// CRF is x264 at a constant rate factor, held to the link by a VBV of so many
// frames.
func CRF(factor float32, vbvFrames int) Peer {
	return x264Peer("CRF "+strconv.FormatFloat(float64(factor), 'f', -1, 32)+" + VBV", regime{factor, vbvFrames})
}

// ABR is x264 at the target's bitrate with a VBV of one frame.
var ABR = x264Peer("ABR, 1-frame VBV", regime{vbvFrame: 1})

func x264Peer(name string, r regime) Peer {
	return Peer{name, func(s setup) (encoder, error) { return openX264(s, r) }}
}

// bound is the rate that a baseline's rate control is given: the target, and
// where the stream has a bound, that.
func (s setup) bound() rate.Rate {
	if s.most > 0 {
		return min(s.target, s.most)
	}
	return s.target
}
