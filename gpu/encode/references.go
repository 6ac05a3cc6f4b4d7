package encode

import (
	"image"
	"slices"
)

// maxDPBMbs is MaxDpbMbs of level 5.1 and 5.2 (H.264 table A-1): the largest picture
// buffer that decoders in hardware commonly have.
const maxDPBMbs = 184320

// MostReferences is how many pictures of this size a decoder of level 5.1 keeps, 1
// to MaxReferences: 16 up to 2048x1280, 12 at 2560x1440, 5 at 3840x2160.
func MostReferences(size image.Point) int {
	mbs := macroblocks(CodedSize(size))
	return min(max(maxDPBMbs/max(mbs.X*mbs.Y, 1), 1), MaxReferences)
}

// references are the numbers of the pictures that the next one may be coded
// against, in rising order: those that are still in the picture buffer and were
// not given up.
type references struct {
	most    int    // pictures that the buffer holds
	wraps   uint64 // values that frame_num has, if no gap may go beyond them; 0: any may
	numbers []uint64
	key     uint64 // the newest key frame
}

// add notes a picture that was encoded. Each takes a place of the buffer, the
// dropped ones too, and pushes out the one that came so many before it.
func (r *references) add(number uint64, key bool) {
	if key {
		r.numbers, r.key = r.numbers[:0], number
	}
	r.numbers = append(r.numbers, number)
}

// giveUp forgets all pictures after the newest.
func (r *references) giveUp(newest uint64) {
	r.numbers = slices.DeleteFunc(r.numbers, func(n uint64) bool { return n > newest })
}

// of is the picture that the one with this number is coded against; 0 for none,
// when only a key frame is left. That is so too where frame_num begins anew within
// the gap between the two (see h264.SPS.AllowGaps): once in 65,536 pictures.
func (r *references) of(number uint64) uint64 {
	r.numbers = slices.DeleteFunc(r.numbers, func(n uint64) bool { return n+uint64(r.most) < number })
	if len(r.numbers) == 0 {
		return 0
	}
	newest := r.numbers[len(r.numbers)-1]
	if r.wraps > 0 && newest+1 < number && (newest-r.key)/r.wraps != (number-r.key)/r.wraps {
		return 0
	}
	return newest
}

// spares says whether a reference is left for the picture after this one when
// this one is dropped.
func (r *references) spares(number uint64) bool {
	return slices.ContainsFunc(r.numbers, func(n uint64) bool { return n < number && n+uint64(r.most) > number })
}
