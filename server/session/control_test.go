package session

import (
	"testing"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
)

func TestDecideFollowsTheEstimate(t *testing.T) {
	const interval = time.Second / 60
	for _, c := range []struct {
		name     string
		update   cc.Update
		rtt      time.Duration
		keyBytes int
		want     plan
	}{
		{
			name:   "the encoder gets the target and the pacer the pace",
			update: cc.Update{Target: 8 * rate.Mbps, Pace: 20 * rate.Mbps, Pad: rate.Mbps},
			want:   plan{Encoder: 8 * rate.Mbps, Pace: 20 * rate.Mbps, Pad: rate.Mbps, KeyEvery: minKeyEvery},
		},
		{
			name:   "the pace is never below the target",
			update: cc.Update{Target: 8 * rate.Mbps, Pace: 4 * rate.Mbps},
			want:   plan{Encoder: 8 * rate.Mbps, Pace: 8 * rate.Mbps, KeyEvery: minKeyEvery},
		},
		{
			name:   "key frames wait until the last one can have arrived",
			update: cc.Update{Target: rate.Mbps, Pace: rate.Mbps},
			rtt:    100 * time.Millisecond, keyBytes: 50_000, // 400 ms at 1 Mbit/s
			want: plan{Encoder: rate.Mbps, Pace: rate.Mbps, KeyEvery: 550 * time.Millisecond},
		},
		{name: "no rate at all divides by nothing", keyBytes: 1000, want: plan{KeyEvery: minKeyEvery}},
	} {
		c.want.MostQueued = mostQueuedFrames * interval
		if got := decide(c.update, c.rtt, interval, c.keyBytes); got != c.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
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
