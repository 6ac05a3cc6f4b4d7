package session

import (
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
)

// mending is the video goroutine's part in repairs: it knows the encoder's numbers
// of the session's pictures.
type mending struct {
	base   uint64 // the session's number of the picture before the encoder's first
	newest uint64 // the next picture may refer to it or older ones; 0: to any
}

// begin notes that an encoder was opened after the picture with that number.
func (m *mending) begin(frame uint64) { *m = mending{base: frame} }

// want asks for a repair; 0 does not.
func (m *mending) want(newest uint64) {
	if newest > 0 {
		m.newest = newest
	}
}

// due says whether a repair is wanted.
func (m *mending) due() bool { return m.newest > 0 }

// picture says as what the picture after the one with that number is to be planned,
// and how many before it a repair cannot refer to.
func (m *mending) picture(last uint64, kind ratecontrol.Kind) (planned ratecontrol.Kind, missing int) {
	switch {
	case !m.due() || kind == ratecontrol.Key:
		return kind, 0
	case m.newest <= m.base:
		return ratecontrol.Key, 0
	}
	return ratecontrol.Motion, int(last - min(m.newest, last))
}

// take gives the encoder's number of the newest picture that the next one may refer
// to, once; 0 for any.
func (m *mending) take() uint64 {
	newest := m.newest
	m.newest = 0
	return newest - min(newest, m.base)
}

// reference is the session's number of the picture that this one refers to; 0 for a
// key frame.
func (m *mending) reference(frame uint64, au encode.AccessUnit) uint64 {
	switch {
	case au.Key:
		return 0
	case au.Reference > 0:
		return m.base + au.Reference
	}
	return frame - 1 // an encoder that keeps one picture need not say so
}
