//go:build cgo

package encode

import (
	"image"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/gpu/encode/h264"
	"nearglass/gpu/encode/ratecontrol"
)

// TestReconfiguredAtEachPicture: the rate changes before every picture, by little or
// by a lot, pictures are exchanged, scroll and stand still, and are given up in
// between. No key frame comes that was not ordered, and what ffmpeg shows is what
// x264 has, to the bit.
func TestReconfiguredAtEachPicture(t *testing.T) {
	for _, c := range []Config{
		{Control: CBR, Threads: 2}, {Control: CBR, Threads: 1, Profile: h264.High}, {Control: CBR, Threads: 4, References: 4, Preset: "superfast"},
		{Control: CRF, Threads: 2, Preset: "superfast"},
	} {
		c.Size = image.Pt(322, 178)
		s, scene := &stream{t: t, e: open(t, c)}, newScreen(c.Size, uint64(c.Threads))
		load(t, s.e, scene.change())
		for i := range 300 {
			o := Order{Bitrate: rate.Rate(5e4 + scene.rng.Int64N(1e7)), Key: i == 200}
			for range scene.rng.IntN(3) {
				load(t, s.e, scene.change())
			}
			u := encode(t, s.e, o)
			if u.Key != (i == 0 || i == 200) {
				t.Fatalf("picture %d at %v: key is %v", i, o.Bitrate, u.Key)
			}
			if u.QP < cbrSharpest && c.Control == CBR || u.QP > MaxQP {
				t.Errorf("picture %d is at QP %d", i, u.QP)
			}
			if scene.rng.IntN(4) > 0 || !s.drop(u) {
				s.send(u, reconstruction(s.e).sum())
			}
		}
		got := decodedSums(t, s.units)
		if len(got) != len(s.sums) || s.drops == 0 {
			t.Fatalf("%d units gave %d pictures, %d were dropped", len(s.sums), len(got), s.drops)
		}
		for i := range got {
			if got[i] != s.sums[i] {
				t.Fatalf("unit %d (key %v, %d bytes) does not decode to what x264 has", i, s.units[i].Key, s.units[i].SizeBytes)
			}
		}
	}
}

// TestCBRKeepsItsRate: a scroll takes the rate that was ordered last, and no picture
// much more than its frame interval of it, a key frame neither.
func TestCBRKeepsItsRate(t *testing.T) {
	const fps, each = 60, 120
	size := image.Pt(640, 368)
	e := open(t, Config{Size: size, FPS: fps, Threads: 2, Control: CBR})
	frames := scroll(document, size, each, 7)
	for _, bitrate := range []rate.Rate{4 * rate.Mbps, rate.Mbps, 300 * rate.Kbps, 2 * rate.Mbps} {
		sum, largest := 0, 0
		for i, f := range frames {
			load(t, e, f)
			u := encode(t, e, Order{Bitrate: bitrate, Key: i == each/2 && bitrate == rate.Mbps})
			if i < 10 { // it takes some pictures to come down
				continue
			}
			sum, largest = sum+u.SizeBytes, max(largest, u.SizeBytes)
		}
		interval := float64(bitrate.Bytes(time.Second / fps))
		use, most := float64(sum)/(interval*(each-10)), float64(largest)/interval
		t.Logf("%v: %.2f of it used, the largest picture takes %.2f intervals", bitrate, use, most)
		if use > 1.1 || use < 0.5 || most > 2 {
			t.Errorf("%v: %.2f of it used, the largest picture takes %.2f intervals", bitrate, use, most)
		}
	}
}

// TestCRFKeepsToItsRate: what is easy takes less than the rate, what is not takes the
// rate.
func TestCRFKeepsToItsRate(t *testing.T) {
	const fps, each = 60, 120
	size := image.Pt(640, 368)
	e := open(t, Config{Size: size, FPS: fps, Threads: 2, Control: CRF})
	frames := scroll(document, size, each, 7)
	for _, tt := range []struct {
		bitrate     rate.Rate
		least, most float64 // of it used
	}{
		{40 * rate.Mbps, 0.02, 0.5}, {300 * rate.Kbps, 0.7, 1.15},
	} {
		sum := 0
		for i, f := range frames {
			load(t, e, f)
			if u := encode(t, e, Order{Bitrate: tt.bitrate}); i >= each/2 {
				sum += u.SizeBytes
			}
		}
		use := float64(sum) / float64(tt.bitrate.Bytes(time.Second/fps)*each/2)
		if use < tt.least || use > tt.most {
			t.Errorf("%v: %.2f of it used", tt.bitrate, use)
		}
	}
}

// TestCBRStillPicture: under the controller of the rate a still picture gets as sharp
// as with ordered QPs, and then nothing is encoded.
func TestCBRStillPicture(t *testing.T) {
	size := image.Pt(640, 368)
	e := open(t, Config{Size: size, Threads: 2, Control: CBR})
	c, now := ratecontrol.New(ratecontrol.Config{Target: 4 * rate.Mbps, ByEncoder: true}), time.Unix(1000, 0)
	load(t, e, bgra(document.page(size, 1), 0, size))
	pictures := 0
	for kind := ratecontrol.Key; ; kind = ratecontrol.Refine {
		d := c.Plan(now, ratecontrol.Picture{Size: size, Kind: kind})
		if kind == ratecontrol.Key || d.Sharpen != nil {
			u := encode(t, e, Order{QP: d.QP, Bitrate: d.Bitrate, Sharpen: d.Sharpen, Key: kind == ratecontrol.Key})
			c.Done(now, kind, u.QP, u.SizeBytes)
			if pictures++; pictures > 300 {
				t.Fatalf("%d pictures of a still screen, the last at QP %d with %d bytes", pictures, u.QP, u.SizeBytes)
			}
		}
		at, ok := c.NextRefine(now)
		if !ok {
			break
		}
		now = at
	}
	db := psnrOf(lumaOf(reconstruction(e)), sourceOf(e))
	t.Logf("%d pictures until %.1f dB after %v", pictures, db, now.Sub(time.Unix(1000, 0)))
	if db < 45 {
		t.Errorf("a still picture is left at %.1f dB", db)
	}
}

// TestOrdersThatCannotBe: a rate where a QP decides is of no effect; none where a rate
// is held is an error, and so is a QP off the scale where it decides.
func TestOrdersThatCannotBe(t *testing.T) {
	size := image.Pt(64, 48)
	for _, tt := range []struct {
		control Control
		order   Order
		fails   bool
	}{
		{ByOrder, Order{QP: 30, Bitrate: rate.Mbps}, false},
		{ByOrder, Order{QP: 0}, true},
		{ByOrder, Order{QP: 52, Bitrate: rate.Mbps}, true},
		{CRF, Order{QP: 0, Bitrate: rate.Kbps}, false},
		{CBR, Order{QP: 30}, true},
		{CRF, Order{QP: 30}, true},
		{CBR, Order{Bitrate: -1}, true},
	} {
		e := open(t, Config{Size: size, Control: tt.control})
		load(t, e, bgra(document.page(size, 1), 0, size))
		if _, err := e.Encode(tt.order); (err != nil) != tt.fails {
			t.Errorf("control %d, %+v: %v", tt.control, tt.order, err)
		}
	}
}
