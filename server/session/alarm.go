package session

import "time"

// Alarm wakes the loop at a time that it is set to, or soon after. The loop bears
// a wake that comes too early.
type Alarm interface {
	Set(d time.Duration) error // instead of what it was set to before; at once if not positive
	Stop() error
	C() <-chan time.Time
	Close() error
}

// openAlarm opens the one that the session was given, or Go's timer.
func (s *Session) openAlarm() Alarm {
	if s.c.Alarm != nil {
		a, err := s.c.Alarm()
		if err == nil {
			return a
		}
		s.c.Log.Debug("packets leave by Go's timer, up to a millisecond late", "err", err)
	}
	return goTimer{time.NewTimer(time.Hour)}
}

// goTimer is an alarm from the standard library.
type goTimer struct{ timer *time.Timer }

func (g goTimer) Set(d time.Duration) error { g.timer.Reset(max(0, d)); return nil }
func (g goTimer) Stop() error               { g.timer.Stop(); return nil }
func (g goTimer) C() <-chan time.Time       { return g.timer.C }
func (g goTimer) Close() error              { return g.Stop() }
