package h264

import (
	"errors"
	"fmt"
)

var errNoPlaceholder = errors.New("only a P picture has a placeholder")

// Placeholder gives the slices of a picture that goes in the place of one that
// is not sent. It decodes to a copy of the picture that the unsent one was
// predicted from. slices are those of the unsent picture, all of them, in
// order, as NAL units without start codes; sps and pps are the sets they refer
// to.
//
// Each slice keeps its header, so that frame_num goes on without a gap and a
// decoder marks and orders its references just as the encoder did. Behind the
// header every macroblock is skipped: with nothing but skipped macroblocks in
// the slice each of them infers a motion of zero from reference 0 (H.264
// 8.4.1.1), no edge between them is filtered (8.7.2.1), and nothing is scaled,
// so that the slice's QP does not matter.
//
// CAVLC says so in one number a slice; for CABAC see skipAll.
func Placeholder(sps *SPS, pps *PPS, slices [][]byte) ([][]byte, error) {
	headers := make([]SliceHeader, len(slices))
	for i, nal := range slices {
		var err error
		if headers[i], err = ParseSliceHeader(nal, sps, pps); err != nil {
			return nil, fmt.Errorf("placeholder: %w", err)
		}
	}
	out := make([][]byte, len(slices))
	next := sps.macroblocks()
	for i := len(headers) - 1; i >= 0; i-- {
		h := &headers[i]
		if h.Unit == TypeIDR || h.Type%5 != SliceP {
			return nil, fmt.Errorf("placeholder: slice of type %d: %w", h.Type, errNoPlaceholder)
		}
		if h.FirstMB >= next {
			return nil, fmt.Errorf("placeholder: slices %d of %d begins at %d, the next at %d: %w", i, len(headers), h.FirstMB, next, errRange)
		}
		out[i] = h.skipped(sps, pps, int(next-h.FirstMB))
		next = h.FirstMB
	}
	if next != 0 {
		return nil, fmt.Errorf("placeholder: the first slice begins at %d: %w", next, errRange)
	}
	return out, nil
}

// macroblocks is the number of macroblocks of a picture of frames only.
func (s *SPS) macroblocks() uint32 { return (s.WidthInMBsMinus1 + 1) * (s.HeightInMapsMinus1 + 1) }

// skipped is a slice with this header and so many macroblocks, all skipped.
func (h *SliceHeader) skipped(sps *SPS, pps *PPS, macroblocks int) []byte {
	c := &composer{}
	if pps.CABAC {
		h.QPDelta = cabacQP - (26 + pps.PicInitQPMinus26)
		h.walk(c, sps, pps)
		c.skipAll(h.CABACInitIDC, macroblocks)
	} else {
		h.walk(c, sps, pps)
		c.UE(uint32(macroblocks)) // mb_skip_run
	}
	return Escape([]byte{h.RefIDC<<5 | byte(h.Unit)}, c.Finish())
}
