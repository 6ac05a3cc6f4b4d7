package sim

import "time"

// arrival is a packet on its way to the receiver.
type arrival struct {
	Packet
	at    time.Duration
	found time.Duration
	order uint64 // of leaving the bottleneck; decides between equal times
}

func (a *arrival) before(b *arrival) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

// arrivals is a binary heap with the earliest first. Packets mostly come in
// order, which costs one comparison. container/heap would allocate for each.
type arrivals []arrival

func (h *arrivals) push(a arrival) {
	*h = append(*h, a)
	s := *h
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s[i].before(&s[parent]) {
			break
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
}

// pop takes the earliest; there must be one.
func (h *arrivals) pop() arrival {
	s := *h
	first, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if s[child].before(&s[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}
