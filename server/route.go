package server

import (
	"net/netip"
	"sync"
	"time"

	"nearglass/server/session"
	"nearglass/signaling"
	"nearglass/telemetry/netpath"
)

// road is how a stream's packets travel, as its last look found it.
type road struct {
	path netpath.Path
	// settled is the last path of which it was known how the packets travel: a
	// daemon that is silent for a while does not hide that they changed.
	settled netpath.Path
	key     routeKey
}

// next is the road of a new look. It says whether packets that take it meet
// another network than before.
func (r road) next(path netpath.Path, key routeKey) (road, bool) {
	n := road{path: path, settled: r.settled, key: key}
	if !path.Kind.Vague() || n.settled.Kind == "" {
		n.settled = path
	}
	if r.key == (routeKey{}) {
		return n, false // the first
	}
	return n, r.settled.Differs(path) || r.key.remote != key.remote
}

// roads follows the road of one viewer.
type roads struct {
	mu    sync.Mutex
	road  road
	moved chan struct{} // signalled when ICE takes another pair
}

// now gives the road of the last look; false before there was one.
func (r *roads) now() (road, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.road, r.road.key != (routeKey{})
}

// followRoad looks at the road while the stream lives: at once when ICE takes
// another pair of addresses, and when the watcher may know more.
func (v *viewer) followRoad() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-v.ctx.Done():
			return
		case <-v.roads.moved:
		case <-timer.C:
		}
		timer.Reset(time.Until(v.look(time.Now())))
	}
}

// noteMove has followRoad look at once.
func (v *viewer) noteMove() {
	select {
	case v.roads.moved <- struct{}{}:
	default:
	}
}

// look finds the road of the moment, passes on what is new of it, and says when
// to look again.
func (v *viewer) look(now time.Time) time.Time {
	v.roads.mu.Lock()
	defer v.roads.mu.Unlock()
	pair, ok := v.pair()
	if !ok {
		return now.Add(time.Hour) // the first pair will be told of
	}
	path, again := v.host.paths.Look(now, pair)
	before := v.roads.road
	after, changed := before.next(path, routeKeyOf(v.grant.DeviceID, path, pair.Remote))
	v.roads.road = after
	if path.MTU > 0 {
		v.peer.SetMTU(path.MTU)
	}
	if changed {
		v.host.routes.note(now, before.key, v.session.Memory())
		v.session.RouteChanged(v.host.known(now, after))
	}
	if changed || before.path.Words() != path.Words() || before.path.Unknown != path.Unknown {
		v.log.Info("path", "kind", path.Kind, "words", path.Words(), "changed", changed, "unknown", path.Unknown,
			"interface", path.Interface, "mtu", path.MTU)
		v.say(pathMessage(path, changed))
		v.recorder.event(pathEvent(path))
	}
	return again
}

// pair is the addresses that ICE has chosen.
func (v *viewer) pair() (netpath.Pair, bool) {
	r, ok := v.peer.Route()
	return netpath.Pair{
		Local: r.Local.Addr(), Remote: r.Remote.Addr(), LocalType: r.LocalType, RemoteType: r.RemoteType,
		Bound: !v.host.front.addr().Addr().IsUnspecified(),
	}, ok
}

func pathMessage(p netpath.Path, changed bool) signaling.Path {
	return signaling.Path{Kind: string(p.Kind), Words: p.Words(), Unknown: p.Unknown, Changed: changed}
}

// sayPath tells a viewer that opened its control channel which road it has.
func (v *viewer) sayPath() {
	if r, ok := v.roads.now(); ok {
		v.say(pathMessage(r.path, false))
	}
}

// known is what the session should know of a road before packets take it.
func (h *Host) known(now time.Time, r road) session.Route {
	return session.Route{Memory: h.routes.recall(now, r.key), Relayed: r.path.Kind.Relayed()}
}

// recall tells the session what is known of the road that it begins on.
func (v *viewer) recall() session.Route {
	now := time.Now()
	v.look(now)
	if r, ok := v.roads.now(); ok {
		return v.host.known(now, r)
	}
	return session.Route{}
}

// remember keeps what the session has learned of its road. It is called when the
// stream ends, and when nothing comes from the viewer: one that was cut off comes
// back before its old stream is given up.
func (v *viewer) remember() {
	if r, ok := v.roads.now(); ok {
		v.host.routes.note(time.Now(), r.key, v.session.Memory())
	}
}

// routeKey names a way to a device. One that moves to another network, or whose
// packets take another road, comes by another way.
type routeKey struct {
	device string
	road   netpath.Network
	remote netip.Prefix // the network that the device is in; invalid where it hides
}

func routeKeyOf(device string, p netpath.Path, remote netip.Addr) routeKey {
	return routeKey{device: device, road: p.Network(), remote: netpath.NetworkOf(remote)}
}
