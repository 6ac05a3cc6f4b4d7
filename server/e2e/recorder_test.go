package e2e

import (
	"fmt"
	"image"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// The recorder runs in the viewer's page and copies a part of each picture when
// the browser presents it, so that a test can tell when a picture was right
// without being in time itself. Page and test read the same machine's clock.

// shown is a picture that the viewer presented.
type shown struct {
	At    time.Time
	Index int // for recorded; counts from 1
}

// record starts to keep the newest pictures of the viewer's video, or of part
// of it: an empty rectangle means all. It replaces an earlier recording.
func (v *viewer) record(t *testing.T, part image.Rectangle, keep int) {
	t.Helper()
	must(t, v.Run(fmt.Sprintf(lumaScript+`
		if (window.recorder) window.recorder.stop = true;
		const video = document.querySelector("video");
		const part = { x: %d, y: %d, width: %d, height: %d }, keep = %d;
		const rec = window.recorder = { list: [], count: 0, stop: false };
		const next = () => video.requestVideoFrameCallback(async () => {
			if (rec.stop) return;
			const at = performance.timeOrigin + performance.now(), index = ++rec.count;
			next();
			rec.list.push({ at, index, luma: await takeLuma(video, part) });
			if (rec.list.length > keep) rec.list.shift();
		});
		next()`, part.Min.X, part.Min.Y, part.Dx(), part.Dy(), keep)))
}

// presented lists what the recorder holds, oldest first.
func (v *viewer) presented(t *testing.T) []shown {
	t.Helper()
	type entry struct {
		At    float64
		Index int
	}
	list, err := desk.Eval[[]entry](v.Page, "recorder.list.map(e => ({ At: e.at, Index: e.index }))")
	must(t, err)
	out := make([]shown, len(list))
	for i, e := range list {
		out[i] = shown{time.UnixMicro(int64(e.At * 1000)), e.Index}
	}
	return out
}

// recorded gives one of the pictures that the recorder holds.
func (v *viewer) recorded(t *testing.T, index int) luma {
	t.Helper()
	l, err := readLuma(v.Page, fmt.Sprintf("recorder.list.find(e => e.index == %d).luma", index))
	must(t, err)
	return l
}

// rightSince finds when the viewer began to show the picture want, by at least
// so many decibels, and kept showing it; it waits until it does. What was
// presented before after is not looked at.
func (v *viewer) rightSince(t *testing.T, want *image.RGBA, leastDB float64, after time.Time) (at time.Time, db float64) {
	t.Helper()
	seen := map[int]float64{}
	judge := func(s shown) float64 {
		if _, ok := seen[s.Index]; !ok {
			seen[s.Index] = v.recorded(t, s.Index).psnr(want)
		}
		return seen[s.Index]
	}
	var list []shown
	err := desk.Poll(within(t, patience), "the right picture to be presented", func() (bool, error) {
		list = v.presented(t)
		if len(list) == 0 || list[len(list)-1].At.Before(after) {
			return false, nil
		}
		db = judge(list[len(list)-1])
		return db >= leastDB, nil
	})
	if err != nil {
		t.Fatalf("%v; the newest is at %.1f dB, and %.1f are needed", err, db, leastDB)
	}
	for i := len(list) - 1; i >= 0 && !list[i].At.Before(after) && judge(list[i]) >= leastDB; i-- {
		at = list[i].At
	}
	return at, db
}

// settle waits until the screen's part (empty: all) has not changed for 300 ms.
// It gives the picture and a moment not after its last change; begin is one
// from before the first change.
func settle(t *testing.T, x *desk.X, part image.Rectangle, begin time.Time) (*image.RGBA, time.Time) {
	t.Helper()
	d, err := desk.OpenDisplay(x.Name())
	must(t, err)
	defer d.Close()
	if part.Empty() {
		size, err := d.Size()
		must(t, err)
		part = image.Rectangle{Max: size}
	}
	var last *image.RGBA
	before, changed, seen := begin, begin, begin // the grab before; the last change, not before and seen at
	must(t, desk.Poll(within(t, patience), "the screen to be still", func() (bool, error) {
		now := time.Now()
		shot, err := d.Grab(part)
		if err != nil {
			return false, err
		}
		if last == nil || string(shot.Pix) != string(last.Pix) {
			last, changed, seen = shot, before, now
		}
		before = now
		return now.Sub(seen) >= 300*time.Millisecond, nil
	}))
	return last, changed
}
