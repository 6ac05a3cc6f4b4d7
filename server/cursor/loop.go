package cursor

import (
	"fmt"
	"time"
)

// loop is the state of the one goroutine that asks the source.
type loop struct {
	*Tracker
	timer     *time.Timer
	listening bool
	looked    time.Time // when the position was last read
	moved     time.Time // when it last changed
}

func (t *Tracker) run() {
	defer close(t.ended)
	defer t.src.close()
	l := &loop{Tracker: t, timer: time.NewTimer(time.Hour)}
	defer l.timer.Stop()
	l.timer.Stop()
	for {
		if err := l.wait(); err != nil {
			t.fail(err)
			return
		}
		select {
		case <-t.stop:
			return
		default:
		}
	}
}

// wait waits for the next thing to do and does it.
func (l *loop) wait() error {
	select {
	case <-l.stop:
		return nil
	case <-l.sig.gone:
		return fmt.Errorf("following the pointer: %w", ErrGone)
	case <-l.wake:
		return l.woken()
	case <-l.sig.moved:
		return l.look()
	case <-l.sig.changed:
		return l.reshape()
	case <-l.timer.C:
		return l.look()
	}
}

// woken starts or stops listening as subscribers come and go, and looks after
// a nudge.
func (l *loop) woken() error {
	wanted := l.wanted()
	if wanted != l.listening {
		l.listening = wanted
		l.src.listen(wanted)
		if wanted {
			if err := l.reshape(); err != nil {
				return err
			}
			return l.look()
		}
	}
	if !wanted {
		l.timer.Stop()
	}
	if l.nudged.Swap(false) {
		l.moved = time.Now()
		return l.look()
	}
	return nil
}

func (l *loop) wanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.subs) > 0
}

// look reads the position, unless it was read just now; then it puts that off.
func (l *loop) look() error {
	if !l.listening {
		return nil
	}
	now := time.Now()
	if since := now.Sub(l.looked); since < spacing {
		l.timer.Reset(spacing - since)
		return nil
	}
	at, on, err := l.src.point()
	if err != nil {
		return err
	}
	l.looked = now
	l.mu.Lock()
	if l.now.at != at || l.now.on != on {
		l.now.at, l.now.on = at, on
		l.moved = now
		l.tell()
	}
	if !l.now.started {
		l.now.started = true
		l.tell()
	}
	l.mu.Unlock()
	l.timer.Reset(lookAfter(l.sig.told.Load(), now.Sub(l.moved)))
	return nil
}

// reshape reads the shape.
func (l *loop) reshape() error {
	if !l.listening {
		return nil
	}
	p, err := l.src.picture()
	if err != nil {
		return err
	}
	id := p.id()
	l.mu.Lock()
	defer l.mu.Unlock()
	if id == l.now.shape {
		return nil
	}
	if _, ok := l.shapes.get(id); !ok {
		shape, err := p.shape()
		if err != nil {
			return err
		}
		l.shapes.put(id, shape)
	}
	l.now.shape, l.now.blank = id, p.blank()
	l.tell()
	return nil
}

// tell signals every subscriber. mu is held.
func (t *Tracker) tell() {
	for s := range t.subs {
		notify(s.ready)
	}
}

// fail notes why the tracker ends; the pointer then shows no more.
func (t *Tracker) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
	t.now.on = false
	t.tell()
}
