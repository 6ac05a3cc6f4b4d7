package gpu

import (
	"image"
)

// Reader takes pictures from a ring at its own pace. Its methods are safe for
// concurrent use.
type Reader struct {
	ring   *Ring
	ready  chan struct{}
	taken  uint64 // number of the picture that was taken last
	all    bool   // everything may differ from it
	damage Region // what may differ from it, when not all
	closed bool
}

// NewReader returns a reader whose first Take gives the newest picture at
// once, if there is one.
func (r *Ring) NewReader() *Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	rd := &Reader{ring: r, ready: make(chan struct{}, 1), all: true}
	r.readers[rd] = struct{}{}
	if r.newest != nil || r.closed || r.state.Paused {
		rd.signal()
	}
	r.signal()
	return rd
}

// Ready has room for one signal: a new picture, a change of state, or the end
// of the ring. One signal may stand for several of them.
func (rd *Reader) Ready() <-chan struct{} { return rd.ready }

func (rd *Reader) signal() {
	select {
	case rd.ready <- struct{}{}:
	default:
	}
}

// Take returns the newest picture that was not taken yet, with the damage
// since the last Take merged, or nil and no error when there is none. After
// Ring.Close it returns the error that ended the ring, and after Reader.Close
// nil. The frame must be released.
func (rd *Reader) Take() (*Frame, error) {
	r := rd.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, r.err
	}
	s := r.newest
	if rd.closed || s == nil || s.number == rd.taken {
		return nil, nil
	}
	f := &Frame{
		Number: s.number, Generation: s.Generation, Captured: s.captured,
		Size: s.Size, Stride: s.Stride, Format: s.Format, Pix: s.Pix, Mark: s.mark,
		ring: r, slot: s,
	}
	if !rd.all {
		f.Damage = append([]image.Rectangle{}, rd.damage.Rects()...)
	}
	s.held++
	rd.taken, rd.all = s.number, false
	rd.damage.Reset()
	return f, nil
}

// Again lets the next Take give the newest picture once more, all of it, as to a
// new reader: for one that has to make something else of it.
func (rd *Reader) Again() {
	rd.ring.mu.Lock()
	defer rd.ring.mu.Unlock()
	rd.taken, rd.all = 0, true
	rd.damage.Reset()
}

// State returns whether the source delivers pictures now.
func (rd *Reader) State() State {
	rd.ring.mu.Lock()
	defer rd.ring.mu.Unlock()
	return rd.ring.state
}

// Close ends the reader. Frames that it took stay valid until released.
func (rd *Reader) Close() {
	r := rd.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	rd.closed = true
	delete(r.readers, rd)
	r.signal()
}

// Err returns the error that ended the ring, without taking a picture, or nil
// while it lasts.
func (rd *Reader) Err() error {
	rd.ring.mu.Lock()
	defer rd.ring.mu.Unlock()
	if !rd.ring.closed {
		return nil
	}
	return rd.ring.err
}
