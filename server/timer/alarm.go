package timer

import (
	"os"
	"time"
)

// Alarm wakes one goroutine at a time that it is set to, as time.Timer does, but
// closer to that time: the Go runtime sleeps in whole milliseconds on Linux, so
// that a time.Timer fires up to one too late, and at 20 Mbit/s a packet is due
// every half of that. Not safe for concurrent use, except that C is received
// from by whoever owns it.
type Alarm struct {
	clock  clock
	c      chan time.Time
	closed bool
}

// NewAlarm opens an alarm that is not set. It fails where the system has no
// timer of this kind, with an error that wraps errors.ErrUnsupported: there
// time.Timer is the way.
func NewAlarm() (*Alarm, error) {
	a := &Alarm{c: make(chan time.Time, 1)}
	clock, err := openClock()
	if err != nil {
		return nil, err
	}
	a.clock = clock
	go a.ring()
	return a, nil
}

// C receives when the alarm goes off. Setting it anew does not take back a wake
// that is on its way: one that comes early is to be borne.
func (a *Alarm) C() <-chan time.Time { return a.c }

// Set lets the alarm go off after d, at once where d is not positive, instead of
// at the time that it was set to before.
func (a *Alarm) Set(d time.Duration) error { return a.set(max(d, 1)) }

// Stop lets the alarm not go off any more.
func (a *Alarm) Stop() error { return a.set(0) }

// set arms the clock, or disarms it with 0.
func (a *Alarm) set(d time.Duration) error {
	if a.closed {
		return os.ErrClosed // its descriptor may be somebody else's by now
	}
	return a.clock.set(d)
}

// Close ends the alarm; C receives nothing more but a wake that is on its way.
func (a *Alarm) Close() error {
	if a.closed {
		return os.ErrClosed
	}
	a.closed = true
	return a.clock.close()
}

// ring hands each time the clock goes off to the owner, who may have one wake
// waiting already: two would tell him no more.
func (a *Alarm) ring() {
	for a.clock.wait() == nil {
		select {
		case a.c <- time.Now():
		default:
		}
	}
}
