package signaling

import (
	"crypto/rand"
	"sync"
)

// maxPerDevice bounds the streams that one device has open: a page that is
// loaded again and again leaves each behind until its host notices.
const maxPerDevice = 16

// entry is a session with what HTTP adds to it.
type entry struct {
	id      string
	device  string // only this one may change it
	etag    string // of the present ICE session
	session Session
}

// sessions holds the running streams by the id in their Location.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*entry
}

// add files a session until it is done. Its id cannot be guessed.
func (t *sessions) add(s Session, device string) (id, etag string) {
	e := &entry{id: rand.Text(), device: device, etag: newTag(), session: s}
	t.mu.Lock()
	t.byID[e.id] = e
	t.mu.Unlock()
	go func() {
		<-s.Done()
		t.remove(e.id)
	}()
	return e.id, e.etag
}

// find returns a session of this device; nil if it has none by that id, and
// then whether another device has.
func (t *sessions) find(id, device string) (e *entry, foreign bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.byID[id]; e != nil && e.device == device {
		return e, false
	}
	return nil, t.byID[id] != nil
}

func (t *sessions) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, id)
}

func (t *sessions) room(device string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, e := range t.byID {
		if e.device == device {
			n++
		}
	}
	return n < maxPerDevice
}

func (t *sessions) tag(e *entry) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return e.etag
}

// retag names the ICE session that a restart began.
func (t *sessions) retag(e *entry) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.etag = newTag()
	return e.etag
}

func newTag() string { return `"` + rand.Text() + `"` }
