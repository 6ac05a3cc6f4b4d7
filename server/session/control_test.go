package session

import (
	"testing"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/pacing"
)

func TestDecideFollowsTheEstimate(t *testing.T) {
	const interval = time.Second / 60
	for _, c := range []struct {
		name     string
		update   cc.Update
		rtt      time.Duration
		interval time.Duration
		keyBytes int
		want     plan
		keyEvery time.Duration // 0: minKeyEvery
	}{
		{
			name:   "the encoder gets the target and the pacer the pace",
			update: cc.Update{Target: 8 * rate.Mbps, Pace: 20 * rate.Mbps, Pad: rate.Mbps},
			want:   plan{Encoder: 8 * rate.Mbps, Pace: 20 * rate.Mbps, Pad: rate.Mbps},
		},
		{
			name:   "in an outage the pace is a trickle below the target",
			update: cc.Update{Target: 150 * rate.Kbps, Pace: 60 * rate.Kbps},
			want:   plan{Encoder: 150 * rate.Kbps, Pace: 60 * rate.Kbps},
		},
		{
			name: "what is believed of the path bounds what waits in front of it",
			update: cc.Update{Target: 8 * rate.Mbps, Pace: 20 * rate.Mbps,
				Path: cc.Path{Rate: 9 * rate.Mbps, Depth: 3 * time.Millisecond, Queue: 40 * time.Millisecond}},
			want: plan{Encoder: 8 * rate.Mbps, Pace: 20 * rate.Mbps, KeyDelay: 40 * time.Millisecond, KeyRate: 9 * rate.Mbps,
				Bottleneck: pacing.Bottleneck{Rate: 9 * rate.Mbps, Depth: 3 * time.Millisecond, Queue: 40 * time.Millisecond}},
		},
		{
			name:   "a probe becomes a train",
			update: cc.Update{Target: 8 * rate.Mbps, Pace: 20 * rate.Mbps, Probe: cc.Probe{ID: 3, Rate: 16 * rate.Mbps, Bytes: 12_000}},
			want: plan{Encoder: 8 * rate.Mbps, Pace: 20 * rate.Mbps,
				Probe: pacing.Train{ID: 3, Rate: 16 * rate.Mbps, Bytes: 12_000}},
		},
		{
			name:   "key frames wait until the last one can have arrived",
			update: cc.Update{Target: rate.Mbps, Pace: rate.Mbps},
			rtt:    100 * time.Millisecond, keyBytes: 50_000, // 400 ms at 1 Mbit/s
			want:     plan{Encoder: rate.Mbps, Pace: rate.Mbps, KeyDelay: 150 * time.Millisecond},
			keyEvery: 550 * time.Millisecond,
		},
		{
			name:   "a pace above what the path carries brings none sooner",
			update: cc.Update{Target: rate.Mbps, Pace: 6 * rate.Mbps, Path: cc.Path{Rate: 2 * rate.Mbps, Queue: 30 * time.Millisecond}},
			rtt:    100 * time.Millisecond, keyBytes: 50_000, // 200 ms at 2 Mbit/s
			want: plan{Encoder: rate.Mbps, Pace: 6 * rate.Mbps, KeyDelay: 180 * time.Millisecond, KeyRate: 2 * rate.Mbps,
				Bottleneck: pacing.Bottleneck{Rate: 2 * rate.Mbps, Queue: 30 * time.Millisecond}},
			keyEvery: 380 * time.Millisecond,
		},
		{
			name:   "where the path is not known, it is the target that counts",
			update: cc.Update{Target: rate.Mbps, Pace: 20 * rate.Mbps},
			rtt:    40 * time.Millisecond, keyBytes: 50_000,
			want:     plan{Encoder: rate.Mbps, Pace: 20 * rate.Mbps, KeyDelay: 60 * time.Millisecond, KeyRate: rate.Mbps},
			keyEvery: 460 * time.Millisecond,
		},
		{
			name:   "in an outage a key frame takes what the trickle lets through",
			update: cc.Update{Target: 150 * rate.Kbps, Pace: 60 * rate.Kbps}, keyBytes: 15_000, // 2 s
			want:     plan{Encoder: 150 * rate.Kbps, Pace: 60 * rate.Kbps},
			keyEvery: 2 * time.Second,
		},
		{
			name:     "few pictures a second may wait longer",
			update:   cc.Update{Target: rate.Mbps, Pace: rate.Mbps},
			interval: 200 * time.Millisecond,
			want:     plan{Encoder: rate.Mbps, Pace: rate.Mbps, Patience: 2 * time.Second},
		},
		{name: "no rate at all divides by nothing", keyBytes: 1000, want: plan{}},
	} {
		if c.interval == 0 {
			c.interval, c.want.Patience = interval, leastPatience
		}
		c.want.MostQueued = mostQueuedFrames * c.interval
		if c.want.KeyRate == 0 {
			c.want.KeyRate = min(c.update.Target, c.update.Pace)
		}
		got := decide(c.update, c.rtt, c.interval)
		if got != c.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
		if every := got.keyEvery(c.keyBytes); every != max(c.keyEvery, minKeyEvery) {
			t.Errorf("%s: a key frame every %v, want %v", c.name, every, max(c.keyEvery, minKeyEvery))
		}
	}
}

func TestEachPictureHasItsOwnTimestamp(t *testing.T) {
	var c rtpClock
	base := time.Unix(1000, 0)
	last := c.at(base)
	for _, ms := range []int{0, 0, 10, 5, 10_000, 9_999} {
		next := c.at(base.Add(time.Duration(ms) * time.Millisecond))
		if int32(next-last) <= 0 {
			t.Errorf("at %d ms: timestamp %d does not follow %d", ms, next, last)
		}
		last = next
	}
	if want := uint32(10_000 * 90); last < want || last > want+10 {
		t.Errorf("after ten seconds the timestamp is %d, want about %d", last, want)
	}
}
