package ratecontrol

import (
	"math/rand/v2"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// TestByEncoder: an encoder that holds its rate is told the rate that video may use,
// as it changes, and no picture is encoded again because of its size.
func TestByEncoder(t *testing.T) {
	c, now := New(Config{Target: 5 * rate.Mbps, ByEncoder: true}), epoch
	rng := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		now = now.Add(frame)
		target := rate.Rate(1e5 + rng.Int64N(1e7))
		c.SetTarget(now, target)
		kind := Kind(rng.IntN(3))
		p := Picture{Size: hd, Damage: part(hd, rng.IntN(hdPixels)), Kind: kind}
		d := c.Plan(now, p)
		if kind == Key && rng.IntN(2) == 0 {
			d = c.PlanLarger(now, p)
		}
		if d.Bitrate != target || d.AllowedBytes != int(bytesIn(target, frame)) {
			t.Fatalf("of %v: %+v", target, d)
		}
		if _, ok := c.Redo(d, 1<<20, false); ok {
			t.Fatal("a picture is to be encoded again")
		}
		c.Done(now, kind, 20+rng.IntN(20), d.AllowedBytes)
	}
}

// TestByEncoderUnderABound: the bound on the average is kept by the rate that the
// encoder is told.
func TestByEncoderUnderABound(t *testing.T) {
	const most = 2 * rate.Mbps
	c, now, total := New(Config{Target: 20 * rate.Mbps, MaxAverage: most, ByEncoder: true}), epoch, 0
	for range 60 * 20 {
		now = now.Add(frame)
		d := c.Plan(now, Picture{Size: hd, Kind: Motion})
		total += d.AllowedBytes
		c.Done(now, Motion, 30, d.AllowedBytes)
	}
	if share := float64(total) / float64(most.Bytes(now.Sub(epoch))); share > 1 || share < 0.97 {
		t.Errorf("%.3f of the bound was used", share)
	}
}

// TestByEncoderRefines: a still picture is encoded again until the encoder had room
// to spare at its end, whatever QP it began with, and not after that.
func TestByEncoderRefines(t *testing.T) {
	c, now := New(Config{Target: 5 * rate.Mbps, ByEncoder: true}), epoch
	full := int(bytesIn(5*rate.Mbps, frame))
	d := c.Plan(now, Picture{Size: hd, Kind: Key})
	c.Done(now, Key, 30, full)
	steps := []struct{ qp, sizeBytes int }{{20, full}, {14, full}, {defaultRefineQP, full}, {defaultRefineQP, full}, {defaultRefineQP, full / 3}}
	for i, s := range steps {
		at, ok := c.NextRefine(now)
		if !ok {
			t.Fatalf("after %d refinements the picture is taken for finished", i)
		}
		now = maxTime(at, now)
		d = c.Plan(now, Picture{Size: hd, Kind: Refine})
		c.Done(now, Refine, s.qp, s.sizeBytes)
	}
	if at, ok := c.NextRefine(now); ok {
		t.Errorf("a finished picture is refined again at %v", at.Sub(now))
	}
	if took := now.Sub(epoch); took > 300*time.Millisecond || d.Bitrate != 5*rate.Mbps {
		t.Errorf("%d refinements of an interval each took %v", len(steps), took)
	}
}
