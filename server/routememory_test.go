package server

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/server/session"
	"nearglass/server/transport"
)

func routeOver(local, remote string) transport.Route {
	at := func(s string) netip.AddrPort {
		if s == "" {
			return netip.AddrPort{}
		}
		return netip.AddrPortFrom(netip.MustParseAddr(s), 40000)
	}
	return transport.Route{Local: at(local), Remote: at(remote), LocalType: "host", RemoteType: "prflx"}
}

// TestRouteKey: what is learned over one way is not used over another.
func TestRouteKey(t *testing.T) {
	home := routeKeyOf("a", routeOver("192.168.1.2", "192.168.1.7"))
	relayed := routeOver("192.168.1.2", "192.168.1.7")
	relayed.RemoteType = "relay"
	for name, tt := range map[string]struct {
		key  routeKey
		same bool
	}{
		"another port":               {routeKeyOf("a", routeOver("192.168.1.2", "192.168.1.7")), true},
		"another lease":              {routeKeyOf("a", routeOver("192.168.1.2", "192.168.1.80")), true},
		"mapped into IPv6":           {routeKeyOf("a", routeOver("::ffff:192.168.1.2", "::ffff:192.168.1.7")), true},
		"another device":             {routeKeyOf("b", routeOver("192.168.1.2", "192.168.1.7")), false},
		"through another interface":  {routeKeyOf("a", routeOver("100.64.0.2", "192.168.1.7")), false},
		"from another network":       {routeKeyOf("a", routeOver("192.168.1.2", "203.0.113.9")), false},
		"from an address that hides": {routeKeyOf("a", routeOver("192.168.1.2", "")), false},
		"by a relay":                 {routeKeyOf("a", relayed), false},
	} {
		if (tt.key == home) != tt.same {
			t.Errorf("%s: %+v beside %+v", name, tt.key, home)
		}
	}
	one, other := routeKeyOf("a", routeOver("fd7a::1", "fd7a::2:3")), routeKeyOf("a", routeOver("fd7a::1", "fd7a::4:5"))
	if one != other {
		t.Errorf("two addresses of one IPv6 network: %+v, %+v", one, other)
	}
}

func TestRouteMemoryExpiresAndIsBounded(t *testing.T) {
	var r routeMemory
	now := time.Unix(1e9, 0)
	key := func(i int) routeKey { return routeKey{device: fmt.Sprint(i)} }
	memory := func(at time.Time) session.Memory { return session.Memory{Capacity: 8 * rate.Mbps, At: at} }
	if m := r.recall(now, key(0)); m != (session.Memory{}) {
		t.Errorf("remembered from nowhere: %+v", m)
	}
	r.note(now, key(0), memory(now))
	r.note(now, key(0), session.Memory{})
	if m := r.recall(now.Add(routeMemoryAge), key(0)); m.Capacity != 8*rate.Mbps {
		t.Errorf("after ten minutes, and a stream that learned nothing: %+v", m)
	}
	if m := r.recall(now.Add(routeMemoryAge+time.Second), key(0)); m != (session.Memory{}) {
		t.Errorf("after more than ten minutes: %+v", m)
	}
	for i := range 3 * mostRoutesKnown {
		at := now.Add(time.Duration(i) * time.Second)
		r.note(at, key(i), memory(at))
	}
	if len(r.known) != mostRoutesKnown {
		t.Errorf("%d routes are remembered", len(r.known))
	}
	last := now.Add(3 * mostRoutesKnown * time.Second)
	if r.recall(last, key(3*mostRoutesKnown-1)) == (session.Memory{}) || r.recall(last, key(0)) != (session.Memory{}) {
		t.Error("the newest routes are not the ones that stay")
	}
}
