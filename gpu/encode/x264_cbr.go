//go:build cgo

package encode

import (
	"fmt"

	"nearglass/cc/rate"

	"github.com/gen2brain/x264-go/x264c"
)

// cbrSharpest is where an encoder that holds a rate stops becoming sharper, although
// there is room. x264 does not change it in place; text has 55 dB here.
const cbrSharpest = 10

// firstBitrate is only what x264 is opened with: a VBV that is off at first stays off.
// The first order names the rate of the first picture.
const firstBitrate = rate.Mbps

// setCBR has x264 hold a rate by itself, in ABR with a VBV of one frame: no picture
// takes longer than a frame interval to be sent, a key frame neither.
func setCBR(p *x264c.Param, fps int) {
	p.Rc.IRcMethod = x264c.RcAbr
	p.Rc.IQpMin = cbrSharpest
	p.Rc.FIpFactor, p.Rc.FPbFactor = 1.4, 1.3 // x264's own
	setBitrate(p, firstBitrate, 1, fps)
}

// The quality of CRF, x264's default, and the frame intervals of its VBV: 100 ms at 60
// pictures a second, as live encoders have it.
const (
	crfFactor  = 23
	crfBuffers = 6
)

// setCRF has x264 keep a quality by itself, and to a rate where that asks for more.
func setCRF(p *x264c.Param, fps int) {
	p.Rc.IRcMethod, p.Rc.FRfConstant = x264c.RcCrf, crfFactor
	p.Rc.FIpFactor, p.Rc.FPbFactor = 1.4, 1.3 // x264's own
	setBitrate(p, firstBitrate, crfBuffers, fps)
}

// setBitrate sets the rate, its maximum and the VBV, so many frame intervals of it.
// x264 counts in kbit.
func setBitrate(p *x264c.Param, bitrate rate.Rate, buffers, fps int) {
	kbps := int32(max(bitrate/rate.Kbps, 1))
	p.Rc.IBitrate, p.Rc.IVbvMaxBitrate = kbps, kbps
	p.Rc.IVbvBufferSize = (kbps*int32(buffers) + int32(fps) - 1) / int32(fps)
}

// holdRate changes the rate in place, before the next picture. Nothing is reset and
// no key frame comes of it.
func (e *x264Encoder) holdRate(bitrate rate.Rate) error {
	buffers := 1
	switch {
	case e.config.Control == ByOrder || bitrate == e.bitrate:
		return nil
	case e.config.Control == CRF:
		buffers = crfBuffers
	}
	setBitrate(e.params, bitrate, buffers, e.config.FPS)
	if x264c.EncoderReconfig(e.x264, e.params) < 0 {
		return fmt.Errorf("encode: x264 refuses a bitrate of %s", bitrate)
	}
	e.bitrate = bitrate
	return nil
}
