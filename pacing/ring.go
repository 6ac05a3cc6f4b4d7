package pacing

// ring is a first-in-first-out queue that reuses its memory. The zero value
// is empty.
type ring[T any] struct {
	items []T // length is zero or a power of two
	head  int
	n     int
}

func (r *ring[T]) len() int { return r.n }

// at returns the i-th item from the front, 0 <= i < len.
func (r *ring[T]) at(i int) *T { return &r.items[(r.head+i)&(len(r.items)-1)] }

func (r *ring[T]) push(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.n++
	*r.at(r.n - 1) = v
}

func (r *ring[T]) pop() T {
	var zero T
	front := r.at(0)
	v := *front
	*front = zero // let the garbage collector have what it points to
	r.head = (r.head + 1) & (len(r.items) - 1)
	r.n--
	return v
}

// keep removes the items for which ok is false, in place and in order.
func (r *ring[T]) keep(ok func(*T) bool) {
	var zero T
	kept := 0
	for i := range r.n {
		item := r.at(i)
		if !ok(item) {
			continue
		}
		if kept != i {
			*r.at(kept) = *item
		}
		kept++
	}
	for i := kept; i < r.n; i++ {
		*r.at(i) = zero
	}
	r.n = kept
}

func (r *ring[T]) grow() {
	bigger := make([]T, max(64, 2*len(r.items)))
	for i := range r.n {
		bigger[i] = *r.at(i)
	}
	r.items, r.head = bigger, 0
}
