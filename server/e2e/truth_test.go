package e2e

import (
	"fmt"
	"image"
	"math"
	"slices"
	"testing"

	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
)

// otherClock gives the page another clock: its wall clock is ahead by so many ms,
// and both its clocks run faster by so many parts in a million. Everything that
// the viewer reads of time is by them; window.real reads the machine's own.
const otherClock = `(() => {
	const ahead = %v, faster = 1 + %v * 1e-6;
	const now = performance.now.bind(performance), date = Date.now, begin = now();
	const shift = (t) => (t - begin) * faster + begin;
	const request = HTMLVideoElement.prototype.requestVideoFrameCallback;
	performance.now = () => shift(now());
	Date.now = () => Math.floor(date() + ahead + shift(now()) - now());
	HTMLVideoElement.prototype.requestVideoFrameCallback = function (f) {
		return request.call(this, (at, m) => f(shift(at), { ...m,
			presentationTime: shift(m.presentationTime), expectedDisplayTime: shift(m.expectedDisplayTime), receiveTime: shift(m.receiveTime) }));
	};
	window.real = { request, origin: performance.timeOrigin };
})()`

// readClock has the page note of each picture when it was captured, as the test
// pattern paints it (capture.DrawPatch), and when it was shown, both in ms by the
// machine's clock. The picture that is read may be a later one than that of which
// the browser tells when it was shown; each says which it is.
const readClock = `
	window.captured = new Map(); window.shown = new Map();
	const video = document.querySelector("video"), canvas = new OffscreenCanvas(8, 5);
	const pen = canvas.getContext("2d", { willReadFrequently: true });
	pen.imageSmoothingEnabled = false; // the middle of each square
	const look = (_, m) => {
		real.request.call(video, look);
		shown.set(m.rtpTimestamp, real.origin + Math.max(m.expectedDisplayTime, m.presentationTime));
		const frame = new VideoFrame(video), rtp = frame.metadata().rtpTimestamp;
		pen.drawImage(frame, 0, 0, 128, 80, 0, 0, 8, 5);
		frame.close();
		const pixels = pen.getImageData(0, 0, 8, 5).data, bytes = [0, 0, 0, 0, 0];
		for (let i = 0; i < 40; i++) bytes[i >> 3] = bytes[i >> 3] << 1 | (pixels[4 * i] > 128 ? 1 : 0);
		let check = 255;
		for (const b of bytes.slice(0, 4)) {
			check ^= b;
			for (let i = 0; i < 8; i++) check = check & 128 ? ((check << 1) ^ 7) & 255 : check << 1;
		}
		if (check !== bytes[4]) return;
		const at = (((bytes[0] * 256 + bytes[1]) * 256 + bytes[2]) * 256 + bytes[3]) / 10, wrap = 2 ** 32 / 10;
		captured.set(rtp, at + Math.round((shown.get(m.rtpTimestamp) - at) / wrap) * wrap);
	};
	real.request.call(video, look);`

// truth is a picture as the page saw it by the machine's own clock, ms.
type truth struct {
	RTP             uint32
	Captured, Shown float64
}

// mostOff is how far the stages of a picture may be from its true way at p95, ms,
// where the clocks are known as well as that, which a ping tells that no busy
// machine held up. It takes so many pictures to say so, and a run more if need be.
const (
	mostOff    = 2
	enoughSeen = 100
	mostRuns   = 4
)

// pageClocks are the clocks of the viewer's page: how far the wall clock is ahead,
// ms, and how much faster both run, parts in a million.
var pageClocks = []struct {
	name          string
	ahead, faster float64
}{{"one clock", 0, 0}, {"three hours ahead and fast", 3 * 3600e3, 200}, {"three hours behind and slow", -3 * 3600e3, -200}}

// TestStagesAgainstTheTruth: the stages that both logs have of a picture add up to
// the time from its capture until it was shown, which the picture itself tells,
// whatever the viewer's clock says; and the clocks are known as well as the log
// claims.
func TestStagesAgainstTheTruth(t *testing.T) {
	var off []float64
	for run := 0; run < len(pageClocks) || len(off) < enoughSeen && run < mostRuns; run++ {
		c := pageClocks[run%len(pageClocks)]
		t.Run(c.name, func(t *testing.T) {
			h := startHost(t, desk.HostOptions{Args: []string{"--log-frames"}})
			p := newPage(t, image.Pt(1280, 720))
			onLoad(t, p, fmt.Sprintf(otherClock, c.ahead, c.faster))
			pair(t, p, h.PairURL)
			watch(t, p, "pattern:clock")
			must(t, p.Run(readClock))
			must(t, p.WaitFor("captured.size > 200", 2*patience))
			seen, err := desk.Eval[[]truth](p, "[...captured].filter(([rtp]) => shown.has(rtp)).map(([rtp, at]) => ({ RTP: rtp, Captured: at, Shown: shown.get(rtp) }))")
			must(t, err)
			must(t, p.Run("location.hash = '#/'"))
			_, host, viewer := recorded(t, h.StateDir, "an end", func(host, viewer telemetry.Log) bool { return ended(host) && ended(viewer) })
			off = append(off, judgeStages(t, seen, host, viewer)...)
		})
	}
	if len(off) < enoughSeen {
		t.Skipf("this machine is too busy for pings: of %d pictures alone the clocks were known to within %d ms; in every run the stages were off by no more than the log claims", len(off), mostOff)
	}
	slices.Sort(off)
	p95 := off[len(off)*95/100]
	t.Logf("%d pictures: where the clocks are known to within %d ms the stages are off by %.2f ms in the middle and %.2f at p95", len(off), mostOff, off[len(off)/2], p95)
	if p95 > mostOff {
		t.Errorf("the stages are off by %.2f ms at p95, and may be by %d", p95, mostOff)
	}
}

// judgeStages compares each picture's stages with the truth: they may be off by
// what the clocks can be. It gives by how much they are, ms, where the clocks are
// known to within mostOff.
func judgeStages(t *testing.T, seen []truth, host, viewer telemetry.Log) (off []float64) {
	t.Helper()
	var beyond []float64
	for _, s := range seen {
		h := slices.IndexFunc(host.Frames, func(f telemetry.FrameTrace) bool { return f.RTP == s.RTP })
		v := slices.IndexFunc(viewer.Frames, func(f telemetry.FrameTrace) bool { return f.RTP == s.RTP })
		if h < 0 || v < 0 {
			continue
		}
		sum, bound, ok := stagesOf(host.Frames[h], viewer.Frames[v], viewer.Viewer)
		if !ok {
			continue
		}
		d := math.Abs(sum - (s.Shown - s.Captured))
		beyond = append(beyond, d-bound)
		if bound <= mostOff {
			off = append(off, d)
		}
	}
	if len(beyond) < 50 {
		t.Fatalf("of %d pictures %d have all stages", len(seen), len(beyond))
	}
	slices.Sort(beyond)
	worst := beyond[len(beyond)*95/100]
	t.Logf("%d pictures: the stages are off by %.2f ms beyond what the clocks can be at p95; of %d the clocks are known well", len(beyond), worst, len(off))
	if worst > 0.5 { // times are told in tenths and hundredths
		t.Errorf("the stages are off by %.2f ms more than the clocks can be", worst)
	}
	return off
}

// stagesOf adds up the way of a picture, each stage from two times of its own, and
// tells how wrong the one between the two ends can be.
func stagesOf(h, v telemetry.FrameTrace, seconds []telemetry.ViewerSecond) (sum, boundMs float64, ok bool) {
	var clock *telemetry.Clock
	nearest := math.Inf(1)
	for _, s := range seconds {
		if d := math.Abs(s.T - v.ShownT); s.Clock != nil && d < nearest {
			clock, nearest = s.Clock, d
		}
	}
	if clock == nil || v.ReceivedT == 0 || h.SentT == 0 {
		return 0, 0, false
	}
	for _, stage := range []float64{
		h.TakenT - h.T, h.EncodedT - h.TakenT, h.QueuedT - h.EncodedT, h.SentT - h.QueuedT,
		v.ReceivedT + clock.OffsetMs - h.SentT, v.DecodedT - v.ReceivedT, v.ShownT - v.DecodedT,
	} {
		sum += stage
	}
	return sum, clock.BoundMs, true
}
