package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Wire is two joined namespaces. Its methods are safe for concurrent use.
type Wire struct {
	Near, Far End

	devices [2]int // of near and far
	stop    chan struct{}
	stopped chan struct{}

	mu   sync.Mutex
	ways [2]*direction // forward from near, back from far
	fail error
}

// Open makes the namespaces and forwards between them, at first without any
// bottleneck or delay. Call Close also when ctx has ended.
func Open(ctx context.Context) (*Wire, error) {
	if unix.Geteuid() != 0 {
		return nil, errors.New("making network namespaces needs root: run it with sudo")
	}
	removeStale(ctx)
	near, far := namespaceNames()
	w := &Wire{Near: End{near, nearAddr}, Far: End{far, farAddr}, devices: [2]int{-1, -1},
		stop: make(chan struct{}), stopped: make(chan struct{})}
	for i, e := range []End{w.Near, w.Far} {
		fd, err := e.open(ctx)
		if err != nil {
			close(w.stopped)
			return nil, errors.Join(fmt.Errorf("make the namespace %s: %w", e.Name, err), w.Close())
		}
		w.devices[i] = fd
	}
	w.Shape(Shape{})
	go w.forward()
	return w, nil
}

// Close ends the forwarding and removes the namespaces. Programs that still
// run in them keep their loopback and lose the link.
func (w *Wire) Close() error {
	close(w.stop)
	<-w.stopped
	for _, fd := range w.devices {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	// The context of the run may have ended; the namespaces must go even so.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(w.fail, w.Near.remove(ctx), w.Far.remove(ctx))
}

// Shape begins anew with another link in an instant, and gives that instant.
// What was on its way is lost, and what had Passed is forgotten.
func (w *Wire) Shape(s Shape) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	s.Forward.Origin, s.Back.Origin = now, now
	w.ways = [2]*direction{newDirection(now, s.Forward, s.Seed, true), newDirection(now, s.Back, s.Seed+1, false)}
	return now
}

// Passed gives what was sent forward since Shape, in order. What is on its way
// is still without Out, as if it were lost.
func (w *Wire) Passed() []Packet {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Packet{}, w.ways[0].log...)
}

// longestWait bounds the time for which a change of shape, or Close, goes
// unnoticed.
const longestWait = 20 * time.Millisecond

// forward moves packets until Close.
func (w *Wire) forward() {
	defer close(w.stopped)
	hurry()
	polled := []unix.PollFd{{Fd: int32(w.devices[0]), Events: unix.POLLIN}, {Fd: int32(w.devices[1]), Events: unix.POLLIN}}
	buf := make([]byte, 1<<16)
	for {
		select {
		case <-w.stop:
			return
		default:
		}
		wait, err := w.turn(buf)
		if err != nil {
			w.fail = fmt.Errorf("forward between the namespaces: %w", err)
			return
		}
		limit := unix.NsecToTimespec(int64(wait))
		if _, err := unix.Ppoll(polled, &limit, nil); err != nil && err != unix.EINTR {
			w.fail = fmt.Errorf("wait for packets: %w", err)
			return
		}
	}
}

// turn does what is to be done now, and says how long nothing will be unless
// a packet comes.
func (w *Wire) turn(buf []byte) (time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := longestWait
	for i, d := range w.ways {
		if err := drain(w.devices[i], buf, d); err != nil {
			return 0, err
		}
		now, far := time.Now(), w.devices[1-i]
		d.due(now, func(b []byte) error {
			_, err := unix.Write(far, b)
			return err
		})
		if next := d.link.Next(); !next.IsZero() {
			wait = min(wait, max(next.Sub(now), 0))
		}
	}
	return wait, nil
}

// most bounds what one device may hand over while the other waits.
const most = 64

// drain reads what has come from a device.
func drain(fd int, buf []byte, d *direction) error {
	for range most {
		n, err := unix.Read(fd, buf)
		switch err {
		case nil:
			d.take(time.Now(), buf[:n])
		case unix.EAGAIN, unix.EINTR:
			return nil
		default:
			return err
		}
	}
	return nil
}
