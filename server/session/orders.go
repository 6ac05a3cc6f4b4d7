package session

import (
	"sync"

	"nearglass/cc/rate"
)

// order is what the loop and the viewer want of the video goroutine.
type order struct {
	target rate.Rate
	key    bool   // encode a key frame next; the taker clears it
	why    string // the reason for the newest such wish
	hidden bool   // encode nothing
	hold   bool   // encode nothing but a key frame or a repair
	// newest is the newest picture that the next one may refer to, for the viewer
	// lacks those after it; 0: any. The taker clears it.
	newest uint64
}

// mailbox holds the newest order: a later one replaces an earlier one that was
// not read yet, except that a wish for a key frame stays until it is met.
type mailbox struct {
	mu    sync.Mutex
	o     order
	ready chan struct{}
}

func newMailbox() *mailbox { return &mailbox{ready: make(chan struct{}, 1)} }

// change edits the order and wakes the taker.
func (m *mailbox) change(edit func(*order)) {
	m.mu.Lock()
	before := m.o
	edit(&m.o)
	changed := m.o != before
	m.mu.Unlock()
	if !changed {
		return
	}
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// met says that a key frame is about to be sent: whoever wished for one while it was
// made, or while it waited, gets this one.
func (m *mailbox) met() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.o.key = false
}

// take returns the order. Wishes for a key frame or a repair are cleared unless
// the viewer is hidden, when nothing would come of them.
func (m *mailbox) take() order {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.o
	if !o.hidden {
		m.o.key, m.o.newest = false, 0
	}
	return o
}
