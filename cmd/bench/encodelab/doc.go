// Package encodelab compares ways to control an encoder: each gets the same
// pictures, one after the other in turn, and sends what it makes of them over a
// simulated link of its own. Pictures come from generators with seeds, time is
// virtual but for what encoding takes, and the link's rate is known, because
// what is judged here is the encoder's control and not the congestion control.
package encodelab
