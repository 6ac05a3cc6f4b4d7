package session

import (
	"errors"
	"fmt"
	"image"
	"time"

	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
	"nearglass/telemetry"
)

// encode has the loaded picture encoded, and made ready to be sent. Damage is what
// changed of it; nil: all.
func (v *video) encode(now, captured time.Time, kind ratecontrol.Kind, damage []image.Rectangle) error {
	size := v.sizer.sent
	kind, missing := v.mending.picture(v.frame, kind)
	d := v.plan(now, ratecontrol.Picture{Size: size, Damage: damage, Missing: missing, Kind: kind}, captured.Equal(now))
	if kind == ratecontrol.Refine && d.Sharpen == nil {
		return nil
	}
	au, d, err := v.withinBudget(d, captured, kind)
	if err != nil {
		return fmt.Errorf("encoding a %s picture of %dx%d: %w", kind, size.X, size.Y, err)
	}
	budget := v.rc.Snapshot()
	v.rc.Done(now, kind, au.QP, au.SizeBytes)
	v.sizer.ladder.Observe(now, ratecontrol.Coded{Kind: kind, QP: au.QP, SizeBytes: au.SizeBytes, AllowedBytes: d.AllowedBytes})
	u := v.add(au, captured)
	v.marks.sent(marked{v.mark, u.timestamp})
	v.c.Meter.Encoded(now, telemetry.Picture{
		Frame: u.frame, RTP: u.timestamp, SizeBytes: au.SizeBytes, Captured: captured, Converted: v.converted, Encoded: time.Now(),
		Why: v.why, Again: captured.Equal(now),
		Width: size.X, Height: size.Y, QP: au.QP, PSNR: au.PSNR, Key: au.Key, Refine: kind == ratecontrol.Refine,
		BudgetBytes: d.AllowedBytes, BudgetKbps: kbps(budget.Target), Capped: budget.Capped, Wait: now.Sub(captured), Convert: au.Convert, Encode: au.Encode,
	})
	return nil
}

// plan decides how to encode a picture. One that the viewer has, and that is coded
// from nothing without being asked for, has become larger: nobody waits for it.
func (v *video) plan(now time.Time, p ratecontrol.Picture, again bool) ratecontrol.Decision {
	if p.Kind == ratecontrol.Key && again && v.why == telemetry.KeyStart {
		return v.rc.PlanLarger(now, p)
	}
	return v.rc.Plan(now, p)
}

// withinBudget encodes the loaded picture as decided. One that comes out far too
// large is dropped, and encoded once more, coarser; a placeholder goes first, so
// that the stream has no gap where the viewer could not do with one. Once is
// enough: what the first taught, the second keeps to.
func (v *video) withinBudget(d ratecontrol.Decision, captured time.Time, kind ratecontrol.Kind) (encode.AccessUnit, ratecontrol.Decision, error) {
	first, err := v.encoder.Encode(encode.Order{QP: d.QP, Bitrate: d.Bitrate, Sharpen: d.Sharpen, Key: kind == ratecontrol.Key, Newest: v.mending.take()})
	if err != nil {
		return first, d, err
	}
	coarser, redo := v.rc.Redo(d, first.SizeBytes, first.Hasty)
	if !redo && !v.redoOnPurpose(kind) {
		return first, d, nil
	}
	placeholder, err := v.encoder.Drop()
	if errors.Is(err, encode.ErrNotDroppable) {
		return first, d, nil
	}
	if err != nil {
		return first, d, err
	}
	if v.c.Gaps {
		v.frame++ // the viewer can do without it, and nothing will refer to it
	} else {
		v.add(placeholder, captured)
	}
	v.c.Meter.Redone()
	second, err := v.encoder.Encode(encode.Order{QP: coarser.QP, Bitrate: coarser.Bitrate, Sharpen: coarser.Sharpen})
	second.Convert, second.Encode = first.Convert, first.Encode+second.Encode
	return second, coarser, err
}

// redoOnPurpose says whether a picture that is not too large is dropped all the same.
func (v *video) redoOnPurpose(kind ratecontrol.Kind) bool {
	if v.c.RedoEvery <= 0 || kind == ratecontrol.Key {
		return false
	}
	v.tried++
	return v.tried%v.c.RedoEvery == 0
}

// add makes a unit ready to be sent, with a number and a timestamp of its own.
func (v *video) add(au encode.AccessUnit, captured time.Time) unit {
	v.frame++
	u := unit{au, v.frame, v.clock.at(captured), captured, v.mending.reference(v.frame, au), encode.MostReferences(v.sizer.sent)}
	v.out = append(v.out, u)
	return u
}
