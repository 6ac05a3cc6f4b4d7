package ratecontrol

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// TestNextPicture: pictures that are too large at any QP are put off, so that what
// is sent keeps to the target and little is owed in the end; others never are.
func TestNextPicture(t *testing.T) {
	for name, tt := range map[string]struct {
		target    rate.Rate
		sizeBytes int
		late      bool
	}{
		"pictures that fit":           {5 * rate.Mbps, 8_000, false},
		"pictures just over":          {5 * rate.Mbps, 11_000, true},
		"pictures of ten intervals":   {300 * rate.Kbps, 6_250, true},
		"pictures of half a second":   {300 * rate.Kbps, 20_000, true},
		"the least rate there can be": {1, 6_250, true},
	} {
		c, begin := New(Config{Target: tt.target}), time.Unix(1000, 0)
		now, sent, late := begin, 0, false
		for now.Sub(begin) < 20*time.Second {
			if at := c.NextPicture(now); at.After(now) {
				now, late = at, true
			}
			d := c.Plan(now, Picture{Size: hd, Kind: Motion})
			c.Done(now, Motion, d.QP, tt.sizeBytes)
			sent += tt.sizeBytes
			now = now.Add(time.Second / 60)
		}
		most := bytesIn(max(tt.target, minTarget), now.Sub(begin)+mostOwed*time.Second/60) + float64(tt.sizeBytes)
		if late != tt.late || float64(sent) > most {
			t.Errorf("%s: put off: %v; %d bytes were sent where %.0f fit", name, late, sent, most)
		}
		if owed := c.Snapshot().DebtBytes; float64(owed) > bytesIn(max(tt.target, minTarget), mostOwed*time.Second/60)+float64(tt.sizeBytes)+1 {
			t.Errorf("%s: %d bytes are owed", name, owed)
		}
	}
}

// TestKeyFramePutsNothingOff: not even the usual key frame and a scene behind it.
func TestKeyFramePutsNothingOff(t *testing.T) {
	c, now := New(Config{Target: 5 * rate.Mbps}), time.Unix(1000, 0)
	d := c.Plan(now, Picture{Size: hd, Kind: Key})
	c.Done(now, Key, d.QP, d.AllowedBytes)
	if at := c.NextPicture(now); at.After(now) {
		t.Errorf("the picture after a key frame is put off by %v", at.Sub(now))
	}
}

// TestPlanLarger: the key frame of a larger still picture gets half a second of
// the link, and comes out as sharp as that allows.
func TestPlanLarger(t *testing.T) {
	c, now := New(Config{Target: 300 * rate.Kbps}), time.Unix(1000, 0)
	p := Picture{Size: hd, Kind: Key}
	usual := c.Plan(now, p)
	larger := c.PlanLarger(now, p)
	if larger.QP > usual.QP-6 || larger.AllowedBytes < 18_000 || larger.AllowedBytes > 19_000 || larger.PredictedBytes > larger.AllowedBytes {
		t.Errorf("usually %+v, larger %+v", usual, larger)
	}
	c.Done(now, Key, larger.QP, larger.PredictedBytes)
	if again := c.PlanLarger(now, p); again.QP < larger.QP {
		t.Errorf("on a link that is not free %+v", again)
	}
}
