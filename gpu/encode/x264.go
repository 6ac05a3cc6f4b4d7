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

// references is the number of pictures that a P picture may be predicted from
// and that a decoder keeps. One is the cheapest; more are needed only to
// repair a loss by choosing an older one.
const references = 1

// initQP is only the QP that slice headers count from (pic_init_qp); each
// picture names its own.
const initQP = 26

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
		return nil, fmt.Errorf("encode: x264 has no preset %q", c.Preset)
	}
	size := CodedSize(c.Size)
	p.IWidth, p.IHeight = int32(size.X), int32(size.Y)
	p.ICsp = x264c.CspNv12
	p.ILevelIdc = -1 // chosen by x264 from size, rate and references
	p.ILogLevel = x264c.LogNone

	p.IThreads = int32(c.Threads)
	p.BSlicedThreads = 1
	p.ILookaheadThreads = 1

	p.IFrameReference = references
	p.IDpbSize = references
	p.IKeyintMax = x264c.KeyintMaxInfinite
	p.IScenecutThreshold = 0
	p.IBframe = 0
	p.Analyse.IWeightedPred = x264c.WeightpNone

	setRate(p, c.FPS)
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
	p.Rc.IQpMin, p.Rc.IQpMax = MinQP, MaxQP
	p.Rc.IAqMode = x264c.AqNone
	p.Rc.BMbTree = 0
	p.Rc.ILookahead = 0
	// Pictures come when something changes: no fixed rate is claimed.
	p.BVfrInput = 1
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

// setAnalysis turns off what trades PSNR for a film-like look, and skips
// macroblocks whose source did not change.
func setAnalysis(p *x264c.Param, profile h264.Profile) {
	p.Analyse.BPsy = 0
	p.Analyse.BMbInfo = 1
	p.Analyse.BMbInfoUpdate = 0
	high := int32(0)
	if profile == h264.High {
		high = 1
	}
	p.BCabac = high
	p.Analyse.BTransform8x8 = high
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
