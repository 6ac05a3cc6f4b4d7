//go:build cgo

package encode

import (
	"image"
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode/ratecontrol"
)

// host plays the session: an encoder and a rate controller on a clock of its
// own.
type host struct {
	t   *testing.T
	e   Encoder
	c   *ratecontrol.Controller
	now time.Time
	// sent is when the link has carried each unit.
	sent   []time.Time
	target rate.Rate
}

// encode gives no units where there is nothing to sharpen yet.
func (h *host) encode(kind ratecontrol.Kind) []AccessUnit {
	d := h.c.Plan(h.now, ratecontrol.Picture{Size: image.Pt(1920, 1080), Kind: kind})
	if kind == ratecontrol.Refine && d.Sharpen == nil {
		return nil
	}
	u := encode(h.t, h.e, Order{QP: d.QP, Sharpen: d.Sharpen, Key: kind == ratecontrol.Key})
	if less, redo := h.c.Redo(d, u.SizeBytes, u.Hasty); redo && kind == ratecontrol.Refine {
		h.t.Logf("%d bytes where %d were allowed", u.SizeBytes, d.AllowedBytes)
		if _, err := h.e.Drop(); err != nil {
			h.t.Fatal(err)
		}
		u = encode(h.t, h.e, Order{QP: less.QP, Sharpen: less.Sharpen})
	}
	h.c.Done(h.now.Add(8*time.Millisecond), kind, d.QP, u.SizeBytes)
	h.sent = append(h.sent, h.now.Add(h.target.Duration(h.c.Snapshot().DebtBytes)))
	h.t.Logf("%8v %-6v qp %2d %6d bytes, predicted %6d, allowed %6d", h.now.Sub(time.Time{}), kind, d.QP, u.SizeBytes, d.PredictedBytes, d.AllowedBytes)
	return []AccessUnit{u}
}

// settle refines until the controller is content.
func (h *host) settle() (units []AccessUnit) {
	for {
		at, ok := h.c.NextRefine(h.now)
		if !ok {
			return units
		}
		if at.After(h.now) {
			h.now = at
		}
		units = append(units, h.encode(ratecontrol.Refine)...)
	}
}

// A screen that becomes still is shown at 45 dB within a second, gets sharper
// still, and then encodes nothing.
func TestStillScreenGetsSharp(t *testing.T) {
	size := image.Pt(1920, 1080)
	for _, c := range []struct {
		name   string
		target rate.Rate
		then   *gpu.Frame
	}{
		{"document", 5 * rate.Mbps, bgra(document.page(size, 2), 0, size)},
		{"terminal", 10 * rate.Mbps, bgra(terminal.page(size, 2), 0, size)},
		{"photo", 20 * rate.Mbps, bgra(photo(size), 0, size)},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &host{t: t, target: c.target, e: open(t, Config{Size: size}), now: time.Time{}.Add(time.Hour),
				c: ratecontrol.New(ratecontrol.Config{Target: c.target})}
			load(t, h.e, bgra(document.page(size, 1), 0, size))
			units := append(h.encode(ratecontrol.Key), h.settle()...)
			h.now = h.now.Add(time.Second)
			load(t, h.e, c.then)
			still := h.now
			units = append(units, h.encode(ratecontrol.Motion)...)
			units = append(units, h.settle()...)
			decoded := decodeAll(t, units, size)
			db := lumaPSNR(decoded[len(decoded)-1], c.then)
			sharp := slices.IndexFunc(decoded, func(p planes) bool { return lumaPSNR(p, c.then) >= 45 })
			if sharp < 0 || db < 45 {
				t.Fatalf("the picture ends at qp %d and %.1f dB", units[len(units)-1].QP, db)
			}
			took := h.sent[sharp].Sub(still)
			t.Logf("%v, qp %d, %.1f dB in the end", took, units[sharp].QP, db)
			if took > time.Second {
				t.Errorf("the picture is at 45 dB and qp %d after %v", units[sharp].QP, took)
			}
		})
	}
}
