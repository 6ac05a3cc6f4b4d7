//go:build cgo

package encode

import (
	"errors"
	"fmt"
	"strconv"

	"nearglass/gpu/encode/h264"

	"github.com/gen2brain/x264-go/x264c"
)

// x264Build is the X264_BUILD whose structures x264c lays out. Another one
// would read our parameters from the wrong places.
const x264Build = 164

// searched is the number of pictures that a P picture may be predicted from. One
// is the cheapest. More are kept (Config.References), so that another one can
// take its place.
const searched = 1

// initQP is only the QP that slice headers count from (pic_init_qp); each
// picture names its own.
const initQP = 26

// spread opens the whole QP range to the orders. At a constant QP x264 clips
// every QP, ordered ones too, between those that it would give to I and B
// pictures: initQP - 6*log2(ip factor) and initQP + 6*log2(pb factor). With
// 2^(-25/6) for both they are MaxQP and MinQP.
const spread = 0.0556818

func checkBuild() error {
	if x264c.Build != x264Build {
		return fmt.Errorf("encode: this program was compiled against x264 build %d but knows build %d only; build it without the extlib tag: %w",
			x264c.Build, x264Build, errors.ErrUnsupported)
	}
	return nil
}

// x264Params sets up one encoder: constant QP, no lookahead, no reordering, an
// IDR picture only when ordered, one slice a thread.
func x264Params(c Config) (*x264c.Param, error) {
	p := new(x264c.Param)
	if x264c.ParamDefaultPreset(p, c.Preset, "zerolatency") < 0 {
		return nil, fmt.Errorf("encode: x264 refuses the preset %q", c.Preset)
	}
	size := CodedSize(c.Size)
	p.IWidth, p.IHeight = int32(size.X), int32(size.Y)
	p.ICsp = x264c.CspNv12
	p.ILevelIdc = -1 // chosen by x264 from size, rate and references
	p.ILogLevel = x264c.LogNone

	p.IThreads = int32(c.Threads)
	p.BSlicedThreads = 1
	p.ILookaheadThreads = 1

	p.IFrameReference = searched
	p.IDpbSize = int32(c.References)
	p.IKeyintMax = x264c.KeyintMaxInfinite
	p.IScenecutThreshold = 0
	p.IBframe = 0
	p.Analyse.IWeightedPred = x264c.WeightpNone

	adaptive := p.Rc.IAqMode
	setRate(p, c.FPS)
	switch c.Control {
	case CBR:
		setCBR(p, c.FPS)
	case CRF:
		setCRF(p, c.FPS)
		p.Rc.IAqMode = adaptive
	}
	setBitstream(p)
	setAnalysis(p, c.Profile)
	if x264c.ParamApplyProfile(p, x264Profile(c.Profile)) < 0 {
		return nil, fmt.Errorf("encode: x264 refuses the profile %s", c.Profile)
	}
	return p, nil
}

func setRate(p *x264c.Param, fps int) {
	p.Rc.IRcMethod = x264c.RcCqp
	p.Rc.IQpConstant = initQP
	p.Rc.FIpFactor, p.Rc.FPbFactor = spread, spread
	p.Rc.IAqMode = x264c.AqNone
	p.Rc.BMbTree = 0
	p.Rc.ILookahead = 0
	// With variable-rate input x264 holds one picture back to learn its
	// duration; the SPS is rewritten to claim no fixed rate instead.
	p.BVfrInput = 0
	p.IFpsNum, p.IFpsDen = uint32(fps), 1
	p.ITimebaseNum, p.ITimebaseDen = 1, uint32(fps)
}

func setBitstream(p *x264c.Param) {
	p.BAud = 0
	p.BRepeatHeaders = 1
	p.BAnnexb = 0
	p.Vui.IColorprim = 1 // BT.709, tables E-3 to E-5
	p.Vui.ITransfer = 1
	p.Vui.IColmatrix = 1
	p.Vui.BFullrange = 0
}

// setAnalysis adds to the preset what screens need, turns off what trades
// PSNR for a film-like look, and skips macroblocks whose source did not
// change.
//
// Measured on 1080p text at QP 22, in the same time each: uneven
// multi-hexagon search makes 25 KB a picture of a terminal that scrolls by
// three lines, where ultrafast's diamond makes 90; a range of 64 makes 12, and
// 17 where it scrolls by 120 pixels and a range of 16 makes 131. 4x4 intra
// blocks make an IDR picture of text 14 % smaller; in P pictures they cost up to
// 5 % of the time and saved no byte.
func setAnalysis(p *x264c.Param, profile h264.Profile) {
	setSearch(p, wide)
	p.Analyse.Intra |= x264c.AnalyseI4x4
	p.BDeblockingFilter = 0
	p.Analyse.BPsy = 0
	p.Analyse.ILumaDeadzone = [2]int32{interDeadzone, intraDeadzone}
	p.Analyse.BMbInfo = 1
	p.Analyse.BMbInfoUpdate = 0
	high := int32(0)
	if profile == h264.High {
		high = 1
	}
	p.BCabac = high
	p.Analyse.BTransform8x8 = high
}

// interDeadzone and intraDeadzone are how far beyond half a quantizer step a
// coefficient still rounds to zero, in 64ths of a step. x264's 21 and 11 suit
// films, whose grain is not worth its bytes. 200 pictures of moving text at 720p
// and QP 16 had 47.9 dB with those and 49.3 with 10, at the same 15 kB and time;
// 6 gives 0.4 dB more and makes refining a still page take 15 % more bytes. But 10
// also codes the grain of a film: at QP 26 and 720p that took 1.9 Mbit/s for 38.8
// dB, where 15 takes 1.15 for 39.0 and 21 takes 0.97 for 38.9. On a viewer's screen
// moving text had 47.1 dB with 11 at QP 16, and has 47.5 with 16 at QP 15; x264's own
// control has 47.1 at 8 Mbit/s.
const interDeadzone, intraDeadzone = 16, 10

// setSearch sets how far motion is looked for; search.go chooses.
func setSearch(p *x264c.Param, r reach) {
	switch r {
	case near:
		p.Analyse.IMeMethod, p.Analyse.IMeRange = x264c.MeDia, 16
	case narrow:
		p.Analyse.IMeMethod, p.Analyse.IMeRange = x264c.MeHex, 16
	default:
		p.Analyse.IMeMethod, p.Analyse.IMeRange = x264c.MeUmh, 64
	}
}

func x264Profile(p h264.Profile) string {
	if p == h264.High {
		return "high"
	}
	return "baseline"
}

func probe() Capabilities {
	c := Capabilities{Encoder: "x264 core " + strconv.Itoa(x264c.Build) + ", " + x264Origin, Converter: converterName}
	if err := checkBuild(); err != nil {
		return Capabilities{Converter: converterName, Warning: err.Error()}
	}
	p := new(x264c.Param)
	x264c.ParamDefault(p)
	c.Assembly = assemblyName(p.Cpu)
	if c.Assembly == "" {
		c.Warning = "x264 runs without assembly, two to three times slower than it could; install libx264-dev and build with the tags extlib,pkgconfig (make does so by itself)"
	}
	return c
}
