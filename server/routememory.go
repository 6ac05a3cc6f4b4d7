package server

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	"nearglass/server/session"
	"nearglass/server/transport"
)

// Bounds of what is remembered. A laptop that was closed for a coffee comes back
// to the same network; after ten minutes anything may have changed on the way.
const (
	routeMemoryAge  = 10 * time.Minute
	mostRoutesKnown = 64
)

// routeKey names a way to a device. One that moves to another network, or is
// reached through another interface of this machine, comes by another way.
type routeKey struct {
	device  string
	local   netip.Addr   // of this machine's interface
	remote  netip.Prefix // the network that the device is in; invalid where it hides
	relayed bool
}

// Networks that a home or an office has: the addresses within one share what
// lies between them and here.
const (
	network4Bits = 24
	network6Bits = 64
)

func routeKeyOf(device string, r transport.Route) routeKey {
	remote, bits := r.Remote.Addr().Unmap().WithZone(""), network6Bits
	if remote.Is4() {
		bits = network4Bits
	}
	network, _ := remote.Prefix(bits) // the zero Prefix for no address
	return routeKey{
		device: device, local: r.Local.Addr().Unmap().WithZone(""), remote: network,
		relayed: r.LocalType == "relay" || r.RemoteType == "relay",
	}
}

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

// way is the route that the stream takes now; false before it takes any, and
// when it takes none any more.
func (v *viewer) way() (routeKey, bool) {
	route, ok := v.peer.Route()
	return routeKeyOf(v.grant.DeviceID, route), ok
}

// recall tells the session what is known of the route that it begins on.
func (v *viewer) recall() session.Memory {
	if way, ok := v.way(); ok {
		return v.host.routes.recall(time.Now(), way)
	}
	return session.Memory{}
}

// remember keeps what the session has learned of its route. It is called when the
// stream ends, and when nothing comes from the viewer: one that was cut off comes
// back before its old stream is given up.
func (v *viewer) remember() {
	if way, ok := v.way(); ok {
		v.host.routes.note(time.Now(), way, v.session.Memory())
	}
}
