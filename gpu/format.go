// Package gpu holds pictures on their way from capture to the encoders.
//
// A Ring has one writer, which is a capture, and any number of readers, one
// for each viewer's encoder. Pictures lie in a few slots of memory that are
// used again and again. A slot is free when no reader holds it and it is not
// the newest picture. A slow reader therefore loses pictures; it never slows
// the writer or another reader.
//
// Only what changed is copied: the writer is told where the slot it was given
// is older than the newest picture, and every reader is told what may differ
// from the picture that it took before.
package gpu

// Format says how the bytes of one pixel are arranged.
type Format uint8

// BGRA is four bytes a pixel: blue, green, red, and one that is ignored.
const BGRA Format = 1

// BytesPerPixel returns the size of one pixel, or 0 for an unknown format.
func (f Format) BytesPerPixel() int {
	if f == BGRA {
		return 4
	}
	return 0
}

// String names the format.
func (f Format) String() string {
	if f == BGRA {
		return "BGRA"
	}
	return "unknown format"
}

// Memory is the host memory of one slot.
type Memory struct {
	Pix  []byte // at least stride times height bytes
	Free func() // called once when nobody uses the memory any more; may be nil
}

// HostMemory returns n slots of ordinary memory, each of sizeBytes bytes.
func HostMemory(n, sizeBytes int) []Memory {
	mem := make([]Memory, n)
	for i := range mem {
		mem[i].Pix = make([]byte, sizeBytes)
	}
	return mem
}
