package session

import "sync"

// marks finds the first picture that shows an input: of those that were encoded
// from a capture, the first that was captured after it. One that is encoded again,
// sharper, is newer by its timestamp and not by what it shows.
type marks struct {
	mu     sync.Mutex
	recent [8]marked // the pictures with which the mark grew, by count
	count  int
	wanted uint64 // 0: none
	found  chan uint32
}

// marked is a picture, by its RTP timestamp, and the newest input that it shows.
type marked struct {
	mark      uint64
	timestamp uint32
}

// sent notes a picture that goes to the viewer.
func (m *marks) sent(p marked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count > 0 && p.mark <= m.recent[(m.count-1)%len(m.recent)].mark {
		return
	}
	m.recent[m.count%len(m.recent)] = p
	m.count++
	m.answer()
}

// await gives once the timestamp of the first picture with this mark or a larger
// one. Only the newest question is answered.
func (m *marks) await(mark uint64) <-chan uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted, m.found = mark, make(chan uint32, 1)
	found := m.found
	m.answer()
	return found
}

func (m *marks) answer() {
	for i := max(0, m.count-len(m.recent)); i < m.count && m.wanted > 0; i++ {
		if p := m.recent[i%len(m.recent)]; p.mark >= m.wanted {
			m.wanted = 0
			m.found <- p.timestamp
		}
	}
}
