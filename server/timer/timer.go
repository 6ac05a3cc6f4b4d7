// Package timer asks the system for fine timers while something needs them.
//
// Windows wakes a sleeper on a tick of 15.6 ms unless a program asks for a finer
// one, and from Windows 11 on it forgets the request while the program's window
// is minimised or covered. A stream is due every millisecond, so each one holds
// fine timers for as long as it lives. They cost battery, and so nobody holds
// them longer. Elsewhere timers are fine without asking.
package timer

import (
	"fmt"
	"sync"
)

// Hold asks for fine timers and returns what gives them back, which may be
// called more than once. Several may hold them; the first asks the system and
// the last to let go tells it. An error says that the system refused: all goes
// on with coarse timers, and release is still to be called. Safe for concurrent
// use.
func Hold() (release func(), err error) { return process.hold() }

// process counts for the whole program, as the system does.
var process = counter{fine: fine, coarse: coarse}

// counter asks once for many.
type counter struct {
	fine, coarse func() error // ask the system, and tell it that it may forget

	mu     sync.Mutex
	held   int
	active bool // the system was asked and agreed
}

func (c *counter) hold() (release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	if !c.active {
		if err = c.fine(); err != nil {
			err = fmt.Errorf("ask for timers of a millisecond: %w", err)
		}
		c.active = err == nil
	}
	return sync.OnceFunc(c.release), err
}

func (c *counter) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held--
	if c.held > 0 || !c.active {
		return
	}
	c.active = false
	// Nothing follows from a failure: the system forgets a program's request
	// at its end.
	_ = c.coarse()
}
