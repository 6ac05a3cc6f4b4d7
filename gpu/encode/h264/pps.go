package h264

import (
	"errors"
	"fmt"
)

// errUnsupported marks syntax that no encoder here writes and that these
// functions would get wrong: fields, slice groups, weighted prediction, and
// slices other than I and P.
var errUnsupported = errors.New("syntax that nearglass does not use")

// PPS is the part of a picture parameter set (H.264 7.3.2.2) that a slice
// header depends on. What follows it in the unit, such as transform_8x8_mode,
// is not read.
type PPS struct {
	ID, SPSID                uint32
	CABAC                    bool // entropy_coding_mode_flag
	BottomFieldPicOrder      bool // bottom_field_pic_order_in_frame_present_flag
	NumRefIdxL0DefaultMinus1 uint32
	NumRefIdxL1DefaultMinus1 uint32
	WeightedPred             bool
	WeightedBipredIDC        uint32
	PicInitQPMinus26         int32
	PicInitQSMinus26         int32
	ChromaQPIndexOffset      int32
	DeblockingControlPresent bool
	ConstrainedIntraPred     bool
	RedundantPicCntPresent   bool
}

// ParsePPS reads a NAL unit of type 8, without start code. A set with slice
// groups is an error.
func ParsePPS(nal []byte) (PPS, error) {
	if TypeOf(nal) != TypePPS {
		return PPS{}, fmt.Errorf("pps: unit of type %d is no picture parameter set", TypeOf(nal))
	}
	var p PPS
	c := &parser{BitReader: NewBitReader(Unescape(nal[1:]))}
	p.walk(c)
	if err := c.Err(); err != nil {
		return PPS{}, fmt.Errorf("pps: %w", err)
	}
	return p, nil
}

func (p *PPS) walk(c *parser) {
	c.ue(&p.ID, 255)
	c.ue(&p.SPSID, 31)
	c.flag(&p.CABAC)
	c.flag(&p.BottomFieldPicOrder)
	if c.UE() > 0 { // num_slice_groups_minus1
		c.fail(errUnsupported)
	}
	c.ue(&p.NumRefIdxL0DefaultMinus1, 31)
	c.ue(&p.NumRefIdxL1DefaultMinus1, 31)
	c.flag(&p.WeightedPred)
	c.bits(2, &p.WeightedBipredIDC)
	c.se(&p.PicInitQPMinus26)
	c.se(&p.PicInitQSMinus26)
	c.se(&p.ChromaQPIndexOffset)
	c.flag(&p.DeblockingControlPresent)
	c.flag(&p.ConstrainedIntraPred)
	c.flag(&p.RedundantPicCntPresent)
}
