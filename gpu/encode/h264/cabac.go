package h264

// cabacQP is the slice QP of a placeholder in CABAC. The QP chooses how the
// contexts begin, and here mb_skip_flag is expected to be 1 from the start, so
// that only the more probable value is ever coded.
const cabacQP = 51

// skipStates is the pStateIdx at cabacQP of context 11 (mb_skip_flag of a P
// slice whose neighbors are all skipped) for each cabac_init_idc (H.264
// 9.3.1.1 and table 9-13); valMPS is 1 in all three.
var skipStates = [3]int{42, 31, 44}

// leastSkipState is where rangeLPS begins.
const leastSkipState = 31

// rangeLPS is rangeTabLPS (H.264 table 9-44) from pStateIdx 31 to 62.
var rangeLPS = [...][4]uint32{
	{29, 35, 41, 48}, {27, 33, 39, 45}, {26, 31, 37, 43}, {24, 30, 35, 41},
	{23, 28, 33, 39}, {22, 27, 32, 37}, {21, 26, 30, 35}, {20, 24, 29, 33},
	{19, 23, 27, 31}, {18, 22, 26, 30}, {17, 21, 25, 28}, {16, 20, 23, 27},
	{15, 19, 22, 25}, {14, 18, 21, 24}, {14, 17, 20, 23}, {13, 16, 19, 22},
	{12, 15, 18, 21}, {12, 14, 17, 20}, {11, 14, 16, 19}, {11, 13, 15, 18},
	{10, 12, 15, 17}, {10, 12, 14, 16}, {9, 11, 13, 15}, {9, 11, 12, 14},
	{8, 10, 12, 14}, {8, 9, 11, 13}, {7, 9, 11, 12}, {7, 9, 10, 12},
	{7, 8, 10, 11}, {6, 8, 9, 11}, {6, 7, 9, 10}, {6, 7, 8, 9},
}

// skipAll writes the slice_data of so many skipped macroblocks of a P slice in
// CABAC (H.264 7.3.4 and 9.3.4), without the stop bit: for each macroblock
// mb_skip_flag and end_of_slice_flag. A picture of 1080p takes about 40 bytes.
//
// The more probable value and an end_of_slice_flag of 0 both lie at the bottom
// of the coding interval. So its lower end stays at zero until the last flag,
// and each step that widens the interval again writes a zero.
func (w *BitWriter) skipAll(initIDC uint32, macroblocks int) {
	for w.used != 0 {
		w.Bit(1) // cabac_alignment_one_bit
	}
	state, width := skipStates[initIDC], uint32(510)
	for i := range macroblocks {
		width = w.widen(width - rangeLPS[state-leastSkipState][width>>6&3])
		state = min(state+1, leastSkipState+len(rangeLPS)-1)
		width -= 2
		if i < macroblocks-1 {
			width = w.widen(width)
		}
	}
	// EncodeFlush: the lower end is now width, in ten bits. The first bit of a
	// slice is left out and the last is the stop bit.
	w.Bits(8, width>>1)
}

// widen is RenormE (H.264 9.3.4.2) of an interval whose lower end is zero.
func (w *BitWriter) widen(width uint32) uint32 {
	for ; width < 256; width <<= 1 {
		w.Bit(0)
	}
	return width
}
