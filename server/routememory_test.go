package server

import (
	"fmt"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/server/session"
)

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
