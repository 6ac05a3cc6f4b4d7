package h264

import (
	"errors"
	"fmt"
)

// Slice types (H.264 table 7-6), modulo 5.
const (
	SliceP = 0
	SliceI = 2
)

// SliceHeader is the header of an I or P slice of a frame (H.264 7.3.3). The
// field names are those of the standard. Fields that the header does not carry
// are zero, or what the standard infers where that is not zero.
type SliceHeader struct {
	RefIDC uint8    // nal_ref_idc of the unit it came in
	Unit   UnitType // TypeSlice or TypeIDR

	FirstMB                 uint32
	Type                    uint32 // SliceP or SliceI, or 5 more: all slices of the picture are
	PPSID                   uint32
	FrameNum                uint32
	IDRPicID                uint32
	PicOrderCntLSB          uint32
	DeltaPicOrderCntBottom  int32
	DeltaPicOrderCnt        [2]int32
	RedundantPicCnt         uint32
	NumRefIdxOverride       bool
	NumRefIdxL0ActiveMinus1 uint32

	// ListModified is ref_pic_list_modification_flag_l0; the operations end
	// with one of IDC 3.
	ListModified  bool
	Modifications []ListModification

	NoOutputOfPriorPics bool // of an IDR picture
	LongTermReference   bool // of an IDR picture
	// AdaptiveMarking takes the place of the sliding window; the operations
	// end with one of Op 0.
	AdaptiveMarking bool
	Markings        []Marking

	CABACInitIDC      uint32
	QPDelta           int32
	DisableDeblocking uint32 // disable_deblocking_filter_idc
	AlphaOffsetDiv2   int32
	BetaOffsetDiv2    int32
}

// ListModification is one modification_of_pic_nums_idc and what follows it
// (H.264 7.3.3.1).
type ListModification struct {
	IDC   uint32
	Value uint32 // abs_diff_pic_num_minus1, or long_term_pic_num at IDC 2
}

// Marking is one memory_management_control_operation with its values in order
// (H.264 7.3.3.3).
type Marking struct {
	Op     uint32
	Values [2]uint32
}

// maxRefs is the most entries of a reference list of a frame, num_ref_idx_l0_active_minus1 + 1.
const maxRefs = 32

// maxHeaderBytes is more than a header takes: at most maxRefs modifications and
// as many markings, of at most 16 bytes each.
const maxHeaderBytes = 2048

// errOperations is a list of reference operations without its end.
var errOperations = errors.New("a list of operations on references does not end")

// ParseSliceHeader reads the header of a slice, a NAL unit of type 1 or 5
// without start code, that refers to these parameter sets. Fields, slice
// groups, weighted prediction and slices other than I and P are errors.
func ParseSliceHeader(nal []byte, sps *SPS, pps *PPS) (SliceHeader, error) {
	t := TypeOf(nal)
	if t != TypeSlice && t != TypeIDR {
		return SliceHeader{}, fmt.Errorf("slice: unit of type %d is no slice", t)
	}
	h := SliceHeader{RefIDC: nal[0] >> 5 & 3, Unit: t, NumRefIdxL0ActiveMinus1: pps.NumRefIdxL0DefaultMinus1}
	c := &parser{BitReader: NewBitReader(Unescape(nal[1:min(len(nal), maxHeaderBytes)]))}
	h.walk(c, sps, pps)
	if err := errors.Join(c.Err(), h.check(sps, pps)); err != nil {
		return SliceHeader{}, fmt.Errorf("slice: %w", err)
	}
	return h, nil
}

// check finds what a walk cannot say.
func (h *SliceHeader) check(sps *SPS, pps *PPS) error {
	kind := h.Type % 5
	switch {
	case h.PPSID != pps.ID || pps.SPSID != sps.ID:
		return fmt.Errorf("it is of parameter sets %d and %d: %w", h.PPSID, pps.SPSID, errRange)
	case !sps.FrameMBsOnly || sps.SeparateColourPlane,
		kind != SliceP && kind != SliceI,
		kind == SliceP && pps.WeightedPred:
		return errUnsupported
	case len(h.Modifications) > 0 && h.Modifications[len(h.Modifications)-1].IDC != endOfModifications:
		return errOperations
	}
	return nil
}

func (h *SliceHeader) walk(c coder, sps *SPS, pps *PPS) {
	c.ue(&h.FirstMB, 1<<24)
	c.ue(&h.Type, 9)
	c.ue(&h.PPSID, 255)
	c.bits(int(sps.Log2MaxFrameNumMinus4)+4, &h.FrameNum)
	if h.Unit == TypeIDR {
		c.ue(&h.IDRPicID, 65535)
	}
	h.walkOrder(c, sps, pps)
	if pps.RedundantPicCntPresent {
		c.ue(&h.RedundantPicCnt, 127)
	}
	if h.Type%5 == SliceP {
		h.walkReferences(c)
	}
	if h.RefIDC != 0 {
		h.walkMarking(c)
	}
	if pps.CABAC && h.Type%5 != SliceI {
		c.ue(&h.CABACInitIDC, 2)
	}
	c.se(&h.QPDelta)
	if pps.DeblockingControlPresent {
		c.ue(&h.DisableDeblocking, 2)
		if h.DisableDeblocking != 1 {
			c.se(&h.AlphaOffsetDiv2)
			c.se(&h.BetaOffsetDiv2)
		}
	}
}

func (h *SliceHeader) walkOrder(c coder, sps *SPS, pps *PPS) {
	switch {
	case sps.PicOrderCntType == 0:
		c.bits(int(sps.Log2MaxPOCLSBMinus4)+4, &h.PicOrderCntLSB)
		if pps.BottomFieldPicOrder {
			c.se(&h.DeltaPicOrderCntBottom)
		}
	case sps.PicOrderCntType == 1 && !sps.DeltaPicOrderAlwaysZero:
		c.se(&h.DeltaPicOrderCnt[0])
		if pps.BottomFieldPicOrder {
			c.se(&h.DeltaPicOrderCnt[1])
		}
	}
}

// endOfModifications is the modification_of_pic_nums_idc that ends the list.
const endOfModifications = 3

func (h *SliceHeader) walkReferences(c coder) {
	c.flag(&h.NumRefIdxOverride)
	if h.NumRefIdxOverride {
		c.ue(&h.NumRefIdxL0ActiveMinus1, maxRefs-1)
	}
	c.flag(&h.ListModified)
	if !h.ListModified {
		return
	}
	for i := range maxRefs + 1 {
		if i == len(h.Modifications) {
			h.Modifications = append(h.Modifications, ListModification{})
		}
		m := &h.Modifications[i]
		c.ue(&m.IDC, endOfModifications)
		if m.IDC == endOfModifications {
			return
		}
		c.ue(&m.Value, noLimit)
	}
}

// markingValues is the number of values of each
// memory_management_control_operation.
var markingValues = [...]int{0, 1, 1, 2, 1, 0, 1}

func (h *SliceHeader) walkMarking(c coder) {
	if h.Unit == TypeIDR {
		c.flag(&h.NoOutputOfPriorPics)
		c.flag(&h.LongTermReference)
		return
	}
	c.flag(&h.AdaptiveMarking)
	for i := 0; h.AdaptiveMarking; i++ {
		if i == len(h.Markings) {
			h.Markings = append(h.Markings, Marking{})
		}
		m := &h.Markings[i]
		c.ue(&m.Op, uint32(len(markingValues)-1))
		for v := range markingValues[m.Op] {
			c.ue(&m.Values[v], noLimit)
		}
		if m.Op == 0 {
			return
		}
	}
}
