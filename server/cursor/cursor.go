// Package cursor follows the pointer of the desktop: where it is, what it looks
// like, and whether it shows, so that viewers can draw it themselves without
// waiting for a picture.
//
// A [Tracker] is one connection to the desktop; each viewer has a
// [Subscription]. Without a subscription the tracker does nothing. Where the
// desktop tells of motion (XInput 2), the tracker waits for it, and looks by
// itself only now and then for a pointer that a program moved; elsewhere it
// looks often while the pointer moves and rarely while it rests.
package cursor

import (
	"errors"
	"image"
	"sync"
	"sync/atomic"
	"time"
)

// ErrGone says that the desktop went away. The Tracker is of no more use: open
// a new one.
var ErrGone = errors.New("the display server is gone")

// Shape is what the pointer looks like.
type Shape struct {
	Size image.Point // in pixels
	Hot  image.Point // the pixel of the picture that points
	PNG  []byte      // with straight alpha
}

// source is a desktop's pointer.
type source interface {
	// point is where the pointer is, in desktop coordinates; ok is false
	// when it is not on this desktop.
	point() (at image.Point, ok bool, err error)
	// picture is what it looks like.
	picture() (picture, error)
	// listen says whether the signals are wanted.
	listen(on bool)
	close()
}

// signals is how a source tells of changes. The channels hold one signal.
type signals struct {
	moved   chan struct{} // the pointer has moved
	changed chan struct{} // its shape has changed
	gone    chan struct{} // closed when the desktop is gone
	told    atomic.Bool   // whether moved works; if not, the tracker looks often
}

func newSignals() *signals {
	return &signals{moved: make(chan struct{}, 1), changed: make(chan struct{}, 1), gone: make(chan struct{})}
}

// notify puts a signal into c unless one waits there.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Tracker follows one pointer. Its methods may be called from several
// goroutines.
type Tracker struct {
	src    source
	sig    *signals
	wake   chan struct{} // subscriptions changed, or a nudge came
	nudged atomic.Bool
	stop   chan struct{}
	once   sync.Once
	ended  chan struct{} // closed when the loop has ended

	mu     sync.Mutex
	subs   map[*Subscription]bool
	now    pointer
	shapes *shapeCache
	err    error
}

// pointer is what subscribers see.
type pointer struct {
	at      image.Point
	on      bool // on this desktop
	shape   string
	blank   bool // the shape has no pixel that shows
	started bool // at and shape have been read
}

// Open connects to the desktop named by display; "" is the one that the
// environment names ($DISPLAY). Where the pointer cannot be followed, the
// error wraps [errors.ErrUnsupported].
func Open(display string) (*Tracker, error) {
	sig := newSignals()
	src, err := open(display, sig)
	if err != nil {
		return nil, err
	}
	return start(src, sig), nil
}

func start(src source, sig *signals) *Tracker {
	t := &Tracker{
		src: src, sig: sig, wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
		subs: make(map[*Subscription]bool), shapes: newShapeCache(),
	}
	go t.run()
	return t
}

// Subscribe starts a subscription. It is ready as soon as the pointer is
// known.
func (t *Tracker) Subscribe() *Subscription {
	s := &Subscription{t: t, ready: make(chan struct{}, 1)}
	t.mu.Lock()
	t.subs[s] = true
	if t.now.started || t.err != nil {
		notify(s.ready)
	}
	t.mu.Unlock()
	notify(t.wake)
	return s
}

// Nudge says that the pointer was moved from here, so that the tracker looks
// at once. It is cheap and never blocks.
func (t *Tracker) Nudge() {
	t.nudged.Store(true)
	notify(t.wake)
}

// Done is closed when the tracker has ended: after Close, or when the desktop
// is gone, which Err then tells.
func (t *Tracker) Done() <-chan struct{} { return t.ended }

// Err is why the tracker ended by itself; it wraps [ErrGone]. It is nil while
// it runs and after Close.
func (t *Tracker) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Close ends the tracker and disconnects.
func (t *Tracker) Close() error {
	t.once.Do(func() { close(t.stop) })
	<-t.ended
	return nil
}

// Subscription is one viewer's view of the pointer. Its methods may be called
// from several goroutines.
type Subscription struct {
	t     *Tracker
	ready chan struct{}
}

// Ready receives a signal when position, shape or visibility have changed
// since the last signal was taken, and when the tracker has ended.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Pointer tells where the pointer's hot spot is, in desktop coordinates,
// whether it shows, and the id of its shape ("" while unknown). A pointer
// that a program hid (an empty cursor) does not show.
func (s *Subscription) Pointer() (x, y int, visible bool, shapeID string) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	p := s.t.now
	return p.at.X, p.at.Y, p.on && !p.blank && p.started, p.shape
}

// Shape gives the shape of an id. Equal shapes have the same id for the life
// of the process and beyond; the last 64 are kept, and false is returned for
// one that is no longer known.
func (s *Subscription) Shape(id string) (Shape, bool) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.t.shapes.get(id)
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.t.mu.Lock()
	delete(s.t.subs, s)
	s.t.mu.Unlock()
	notify(s.t.wake)
}

// How often the tracker looks.
const (
	// spacing lies between two looks, however often the desktop tells of
	// motion: a mouse may tell 1000 times a second, no display shows that.
	spacing = 4 * time.Millisecond
	// While the desktop tells of motion, looks of the tracker's own are for
	// pointers that a program put elsewhere, which is not told.
	lookTold      = 250 * time.Millisecond
	lookToldSleep = time.Second
	// Else: while it moves, shortly after, at rest, and asleep.
	lookMoving  = time.Second / 60
	lookResting = time.Second / 30
	lookStill   = 100 * time.Millisecond
	lookSleep   = 250 * time.Millisecond
	movingFor   = time.Second
	restingFor  = 2 * time.Second
	// A look takes some 0.5 ms of a processor that rests in between (see
	// BenchmarkAtRest), so that looks asleep take 0.06 % of a core where the
	// desktop tells of motion and 0.2 % elsewhere.
	sleepsAfter = 5 * time.Second
)

// lookAfter is the time from one look to the next, when the pointer has been
// still for so long.
func lookAfter(told bool, still time.Duration) time.Duration {
	switch {
	case told && still < sleepsAfter:
		return lookTold
	case told:
		return lookToldSleep
	case still < movingFor:
		return lookMoving
	case still < restingFor:
		return lookResting
	case still < sleepsAfter:
		return lookStill
	default:
		return lookSleep
	}
}
