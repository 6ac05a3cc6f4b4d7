package e2e

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"slices"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
)

// The window of TestInputUntilSeen paints how often it was clicked as a row of
// squares, a bit each, and something that has nothing to do with it below.
const (
	countBits   = 6
	countSquare = 40
)

var (
	countRow   = image.Rect(0, 100, countBits*countSquare, 100+countSquare)
	countAside = image.Rect(0, 300, 640, 480)
)

// paintCount shows the number of clicks. Neighbours differ by one square (Gray
// code), so that no picture catches half a number.
func paintCount(ctx context.Context, w *desk.Window) {
	gray := func(n int) int { return n ^ n>>1 }
	for n := 1; ; n++ {
		if _, err := w.Wait(ctx, func(e desk.Event) bool { return e.Kind == desk.ButtonPress }); err != nil {
			return
		}
		w.Forget()
		for bit := range countBits {
			if changed := gray(n) ^ gray(n-1); changed>>bit&1 == 0 {
				continue
			}
			c := color.RGBA{A: 255}
			if gray(n)>>bit&1 == 1 {
				c = color.RGBA{255, 255, 255, 255}
			}
			w.Fill(image.Rect(bit*countSquare, countRow.Min.Y, (bit+1)*countSquare, countRow.Max.Y), c)
		}
	}
}

// animate changes a part of a window all the time, so often that a picture without the input
// is mostly under way when one is made.
func animate(ctx context.Context, w *desk.Window) {
	tick := time.NewTicker(17 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		strip := countAside
		strip.Min.X = n * 16 % countAside.Dx()
		strip.Max.X = strip.Min.X + 16
		w.Fill(strip, color.RGBA{uint8(n * 7), uint8(n * 13), uint8(n * 29), 255})
	}
}

// watchCount has the page note the number that each picture shows, and when the
// button went down.
const watchCount = `
	window.seen = []; window.downs = [];
	addEventListener("pointerdown", () => downs.push(performance.now()), true);
	const video = document.querySelector("video"), canvas = new OffscreenCanvas(%[1]d, 1);
	const pen = canvas.getContext("2d", { willReadFrequently: true });
	pen.imageSmoothingEnabled = false; // the middle of each square
	const look = (_, m) => {
		video.requestVideoFrameCallback(look);
		pen.drawImage(video, 0, %[2]d, %[3]d, %[4]d, 0, 0, %[1]d, 1);
		let n = 0;
		for (let bit = 0; bit < %[1]d; bit++) if (pen.getImageData(bit, 0, 1, 1).data[0] > 128) n |= 1 << bit;
		for (let shift = 1; shift < %[1]d; shift <<= 1) n ^= n >> shift;
		seen.push({ N: n, RTP: m.rtpTimestamp, At: Math.max(m.expectedDisplayTime, m.presentationTime) });
	};
	video.requestVideoFrameCallback(look);`

// counted is a picture as the page saw it.
type counted struct {
	N   int
	RTP uint32
	At  float64
}

// effect is what the viewer says of an input.
type effect struct {
	MS  float64
	RTP uint32
}

// TestInputUntilSeen: the picture that counts for an input is the one that shows
// it, though others come all the time.
func TestInputUntilSeen(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	w := openWindow(t, x, image.Rect(0, 0, 640, 480), "count")
	v := watchDesktop(t, x)
	v.settleLayout(t)
	must(t, v.Run(fmt.Sprintf(watchCount, countBits, countRow.Min.Y, countRow.Dx(), countRow.Dy())))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go paintCount(ctx, w)
	go animate(ctx, w)
	var told []effect
	for n := 1; n <= 16; n++ {
		must(t, v.WaitFor("performance.now() - (downs.at(-1) ?? 0) > 300", patience)) // a few a second are marked
		v.clickAt(t, desk.Left, image.Pt(320, 240))
		must(t, v.WaitFor(fmt.Sprintf("seen.at(-1)?.N == %d", n), patience))
		told = append(told, v.effectOf(t, told))
	}
	v.judge(t, told)
	recorded(t, v.host.StateDir, "an input until it was seen", func(_, viewer telemetry.Log) bool {
		return slices.ContainsFunc(viewer.Viewer, func(s telemetry.ViewerSecond) bool { return s.Input.OrZero().N > 0 })
	})
}

// judge compares what the viewer said of each input with what its page saw.
func (v *viewer) judge(t *testing.T, told []effect) {
	t.Helper()
	seen, err := desk.Eval[[]counted](v.Page, "seen")
	must(t, err)
	downs, err := desk.Eval[[]float64](v.Page, "downs")
	must(t, err)
	var off []int // pictures from the one that shows the number to the one that counts
	naive := 0    // the next picture on the screen was another
	for i, e := range told {
		first := slices.IndexFunc(seen, func(c counted) bool { return c.N == i+1 })
		counts := slices.IndexFunc(seen, func(c counted) bool { return c.RTP == e.RTP })
		if first < 0 || counts < 0 {
			t.Fatalf("input %d: of %d pictures none shows it or none is at %d", i+1, len(seen), e.RTP)
		}
		next := slices.IndexFunc(seen, func(c counted) bool { return c.At > downs[i] })
		if next != first {
			naive++
		}
		off = append(off, counts-first)
		t.Logf("input %2d: %5.1f ms, said to be %5.1f; the picture that counts is %+d, the next one was %+d", i+1, seen[first].At-downs[i], e.MS, counts-first, next-first)
	}
	near := func(most int) (count int) {
		for _, d := range off {
			if -most <= d && d <= most {
				count++
			}
		}
		return count
	}
	// The program may paint after the first picture that could show it, and a busy
	// machine may learn late that its input was done.
	if near(0) < len(off)/2 || near(1) < len(off)*3/4 {
		t.Errorf("of %d inputs %d were found in the picture that shows them, and %d next to it", len(off), near(0), near(1)-near(0))
	}
	if naive == 0 {
		t.Error("the next picture showed every input: nothing else moved")
	}
}

// effectOf waits until the viewer says of another input than the last one how long
// it took.
func (v *viewer) effectOf(t *testing.T, told []effect) effect {
	t.Helper()
	var e *effect
	must(t, desk.Poll(within(t, patience), "the viewer to say how long the input took", func() (bool, error) {
		var err error
		e, err = desk.Eval[*effect](v.Page, "nearglass.stats().then(s => s.input && { MS: s.input.ms, RTP: s.input.rtp })")
		return e != nil && (len(told) == 0 || told[len(told)-1].RTP != e.RTP), err
	}))
	return *e
}
