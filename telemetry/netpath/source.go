package netpath

import (
	"context"
	"time"
)

// source is one daemon: when it is asked, and what it said. The watcher's lock
// guards it.
type source[T any] struct {
	ask    func(context.Context, time.Time) (T, error)
	poll   poller
	answer T
	at     time.Time // of the answer; zero: there is none
	err    error     // of the last question
}

// refresh asks in the background when that is due.
func (s *source[T]) refresh(now time.Time, w *Watcher) {
	if w.closed || !s.poll.due(now) {
		return
	}
	w.asks.Go(func() {
		ctx, cancel := context.WithTimeout(w.ctx, askTime)
		defer cancel()
		answer, err := s.ask(ctx, now)
		w.mu.Lock()
		defer w.mu.Unlock()
		ended := time.Now()
		if s.err = err; err == nil {
			s.answer, s.at = answer, ended
		}
		s.poll.done(ended, err)
	})
}

// known gives the last answer, or why there is none that holds at now.
func (s *source[T]) known(now time.Time) (answer T, why string) {
	switch {
	case !s.at.IsZero() && now.Sub(s.at) < answerAge:
		return s.answer, ""
	case s.err != nil:
		return answer, s.err.Error()
	}
	return answer, "the answer is awaited"
}
