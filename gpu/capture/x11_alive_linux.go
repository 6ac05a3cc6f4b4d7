package capture

import (
	"time"

	"github.com/jezek/xgb/xproto"
)

// greetEvery is how often the server is asked something that costs it nothing. A
// screen on which nothing happens and a server that hangs look the same, because
// pictures follow its events; an answer that does not come tells them apart, and
// the ring knows since when it is awaited.
const greetEvery = time.Second

// greet asks the server for a sign of life when one is due.
func (g *grabber) greet(now time.Time) error {
	if g.idle() || now.Before(g.greeted.Add(greetEvery)) {
		return nil
	}
	g.greeted = now
	_, err := xproto.GetInputFocus(g.server.conn).Reply()
	return g.server.wrap(err)
}

// untilGreeting is wait, but no longer than until the next greeting.
func (g *grabber) untilGreeting(now time.Time) (time.Duration, bool) {
	wait, ok := g.wait(now)
	if g.idle() {
		return wait, ok
	}
	greeting := max(g.greeted.Add(greetEvery).Sub(now), 0)
	if !ok {
		return greeting, true
	}
	return min(wait, greeting), true
}
