package encode

import "nearglass/gpu/encode/h264"

// parameterSets are those that the slices of a stream refer to.
type parameterSets struct {
	sps h264.SPS
	pps h264.PPS
}

// note reads a parameter set out of the stream and gives it as it is sent; an
// SPS is rewritten for the profile. Other units pass.
func (p *parameterSets) note(nal []byte, profile h264.Profile) ([]byte, error) {
	var err error
	switch h264.TypeOf(nal) {
	case h264.TypeSPS:
		if nal, err = h264.RewriteSPS(nal, profile); err != nil {
			return nil, err
		}
		p.sps, err = h264.ParseSPS(nal)
	case h264.TypePPS:
		p.pps, err = h264.ParsePPS(nal)
	}
	return nal, err
}

// droppable is the unit that was encoded last, as long as it can be dropped.
type droppable struct {
	slices  [][]byte // nil when it cannot
	qp      int
	changed int // pixels that were loaded for it
	inARow  int // units that were dropped right before it
}

// keep remembers a unit that was just encoded.
func (d *droppable) keep(u AccessUnit, changed int) {
	d.slices, d.qp, d.changed = u.NALs, u.QP, changed
	if u.Key {
		d.slices, d.inARow = nil, 0
	}
}

// settle says that the unit, unless it was dropped, has been sent: another one
// is about to follow it.
func (d *droppable) settle() {
	if d.slices != nil {
		d.inARow = 0
	}
}

// drop gives the unit of the slices that go in the place of the dropped one.
func (d *droppable) drop(slices [][]byte) AccessUnit {
	u := AccessUnit{NALs: slices, QP: d.qp}
	for _, nal := range slices {
		u.SizeBytes += len(nal)
	}
	d.slices = nil
	d.inARow++
	return u
}
