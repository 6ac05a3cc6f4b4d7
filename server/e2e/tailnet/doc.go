// Package tailnet tests the host over a real tailnet without the internet: a
// control server, a DERP relay and STUN in one network namespace, which forwards
// between two others, and in each of those Tailscale's daemon with a kernel TUN
// device. The host streams from the one to a viewer in the other, UDP between
// the two is cut and let through again, and what the viewer is told of the road
// is held against what Tailscale says of itself.
//
// It is a module of its own: Tailscale's daemon brings a hundred modules along,
// which nobody who builds nearglass should have to fetch.
package tailnet
