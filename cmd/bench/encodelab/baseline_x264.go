//go:build cgo

package encodelab

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"

	"github.com/gen2brain/x264-go/x264c"
)

// baseline is x264 under its own rate control, as its preset and the tuning for
// low delay set it up. It converts as ours does, and by the same damage.
type baseline struct {
	x264    *x264c.T
	picture *x264c.Picture
	out     *x264c.Picture
	target  encode.NV12
	count   int64
}

// errX264 is x264's only kind of error.
var errX264 = errors.New("x264 refuses")

func openX264(s setup, r regime) (encoder, error) {
	p, err := x264Params(s, r)
	if err != nil {
		return nil, err
	}
	b := &baseline{picture: new(x264c.Picture), out: new(x264c.Picture)}
	x264c.PictureInit(b.out)
	if x264c.PictureAlloc(b.picture, x264c.CspNv12, p.IWidth, p.IHeight) < 0 {
		return nil, fmt.Errorf("%w a picture of %dx%d", errX264, p.IWidth, p.IHeight)
	}
	size := encode.CodedSize(s.workload.Size)
	img := b.picture.Img
	b.target = encode.NV12{
		Size: size, LumaStride: int(img.IStride[0]), ChromaStride: int(img.IStride[1]),
		Luma:   unsafe.Slice((*byte)(img.Plane[0]), int(img.IStride[0])*size.Y),
		Chroma: unsafe.Slice((*byte)(img.Plane[1]), int(img.IStride[1])*size.Y/2),
	}
	if b.x264 = x264c.EncoderOpen(p); b.x264 == nil {
		return nil, fmt.Errorf("%w these parameters", errX264)
	}
	return b, nil
}

func x264Params(s setup, r regime) (*x264c.Param, error) {
	p := new(x264c.Param)
	if x264c.ParamDefaultPreset(p, s.preset, "zerolatency") < 0 {
		return nil, fmt.Errorf("%w the preset %q", errX264, s.preset)
	}
	size := encode.CodedSize(s.workload.Size)
	p.IWidth, p.IHeight, p.ICsp = int32(size.X), int32(size.Y), x264c.CspNv12
	p.ILogLevel, p.IThreads, p.ILookaheadThreads = x264c.LogNone, int32(s.threads), 1
	p.IKeyintMax = x264c.KeyintMaxInfinite
	p.BAud, p.BAnnexb, p.BRepeatHeaders = 0, 0, 1
	p.IFpsNum, p.IFpsDen = FPS, 1
	kbps := int32(s.bound() / rate.Kbps)
	p.Rc.IVbvMaxBitrate, p.Rc.IVbvBufferSize = kbps, kbps*int32(r.vbvFrame)/FPS
	p.Rc.IRcMethod, p.Rc.FRfConstant = x264c.RcCrf, r.crf
	if r.crf == 0 {
		p.Rc.IRcMethod, p.Rc.IBitrate = x264c.RcAbr, kbps
	}
	if x264c.ParamApplyProfile(p, "baseline") < 0 {
		return nil, fmt.Errorf("%w the baseline profile", errX264)
	}
	return p, nil
}

// sizePrefix is what x264 puts before a unit when it writes no start codes.
const sizePrefix = 4

func (b *baseline) encode(_ time.Duration, f *gpu.Frame) (unit, error) {
	b.target.Convert(f)
	b.picture.IPts, b.picture.IType = b.count, x264c.TypeAuto
	b.count++
	nals, count := make([]*x264c.Nal, 1), int32(0)
	size := x264c.EncoderEncode(b.x264, nals, &count, b.picture, b.out)
	if size <= 0 {
		return unit{}, fmt.Errorf("x264 gave no unit for picture %d", b.count)
	}
	first := unsafe.Slice(nals[0], count)
	u := unit{sizeBytes: int(size), qp: int(b.out.IQpplus1) - 1, kind: ratecontrol.Motion}
	for _, n := range first {
		u.nals = append(u.nals, append([]byte(nil), unsafe.Slice((*byte)(n.PPayload), n.IPayload)[sizePrefix:]...))
	}
	if b.out.BKeyframe != 0 {
		u.kind = ratecontrol.Key
	}
	return u, nil
}

func (b *baseline) again(time.Duration) (time.Duration, bool) { return 0, false }

func (b *baseline) close() {
	x264c.EncoderClose(b.x264)
	x264c.PictureClean(b.picture)
}
