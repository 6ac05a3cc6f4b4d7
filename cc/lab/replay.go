package lab

import (
	"time"

	"nearglass/cc"
)

// Replay gives a controller what was recorded, as it happened, and hands each of
// its answers on. The packets stay those of the recording whatever it answers:
// that shows what it makes of a real path, not what it would do there.
func (r *Recording) Replay(c controller, see func(at time.Duration, u cc.Update)) {
	see(0, c.OnTick(epoch))
	sent := r.Sent
	for _, f := range r.Feedbacks {
		for len(sent) > 0 && sentAt(sent[0]) <= f.At {
			s := sent[0]
			tickUntil(c, sentAt(s), see)
			s.At = epoch.Add(sentAt(s))
			c.OnSent(s.At, s)
			sent = sent[1:]
		}
		tickUntil(c, f.At, see)
		see(f.At, c.OnFeedback(epoch.Add(f.At), f.Acks))
	}
}

// tickUntil does what is due before a time, each at its own.
func tickUntil(c controller, until time.Duration, see func(at time.Duration, u cc.Update)) {
	for range maxTurns {
		d := c.Deadline()
		at := d.Sub(epoch)
		if d.IsZero() || at > until {
			return
		}
		see(at, c.OnTick(d))
	}
	panic("the controller asks to be woken and then does nothing")
}
