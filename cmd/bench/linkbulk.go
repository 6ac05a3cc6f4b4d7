package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"nearglass/cmd/bench/wire"
)

// bulkFlow is the kernel's own TCP, CUBIC, sending forward as fast as the link
// takes it: the download that somebody else in the house has started.
type bulkFlow struct {
	from *net.TCPConn
	to   net.Conn
}

// startBulk connects the two ends and sends until close.
func startBulk(ctx context.Context, w *wire.Wire) (*bulkFlow, error) {
	var l net.Listener
	err := w.Far.Do(func() (err error) {
		l, err = net.Listen("tcp4", netip.AddrPortFrom(w.Far.Addr, wire.BulkPort).String())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen for the bulk flow: %w", err)
	}
	defer l.Close()
	dialer := net.Dialer{Timeout: 5 * time.Second, Control: func(_, _ string, c syscall.RawConn) error {
		var cubic error
		err := c.Control(func(fd uintptr) { cubic = wire.UseCubic(fd) })
		return errors.Join(err, cubic)
	}}
	var from net.Conn
	if err := w.Near.Do(func() (err error) {
		from, err = dialer.DialContext(ctx, "tcp4", l.Addr().String())
		return err
	}); err != nil {
		return nil, fmt.Errorf("start the bulk flow: %w", err)
	}
	to, err := l.Accept()
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	f := &bulkFlow{from: from.(*net.TCPConn), to: to}
	go func() { _, _ = io.Copy(io.Discard, to) }()
	go func() {
		block := make([]byte, 1<<16)
		for {
			if _, err := f.from.Write(block); err != nil {
				return
			}
		}
	}()
	return f, nil
}

// close ends the flow at once: what it has not sent yet is dropped.
func (f *bulkFlow) close() error {
	return errors.Join(f.from.SetLinger(0), f.from.Close(), f.to.Close())
}

// runBulk runs the flow over its part of a run that began at origin.
func runBulk(ctx context.Context, w *wire.Wire, origin time.Time, begin, end time.Duration) error {
	if err := sleepUntil(ctx, origin.Add(begin)); err != nil {
		return err
	}
	f, err := startBulk(ctx, w)
	if err != nil {
		return err
	}
	return errors.Join(sleepUntil(ctx, origin.Add(end)), f.close())
}

// sleepUntil waits for a time, or for the context's end, which is its error.
func sleepUntil(ctx context.Context, at time.Time) error {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
