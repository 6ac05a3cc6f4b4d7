package gpu

import (
	"fmt"
	"image"
	"io"
	"sync"
	"time"
)

// Ring passes pictures from one writer to any number of readers. All methods
// are safe for concurrent use, but only one goroutine may write: Configure,
// Acquire, Publish and Return belong to it.
type Ring struct {
	mu         sync.Mutex
	slots      []*Slot
	generation uint32
	size       image.Point
	stride     int
	format     Format

	newest  *Slot // the picture that a reader would take; nil before the first
	number  uint64
	state   State
	readers map[*Reader]struct{}
	closed  bool
	err     error
	wake    chan struct{}

	activity activity
}

// Slot is the memory of one picture while the writer fills it.
type Slot struct {
	Pix        []byte
	Size       image.Point
	Stride     int
	Format     Format
	Index      int    // place among the memories given to Configure
	Generation uint32 // the generation that the slot belongs to
	// Stale covers where the content is older than the newest picture, in
	// picture coordinates: nothing when empty, everything when the slot was
	// never filled. It is valid until the slot is published or returned.
	Stale []image.Rectangle

	stale    Region
	free     func()
	held     int // readers that have a frame of this slot
	writing  bool
	retired  bool // of an older generation, or of a ring that ended
	number   uint64
	captured time.Time
	mark     uint64
}

// NewRing returns a ring without memory; Configure gives it some.
func NewRing() *Ring {
	return &Ring{readers: map[*Reader]struct{}{}, wake: make(chan struct{}, 1)}
}

// Configure starts a new generation with new memory: a slot for each element
// of mem, of which at least three are useful (the newest picture, one that a
// reader holds, one to write). Memory of the generation before is freed as
// soon as the last reader lets go of it. Configure panics when a memory is too
// small for the picture, because reading it would then crash much later.
func (r *Ring) Configure(size image.Point, stride int, f Format, mem []Memory) {
	checkMemory(size, stride, f, mem)
	whole := image.Rectangle{Max: size}
	r.mu.Lock()
	free := r.retire(nil)
	r.generation++
	r.size, r.stride, r.format, r.newest = size, stride, f, nil
	for i, m := range mem {
		s := &Slot{Pix: m.Pix, Size: size, Stride: stride, Format: f, Index: i, Generation: r.generation, free: m.Free}
		s.stale.Set(whole)
		r.slots = append(r.slots, s)
	}
	for rd := range r.readers {
		rd.all = true
		rd.damage.Reset()
	}
	if r.closed {
		free = r.retire(free)
	}
	r.mu.Unlock()
	call(free)
}

func checkMemory(size image.Point, stride int, f Format, mem []Memory) {
	row := size.X * f.BytesPerPixel()
	if size.X <= 0 || size.Y <= 0 || row <= 0 || stride < row {
		panic(fmt.Sprintf("gpu: cannot configure a ring for %v pictures, stride %d, %v", size, stride, f))
	}
	for _, m := range mem {
		if len(m.Pix) < stride*(size.Y-1)+row {
			panic(fmt.Sprintf("gpu: %d bytes of memory are too few for %v pictures of stride %d", len(m.Pix), size, stride))
		}
	}
}

// retire takes every slot out of use and appends to free what can be freed
// now. The caller holds the lock and calls the functions after unlocking.
func (r *Ring) retire(free []func()) []func() {
	for _, s := range r.slots {
		s.retired = true
		if f := s.unused(); f != nil {
			free = append(free, f)
		}
	}
	r.slots, r.newest = nil, nil
	return free
}

// unused returns the function that frees a retired slot once nobody uses it.
func (s *Slot) unused() func() {
	if !s.retired || s.held > 0 || s.writing {
		return nil
	}
	f := s.free
	s.free = nil
	return f
}

func call(fs []func()) {
	for _, f := range fs {
		f()
	}
}

// Acquire lends the writer the free slot with the least to copy. It answers
// false when readers hold every other slot, or the ring has no memory or has
// ended: the writer then merges damage and waits for Wake.
func (r *Ring) Acquire() (*Slot, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var best *Slot
	for _, s := range r.slots {
		if s.held > 0 || s.writing || (s == r.newest && len(r.slots) > 1) {
			continue
		}
		if best == nil || area(s.stale.Rects()) < area(best.stale.Rects()) {
			best = s
		}
	}
	if best == nil {
		return nil, false
	}
	best.writing = true
	if best == r.newest {
		r.newest = nil
	}
	best.Stale = best.stale.Rects()
	return best, true
}

func area(rects []image.Rectangle) int {
	n := 0
	for _, r := range rects {
		n += r.Dx() * r.Dy()
	}
	return n
}

// Publish makes the slot the newest picture. Damage covers where it differs
// from the picture published before, in picture coordinates; nil means
// everywhere. Captured is when the copy began; mark is the number of the
// newest input that was applied before it, or 0.
func (r *Ring) Publish(s *Slot, captured time.Time, damage []image.Rectangle, mark uint64) {
	r.mu.Lock()
	s.writing = false
	s.Stale = nil
	if s.retired {
		free := s.unused()
		r.mu.Unlock()
		if free != nil {
			free()
		}
		return
	}
	r.number++
	s.number, s.captured, s.mark = r.number, captured, mark
	r.activity.published(captured)
	r.spread(s, damage)
	s.stale.Reset()
	r.newest = s
	for rd := range r.readers {
		rd.signal()
	}
	r.mu.Unlock()
}

// spread notes the damage for the other slots and for every reader.
func (r *Ring) spread(published *Slot, damage []image.Rectangle) {
	whole := image.Rectangle{Max: r.size}
	for _, s := range r.slots {
		switch {
		case s == published:
		case damage == nil:
			s.stale.Set(whole)
		default:
			s.stale.AddAll(damage, whole)
		}
	}
	for rd := range r.readers {
		switch {
		case rd.all:
		case damage == nil:
			rd.all = true
		default:
			rd.damage.AddAll(damage, whole)
		}
	}
}

// Return gives a slot back unpublished. What it holds is then unknown.
func (r *Ring) Return(s *Slot) {
	r.mu.Lock()
	s.writing = false
	s.Stale = nil
	s.stale.Set(image.Rectangle{Max: s.Size})
	free := s.unused()
	r.mu.Unlock()
	if free != nil {
		free()
	}
}

// SetState tells the readers whether pictures come now, and wakes them when
// that changed.
func (r *Ring) SetState(st State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == st {
		return
	}
	r.state = st
	for rd := range r.readers {
		rd.signal()
	}
}

// Close ends the ring: every Take from now on answers err, or io.EOF when err
// is nil. Only the first Close counts.
func (r *Ring) Close(err error) {
	if err == nil {
		err = io.EOF
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed, r.err = true, err
	free := r.retire(nil)
	for rd := range r.readers {
		rd.signal()
	}
	r.signal()
	r.mu.Unlock()
	call(free)
}

// Wake has room for one signal to the writer: a slot became free, a reader
// came or went, or the ring ended.
func (r *Ring) Wake() <-chan struct{} { return r.wake }

// Readers returns how many readers are open, so that a writer can rest while
// nobody watches.
func (r *Ring) Readers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.readers)
}

func (r *Ring) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// release is Frame.Release.
func (r *Ring) release(s *Slot) {
	r.mu.Lock()
	s.held--
	free := s.unused()
	if s.held == 0 {
		r.signal()
	}
	r.mu.Unlock()
	if free != nil {
		free()
	}
}
