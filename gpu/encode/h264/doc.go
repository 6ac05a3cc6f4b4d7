// Package h264 reads and writes the small part of an H.264 bitstream
// (Rec. ITU-T H.264) that a sender must touch itself: NAL units, Exp-Golomb
// codes, emulation prevention, the sequence parameter set, which is rewritten
// so that a decoder never waits for reordering and shows the right colors, and
// slice headers, with which Placeholder stands in for a picture that is not
// sent.
//
// Nothing here keeps state between calls, and every reader accepts hostile
// bytes: it returns an error, never panics.
package h264
