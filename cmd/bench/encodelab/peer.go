package encodelab

import (
	"errors"
	"image"
	"time"

	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
)

// unit is what an encoder made of a picture.
type unit struct {
	nals      [][]byte
	sizeBytes int
	qp        int
	kind      ratecontrol.Kind
	allowed   int // bytes that the controller would have let it take
	// placeholder went before it, in the place of one that was too large.
	placeholder [][]byte
}

// encoder is one way to control an encoder. Times are virtual.
type encoder interface {
	// encode makes a unit of a picture that is new since the last call, or of
	// the one before, sharper, where the frame is nil; one without NALs where
	// there is nothing to sharpen yet.
	encode(now time.Duration, f *gpu.Frame) (unit, error)
	// again says when the last picture should be encoded once more.
	again(now time.Duration) (time.Duration, bool)
	close()
}

// setup is what every peer is given alike.
type setup struct {
	workload Workload
	target   rate.Rate
	most     rate.Rate // of the whole stream, on the average; 0: no bound
	preset   string
	threads  int
}

// Peer is one of those compared.
type Peer struct {
	Name string
	open func(setup) (encoder, error)
}

// Ours is the host's own encoder under its own rate control.
var Ours = Peer{"ours", openOurs}

// epoch is what virtual time counts from.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type ours struct {
	encoder encode.Encoder
	control *ratecontrol.Controller
	size    image.Point
	loaded  bool
}

func openOurs(s setup) (encoder, error) {
	e, err := encode.Open(encode.Config{Size: s.workload.Size, FPS: FPS, Preset: s.preset, Threads: s.threads})
	if err != nil {
		return nil, err
	}
	c := ratecontrol.New(ratecontrol.Config{Target: s.target, MaxAverage: s.most, FPS: FPS})
	return &ours{encoder: e, control: c, size: s.workload.Size}, nil
}

func (o *ours) encode(now time.Duration, f *gpu.Frame) (unit, error) {
	kind, damage := ratecontrol.Refine, []image.Rectangle{}
	if f != nil {
		if err := o.encoder.Load(f); err != nil {
			return unit{}, err
		}
		kind, damage = ratecontrol.Motion, f.Damage
		if !o.loaded {
			kind = ratecontrol.Key
		}
		o.loaded = true
	}
	at := epoch.Add(now)
	d := o.control.Plan(at, ratecontrol.Picture{Size: o.size, Damage: damage, Kind: kind})
	if kind == ratecontrol.Refine && d.Sharpen == nil {
		return unit{}, nil
	}
	u, err := o.encoder.Encode(encode.Order{QP: d.QP, Sharpen: d.Sharpen, Key: kind == ratecontrol.Key})
	if err != nil {
		return unit{}, err
	}
	out := unit{kind: kind}
	if coarser, redo := o.control.Redo(d, u.SizeBytes, u.Hasty); redo {
		if u, d, err = o.redo(&out, u, d, coarser); err != nil {
			return unit{}, err
		}
	}
	o.control.Done(at, kind, u.QP, u.SizeBytes)
	out.nals, out.qp, out.allowed = u.NALs, u.QP, d.AllowedBytes
	out.sizeBytes += u.SizeBytes
	return out, nil
}

// redo encodes a picture once more, coarser, and leaves a placeholder where it
// was, as a session does for viewers that need one.
func (o *ours) redo(out *unit, u encode.AccessUnit, d, coarser ratecontrol.Decision) (encode.AccessUnit, ratecontrol.Decision, error) {
	p, err := o.encoder.Drop()
	if errors.Is(err, encode.ErrNotDroppable) {
		return u, d, nil
	}
	if err != nil {
		return u, d, err
	}
	out.placeholder, out.sizeBytes = p.NALs, p.SizeBytes
	u, err = o.encoder.Encode(encode.Order{QP: coarser.QP, Sharpen: coarser.Sharpen})
	return u, coarser, err
}

func (o *ours) again(now time.Duration) (time.Duration, bool) {
	at, ok := o.control.NextRefine(epoch.Add(now))
	return max(at.Sub(epoch), now), ok
}

func (o *ours) close() { _ = o.encoder.Close() }
