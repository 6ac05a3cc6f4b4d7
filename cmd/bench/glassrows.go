package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"net"

	"nearglass/gpu/capture"
	"nearglass/server/e2e/desk"
)

// readShot reads the number on a grabbed screen.
func readShot(shot *image.RGBA) (uint32, bool) {
	return capture.ReadPatch(shot.Pix[shot.PixOffset(patchAt.X, patchAt.Y):], shot.Stride)
}

// get reads one figure of a result.
type get func(*result) (float64, error)

func delay(m func(*result) series, p int) get {
	return func(r *result) (float64, error) { return m(r).percentile(p) }
}

func motionOf(r *result) series  { return r.motion.delays }
func smallOf(r *result) series   { return r.small.delays }
func changesOf(r *result) series { return r.changes.delays }
func inputOf(r *result) series   { return r.input }

func shownRate(r *result) (float64, error) {
	if r.motion.took == 0 {
		return 0, errNone
	}
	return float64(r.motion.shown) / r.motion.took.Seconds(), nil
}

// among makes a row's figures from the results of all peers.
func among(results map[string]*result, w row, f get) (row, float64, error) {
	w.Baselines = map[string]float64{}
	for name, r := range results {
		if v, err := f(r); err == nil && name != ours {
			w.Baselines[name] = v
		}
	}
	r := results[ours]
	if r == nil {
		return w, 0, errors.New("not measured in this run")
	}
	v, err := f(r)
	if err != nil && r.err != nil {
		err = r.err
	}
	return w, v, err
}

// lower is a row of which less is better.
func lower(measure, unit string, must, goal *float64) row {
	return row{Measure: measure, Unit: unit, Better: "lower", Must: must, Goal: goal}
}

func higher(measure, unit string, must, goal *float64) row {
	return row{Measure: measure, Unit: unit, Better: "higher", Must: must, Goal: goal}
}

// rows turns the results into the report; the limits are those of the project.
func (g *glass) rows(ctx context.Context, rep *report) {
	put := func(results map[string]*result, w row, f get) {
		w, v, err := among(results, w, f)
		rep.add(w, v, err)
	}
	put(g.units, lower("write of the access unit to the viewer's screen, 640x360, p50", "ms", nil, nil), delay(motionOf, 50))
	put(g.units, lower("write of the access unit to the viewer's screen, 640x360, p95", "ms", limit(8), limit(5)), delay(motionOf, 95))
	all := g.results
	put(all, lower("full motion, p50", "ms", limit(35), limit(20)), delay(motionOf, 50))
	put(all, lower("full motion, p95", "ms", limit(50), limit(30)), delay(motionOf, 95))
	put(all, higher("full motion, shown of 57", "fps", limit(56), limit(57)), shownRate)
	noWorse := func(measure string, goal float64, f get) { put(all, g.noWorse(measure, goal, f), f) }
	noWorse("small change, p50", 12, delay(smallOf, 50))
	noWorse("small change, p95", 18, delay(smallOf, 95))
	noWorse("single change, p50", 15, delay(changesOf, 50))
	noWorse("single change, p95", 25, delay(changesOf, 95))
	g.qualityRow(ctx, rep)
	g.movingRow(ctx, rep)
	put(all, lower("host CPU, still screen", "cores", limit(0.01), limit(0.003)), func(r *result) (float64, error) { return mean(r.still) })
	put(all, lower("input to changed picture, p50", "ms", limit(45), limit(30)), delay(inputOf, 50))
	put(all, lower("input to changed picture, p95", "ms", nil, nil), delay(inputOf, 95))
}

// noWorse is a row in ms whose limit is what x0vncserver reached in this run.
func (g *glass) noWorse(measure string, goal float64, f get) row {
	w := lower(measure, "ms", nil, limit(goal))
	r := g.results[x0vnc]
	if r == nil {
		w.Reason = x0vnc + " was not measured"
		return w
	}
	v, err := f(r)
	if err != nil {
		w.Reason = fmt.Sprintf("%s: %v", x0vnc, errors.Join(err, r.err))
		return w
	}
	w.Must = limit(v)
	return w
}

// fixedKbps is the rate of the fixed-bitrate pipeline to compare with on a link
// without a limit.
const fixedKbps = 8000

// fixedPictures is how many it encodes; it needs two seconds of them to find its
// quality.
const fixedPictures = 6 * fps

// qualityRow compares the picture with a fixed-bitrate pipeline, and shows what
// one would reach with all that our host may use.
func (g *glass) qualityRow(ctx context.Context, rep *report) {
	w, v, err := among(g.results, higher("luma PSNR of the whole screen, full motion", "dB", nil, nil),
		func(r *result) (float64, error) { return mean(r.psnr) })
	for _, kbps := range g.times.fixed {
		name := fmt.Sprintf("x264 fixed %dM", kbps/1000)
		db, fixedErr := fixedBitratePSNR(ctx, g.picture, fixedPictures, kbps)
		if fixedErr != nil {
			w.Reason = fixedErr.Error()
			continue
		}
		w.Baselines[name] = db
		if kbps == fixedKbps {
			w.Must, w.Goal = limit(db), limit(db+2)
		}
	}
	rep.add(w, v, err)
}

// The limits of the host's CPU at full motion are 0.40 and 0.25 core where the
// anchor, a GStreamer pipeline of fixed bitrate, took 0.41. Such a figure
// depends on the machine and on what moves, so they hold as shares of what that
// pipeline takes in the same run.
const (
	anchorCores = 0.41
	mustCores   = 0.40
	goalCores   = 0.25
)

// movingRow compares the CPU of a moving picture with that of fixed-bitrate
// pipelines that capture and encode the same screen.
func (g *glass) movingRow(ctx context.Context, rep *report) {
	w, v, err := among(g.results, lower("host CPU, full motion", "cores", limit(mustCores), limit(goalCores)),
		func(r *result) (float64, error) { return mean(r.moving) })
	if cores, pipeErr := g.pipelineCPU(ctx, g.ffmpegPipeline()); pipeErr != nil {
		w.Reason = pipeErr.Error()
	} else {
		w.Baselines[fmt.Sprintf("ffmpeg x264 fixed %dM", fixedKbps/1000)] = cores
	}
	if cores, pipeErr := g.anchorCPU(ctx); pipeErr != nil {
		w.Reason = pipeErr.Error()
	} else {
		w.Baselines[fmt.Sprintf("GStreamer x264 fixed %dM", fixedKbps/1000)] = cores
		w.Must, w.Goal = limit(cores*mustCores/anchorCores), limit(cores*goalCores/anchorCores)
	}
	rep.add(w, v, err)
}

// anchorCPU is what the anchor's pipeline takes; its packets go to a port that
// nobody reads.
func (g *glass) anchorCPU(ctx context.Context) (float64, error) {
	if err := desk.Need("gst-launch-1.0"); err != nil {
		return 0, err
	}
	sink, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer sink.Close()
	return g.pipelineCPU(ctx, g.gstreamerPipeline(sink.LocalAddr().(*net.UDPAddr).Port))
}
