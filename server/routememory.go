package server

import (
	"maps"
	"sync"
	"time"

	"nearglass/server/session"
)

// Bounds of what is remembered. A laptop that was closed for a coffee comes back
// to the same network; after ten minutes anything may have changed on the way.
const (
	routeMemoryAge  = 10 * time.Minute
	mostRoutesKnown = 64
)

// routeMemory keeps what streams have learned of their routes, so that a viewer
// that comes back begins near the rate that it had. It is lost with the process:
// what a restart costs is one ramp. Safe for concurrent use.
type routeMemory struct {
	mu    sync.Mutex
	known map[routeKey]session.Memory
}

// recall gives the memory of a route; the zero value where there is none.
func (r *routeMemory) recall(now time.Time, key routeKey) session.Memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(now)
	return r.known[key]
}

// note keeps a memory in place of an earlier one. A stream that has learned
// nothing leaves that alone.
func (r *routeMemory) note(now time.Time, key routeKey, m session.Memory) {
	if m == (session.Memory{}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[routeKey]session.Memory{}
	}
	r.known[key] = m
	r.expire(now)
	for len(r.known) > mostRoutesKnown {
		delete(r.known, r.oldest())
	}
}

func (r *routeMemory) expire(now time.Time) {
	maps.DeleteFunc(r.known, func(_ routeKey, m session.Memory) bool { return now.Sub(m.At) > routeMemoryAge })
}

func (r *routeMemory) oldest() routeKey {
	var key routeKey
	var at time.Time
	for k, m := range r.known {
		if at.IsZero() || m.At.Before(at) {
			key, at = k, m.At
		}
	}
	return key
}
