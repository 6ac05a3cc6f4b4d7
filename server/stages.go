package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/capture"
)

// stageKey names a capture. Viewers that draw the pointer themselves and those
// that want it in the picture cannot share one.
type stageKey struct {
	id      string
	pointer bool // in the picture
}

// linger is how long a capture goes on without viewers, so that a viewer that
// reconnects or reloads finds a picture at once.
const linger = 2 * time.Second

// screens are where sources come from.
type screens interface {
	// backend finds who can capture a source.
	backend(id string) (capture.Backend, error)
	// lost reports a backend whose display server went away.
	lost(capture.Backend)
	// inputs gives what numbers the inputs of a source, as capture.Options.Mark
	// has it.
	inputs(id string) func() uint64
}

// stages holds the captures that run. It is safe for concurrent use.
type stages struct {
	screens screens
	log     *slog.Logger

	mu     sync.Mutex
	byKey  map[stageKey]*stage
	closed bool
	all    sync.WaitGroup
}

func newStages(from screens, log *slog.Logger) *stages {
	return &stages{screens: from, log: log, byKey: map[stageKey]*stage{}}
}

// join gives a reader of the source's pictures, starting its capture if no
// viewer watches it yet. The reader is given back with leave.
func (s *stages) join(ctx context.Context, key stageKey, fps int) (*stage, *gpu.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, capture.ErrClosed
	}
	if st := s.byKey[key]; st != nil && !isDone(st.ctx.Done()) {
		st.viewers++
		return st, st.ring.NewReader(), nil
	}
	st, err := openStage(ctx, s, key, fps)
	if err != nil {
		return nil, nil, err
	}
	s.byKey[key] = st
	s.all.Go(func() {
		st.run()
		s.forget(st)
	})
	return st, st.ring.NewReader(), nil
}

// leave takes a viewer out; the last one's leaving ends the capture, a little
// later.
func (s *stages) leave(st *stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.viewers--
	st.leavings++
	if st.viewers > 0 || s.closed {
		return
	}
	this := st.leavings
	time.AfterFunc(linger, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if st.viewers == 0 && st.leavings == this { // nobody came and went since
			st.cancel()
			if s.byKey[st.key] == st {
				delete(s.byKey, st.key)
			}
		}
	})
}

// forget takes out a stage that ended by itself.
func (s *stages) forget(st *stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[st.key] == st {
		delete(s.byKey, st.key)
	}
}

// close ends every capture and waits for it.
func (s *stages) close() {
	s.mu.Lock()
	s.closed = true
	for _, st := range s.byKey {
		st.cancel()
	}
	s.mu.Unlock()
	s.all.Wait()
}
