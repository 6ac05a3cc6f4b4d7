package sim

import "time"

// waiting is a packet in the queue, with the time at which it came.
type waiting struct {
	Packet
	in time.Duration
}

// ring is a first-in first-out queue that grows by doubling and then reuses
// its memory. Its length is zero or a power of two.
type ring[T any] struct {
	slots []T
	head  int
	count int
}

func (r *ring[T]) push(v T) {
	if r.count == len(r.slots) {
		r.grow()
	}
	r.slots[(r.head+r.count)&(len(r.slots)-1)] = v
	r.count++
}

// pop takes the oldest; there must be one.
func (r *ring[T]) pop() T {
	v := r.slots[r.head]
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.count--
	return v
}

// at gives the i-th oldest for reading and writing.
func (r *ring[T]) at(i int) *T {
	return &r.slots[(r.head+i)&(len(r.slots)-1)]
}

func (r *ring[T]) clear() { r.head, r.count = 0, 0 }

func (r *ring[T]) grow() {
	bigger := make([]T, max(64, 2*len(r.slots)))
	for i := range r.count {
		bigger[i] = *r.at(i)
	}
	r.slots, r.head = bigger, 0
}
