package encode

import "nearglass/gpu/encode/h264"

// parameterSets are those that the slices of a stream refer to.
type parameterSets struct {
	profile h264.Profile
	gaps    bool // as Config.Gaps

	sps    h264.SPS
	pps    h264.PPS
	before h264.SPS // sps as the encoder wrote it
}

// pass takes a unit as the encoder wrote it and gives it as it is sent. Parameter
// sets are noted. since is how many pictures came after the last key frame.
func (p *parameterSets) pass(nal []byte, since uint64) ([]byte, error) {
	var err error
	switch h264.TypeOf(nal) {
	case h264.TypeSPS:
		if p.before, err = h264.ParseSPS(nal); err != nil {
			return nil, err
		}
		if nal, err = h264.RewriteSPS(nal, p.profile, p.gaps); err != nil {
			return nil, err
		}
		p.sps, err = h264.ParseSPS(nal)
	case h264.TypePPS:
		p.pps, err = h264.ParsePPS(nal)
	case h264.TypeSlice, h264.TypeIDR:
		if p.gaps {
			return h264.Widen(nal, &p.before, &p.sps, &p.pps, uint32(since%p.sps.FrameNums()))
		}
	}
	return nal, err
}

// droppable is the unit that was encoded last, as long as it can be dropped.
type droppable struct {
	slices  [][]byte // nil when it cannot
	unit    AccessUnit
	changed int // pixels that were loaded for it
}

// keep remembers a unit that was just encoded.
func (d *droppable) keep(u AccessUnit, changed int) {
	d.slices, d.unit, d.changed = u.NALs, u, changed
	if u.Key {
		d.slices = nil
	}
}

// drop gives the unit of the slices that go in the place of the dropped one.
func (d *droppable) drop(slices [][]byte) AccessUnit {
	u := AccessUnit{NALs: slices, Number: d.unit.Number, Reference: d.unit.Reference, QP: d.unit.QP}
	for _, nal := range slices {
		u.SizeBytes += len(nal)
	}
	d.slices, d.unit = nil, AccessUnit{}
	return u
}
