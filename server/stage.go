package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/capture"
)

// retryEvery is how often a source that went away is looked for. A person
// who waits for it hardly notices a quarter of a second.
const retryEvery = 250 * time.Millisecond

// stage is one capture and the ring that it fills, shared by its viewers.
type stage struct {
	key     stageKey
	options capture.Options
	owner   *stages
	ring    *gpu.Ring
	ctx     context.Context
	cancel  context.CancelFunc
	now     atomic.Pointer[capture.Capture] // the capture that runs
	// viewers watch now, and so many have left; guarded by owner.mu.
	viewers, leavings int
}

// openStage opens the source; run captures it. The context bounds the opening
// alone.
func openStage(ctx context.Context, owner *stages, key stageKey, fps int) (*stage, error) {
	st := &stage{key: key, options: capture.Options{FPS: fps, Pointer: key.pointer, Mark: owner.screens.inputs(key.id)}, owner: owner, ring: gpu.NewRing(), viewers: 1}
	if err := st.open(ctx); err != nil {
		return nil, err
	}
	st.ctx, st.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return st, nil
}

func (st *stage) open(ctx context.Context) error {
	b, err := st.owner.screens.backend(st.key.id)
	if err != nil {
		return err
	}
	c, err := b.Open(ctx, st.key.id, st.options)
	if errors.Is(err, capture.ErrGone) {
		st.owner.screens.lost(b)
	}
	if err != nil {
		return err
	}
	st.now.Store(&c)
	return nil
}

func (st *stage) place() capture.Place   { return (*st.now.Load()).Place() }
func (st *stage) source() capture.Source { return (*st.now.Load()).Source() }

// run captures until nobody watches any more or the source ends for good. A
// source that went away and may return is waited for: its viewers see why.
func (st *stage) run() {
	defer st.cancel()
	for {
		err := (*st.now.Load()).Run(st.ctx, st.ring)
		if st.ctx.Err() != nil {
			st.ring.Close(nil)
			return
		}
		if err == nil || !errors.Is(err, capture.ErrGone) || kindOf(st.key.id) == capture.KindWindow {
			st.owner.log.Info("source ended", "source", st.key.id, "reason", err)
			st.cancel() // so that nobody joins any more
			st.ring.Close(endOfSource(err))
			return
		}
		st.owner.log.Warn("source gone", "source", st.key.id, "reason", err)
		st.ring.SetState(gpu.State{Paused: true, Reason: err.Error()})
		if !st.awaitReturn() {
			st.ring.Close(nil)
			return
		}
		st.owner.log.Info("source back", "source", st.key.id)
		st.ring.SetState(gpu.State{})
	}
}

// endOfSource words the end of a window whose display server died: a new
// server does not bring the window back, and may give its number to another.
func endOfSource(err error) error {
	if errors.Is(err, capture.ErrGone) {
		return fmt.Errorf("%w: its display server ended", capture.ErrClosed)
	}
	return err
}

// awaitReturn tries to open the source again until it works or nobody watches.
func (st *stage) awaitReturn() bool {
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for {
		if st.open(st.ctx) == nil {
			return true
		}
		select {
		case <-st.ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
