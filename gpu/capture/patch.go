package capture

import (
	"encoding/binary"
	"image"

	"nearglass/gpu"
)

// The patch of the pattern is a grid of black and white squares at the top
// left of the picture that carries a frame number through a lossy encoder:
//
//	8 columns by 5 rows of squares of 16 x 16 pixels, 128 x 80 in all.
//	Rows 0 to 3: the number, 32 bits, the highest bit first, row by row.
//	Row 4: a check byte, so that a wrong read is told from a right one and
//	a plain black or white area is never taken for a number.
//	White is 1, black is 0.
const (
	patchCols   = 8
	patchRows   = 5
	patchSquare = 16
)

// PatchBounds is the part of the picture that the patch covers.
var PatchBounds = image.Rect(0, 0, patchCols*patchSquare, patchRows*patchSquare)

// patchCheck is CRC-8 with the polynomial of ITU-T I.432.1 (x^8+x^2+x+1) over
// the four bytes of the number, with all bits of the start value set.
func patchCheck(number uint32) uint8 {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], number)
	crc := uint8(0xff)
	for _, v := range b {
		crc ^= v
		for range 8 {
			if crc&0x80 != 0 {
				crc = crc<<1 ^ 0x07
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// DrawPatch writes the patch with this number into a BGRA or RGBA picture.
func DrawPatch(pix []byte, stride int, number uint32) {
	bits := uint64(number)<<8 | uint64(patchCheck(number))
	for row := range patchRows {
		for y := row * patchSquare; y < (row+1)*patchSquare; y++ {
			line := pix[y*stride:]
			for col := range patchCols {
				v := byte(0)
				if bits>>(patchRows*patchCols-1-row*patchCols-col)&1 == 1 {
					v = 0xff
				}
				for i := col * patchSquare * 4; i < (col+1)*patchSquare*4; i++ {
					line[i] = v
				}
			}
		}
	}
}

// ReadPatch reads the number from a picture of four bytes a pixel, BGRA or
// RGBA alike, whose patch starts at pix[0] and is drawn at its own size. It
// answers false when the check does not fit.
func ReadPatch(pix []byte, stride int) (number uint32, ok bool) {
	return ReadPatchScaled(pix, stride, 1)
}

// ReadPatchScaled is ReadPatch for a picture that was scaled: a square is
// 16 times scale pixels wide.
func ReadPatchScaled(pix []byte, stride int, scale float64) (number uint32, ok bool) {
	var bits uint64
	for row := range patchRows {
		for col := range patchCols {
			white, ok := squareIsWhite(pix, stride, row, col, scale)
			if !ok {
				return 0, false
			}
			bits <<= 1
			if white {
				bits |= 1
			}
		}
	}
	number = uint32(bits >> 8)
	return number, uint8(bits) == patchCheck(number)
}

// squareIsWhite looks at the green of a few pixels around the middle of the
// square, which an encoder blurs least.
func squareIsWhite(pix []byte, stride, row, col int, scale float64) (white, ok bool) {
	side := patchSquare * scale
	cx, cy := int((float64(col)+0.5)*side), int((float64(row)+0.5)*side)
	reach := max(int(side/8), 0)
	sum, n := 0, 0
	for y := cy - reach; y <= cy+reach; y++ {
		for x := cx - reach; x <= cx+reach; x++ {
			i := y*stride + x*gpu.BGRA.BytesPerPixel() + 1
			if i < 0 || i >= len(pix) {
				return false, false
			}
			sum += int(pix[i])
			n++
		}
	}
	return sum >= 128*n, true
}
