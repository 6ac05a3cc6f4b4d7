// Package xconn opens connections to an X server such that several of them can
// live in one process.
//
// The xgb package keeps the constructors of extension events and errors in two
// maps that belong to the process. Each extension's own Init writes to them
// without a lock while the readers of other connections look things up, which
// the Go runtime answers by ending the process. Open registers each extension
// only when that is needed, by putting a changed copy in place of the map, and
// lets no event in before that is done. Whoever uses Open must not call the
// Init functions of xgb's extension packages.
package xconn

import (
	"fmt"
	"io"
	"log"
	"maps"
	"sync"

	"github.com/jezek/xgb"
	// The extensions enter their constructors into xgb's tables when they
	// are imported.
	_ "github.com/jezek/xgb/composite"
	_ "github.com/jezek/xgb/damage"
	_ "github.com/jezek/xgb/randr"
	_ "github.com/jezek/xgb/shm"
	_ "github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"
	_ "github.com/jezek/xgb/xtest"
)

// The names of the extensions that Open knows.
const (
	Composite = "Composite"
	Damage    = "DAMAGE"
	RandR     = "RANDR"
	Shm       = "MIT-SHM"
	XFixes    = "XFIXES"
	XTest     = "XTEST"
)

func init() {
	// xgb writes to standard error what it also returns.
	xgb.Logger = log.New(io.Discard, "", 0)
}

var (
	registerLock sync.Mutex
	registered   = map[string][2]byte{} // first event and first error of each extension
)

// Open connects to the X server that display names, or that the environment
// names when it is empty, and prepares those of the extensions that the server
// has; the answer says which. It is safe for concurrent use.
func Open(display string, extensions ...string) (*xgb.Conn, map[string]bool, error) {
	c, err := xgb.NewConnDisplay(display)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to X display %q: %w", display, err)
	}
	has, err := prepare(c, extensions)
	if err != nil {
		c.Close()
		return nil, nil, fmt.Errorf("preparing the connection to X display %q: %w", display, err)
	}
	return c, has, nil
}

func prepare(c *xgb.Conn, extensions []string) (map[string]bool, error) {
	has := map[string]bool{}
	for _, name := range extensions {
		reply, err := xproto.QueryExtension(c, uint16(len(name)), name).Reply()
		if err != nil {
			return nil, err
		}
		if !reply.Present {
			continue
		}
		has[name] = true
		c.ExtLock.Lock()
		c.Extensions[name] = reply.MajorOpcode
		c.ExtLock.Unlock()
		register(name, reply.FirstEvent, reply.FirstError)
	}
	// A round trip, after which the connection's reader has seen the tables.
	_, err := xproto.GetInputFocus(c).Reply()
	return has, err
}

// register enters an extension's constructors unless they are there already.
// Servers of one make give the same numbers; where two servers differ, the one
// that was opened last is understood.
func register(name string, firstEvent, firstError byte) {
	registerLock.Lock()
	defer registerLock.Unlock()
	numbers := [2]byte{firstEvent, firstError}
	if registered[name] == numbers {
		return
	}
	registered[name] = numbers
	events, errors := maps.Clone(xgb.NewEventFuncs), maps.Clone(xgb.NewErrorFuncs)
	for n, f := range xgb.NewExtEventFuncs[name] {
		events[int(firstEvent)+n] = f
	}
	for n, f := range xgb.NewExtErrorFuncs[name] {
		errors[int(firstError)+n] = f
	}
	xgb.NewEventFuncs, xgb.NewErrorFuncs = events, errors
}
