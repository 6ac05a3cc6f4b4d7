package main

import (
	"errors"
	"slices"

	"nearglass/cmd/bench/encodelab"
)

// errNotRun stands in a row whose run was left out.
var errNotRun = errors.New("this run was left out")

// encodeMeasure is a figure that is compared with x264's own control of its
// rate: must and goal are what the CRF baseline has, times a factor, plus a
// difference.
type encodeMeasure struct {
	name, unit, better string
	of                 func(encodelab.Figures) float64
	must, goal         func(crf float64) float64
	workloads, links   []string // nil: all that move
}

func times(f float64) func(float64) float64  { return func(v float64) float64 { return f * v } }
func plus(d float64) func(float64) float64   { return func(v float64) float64 { return v + d } }
func always(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// steadily are the workloads of the targets.
var steadily = []string{"scroll", "typing", "animation", "region", "small update"}

var narrow = []string{"5 Mbit/s"}

// encodeMeasures are the rows of section 2 of the targets, and what explains
// them.
var encodeMeasures = []encodeMeasure{
	{"encode time a picture", "ms", "lower", func(f encodelab.Figures) float64 { return f.EncodeMs }, times(0.7), times(0.55), nil, nil},
	{"CPU of the process a picture", "ms", "lower", func(f encodelab.Figures) float64 { return f.CPUMs }, times(0.8), times(0.63), nil, nil},
	{"PSNR at the viewer", "dB", "higher", func(f encodelab.Figures) float64 { return f.PSNR }, plus(-0.2), plus(0), nil, nil},
	{"SSIM at the viewer", "", "higher", func(f encodelab.Figures) float64 { return f.SSIM }, nil, nil, nil, nil},
	{"gaps over 33 ms in 22 s", "", "lower", func(f encodelab.Figures) float64 { return float64(f.Gaps) }, plus(0), always(0),
		append(slices.Clone(steadily), "scene changes"), narrow},
	{"p99 latency", "ms", "lower", func(f encodelab.Figures) float64 { return f.P99 }, plus(0), plus(0),
		[]string{"scroll", "animation", "region", "scene changes"}, narrow},
	{"p50 latency", "ms", "lower", func(f encodelab.Figures) float64 { return f.P50 }, nil, nil, nil, nil},
	{"pictures shown", "%", "higher", func(f encodelab.Figures) float64 { return f.Shown }, plus(0), always(100), nil, nil},
	{"bitrate", "kbit/s", "lower", func(f encodelab.Figures) float64 { return f.Kbps }, nil, nil, nil, nil},
}

// encodeRows turns the runs into rows.
func encodeRows(rep *report, runs []encodeRun) {
	for _, m := range encodeMeasures {
		for _, r := range runs {
			if m.concerns(r) {
				rep.addEncode(m, r)
			}
		}
	}
	stopRows(rep, runs)
	capRows(rep, runs)
}

// figure is the measure's value of a result. One that says nothing else is the average
// of the whole stream.
func (m encodeMeasure) figure(r *encodelab.Result) float64 {
	if m.of == nil {
		return r.Average()
	}
	return m.of(r.Figures())
}

func (m encodeMeasure) concerns(r encodeRun) bool {
	workloads := m.workloads
	if workloads == nil {
		workloads = steadily
	}
	return r.most == 0 && slices.Contains(workloads, r.workload) && (m.links == nil || slices.Contains(m.links, r.link.Name))
}

// addEncode adds one row; the CRF baseline sets its limits.
func (r *report) addEncode(m encodeMeasure, run encodeRun) {
	w := row{Measure: m.name + ": " + run.name(), Unit: m.unit, Better: m.better, Baselines: map[string]float64{}}
	err, ours := errNotRun, 0.0
	for _, res := range run.results {
		v := m.figure(&res)
		switch {
		case res.Peer == encodelab.Ours.Name:
			ours, err = v, nil
			continue
		case res.Peer == encodeCRF.Name && m.must != nil:
			w.Must, w.Goal = limit(m.must(v)), limit(m.goal(v))
		}
		w.Baselines[res.Peer] = v
	}
	r.add(w, ours, err)
}

// cappedMeasures are the rows of streams whose average is bounded. The CRF baseline has
// the bound as its VBV's rate, so that its picture is what the factor gives where that
// fits.
var cappedMeasures = []encodeMeasure{
	{"average of the whole stream", "kbit/s", "lower", nil, always(float64(cappedAt) / 1000), always(float64(cappedAt) / 1000), nil, nil},
	{"PSNR at the viewer", "dB", "higher", func(f encodelab.Figures) float64 { return f.PSNR }, plus(-0.2), plus(0), nil, nil},
	{"SSIM at the viewer", "", "higher", func(f encodelab.Figures) float64 { return f.SSIM }, nil, nil, nil, nil},
	{"gaps over 33 ms in 22 s", "", "lower", func(f encodelab.Figures) float64 { return float64(f.Gaps) }, plus(0), always(0), nil, nil},
}

// capRows judge the streams whose average is bounded.
func capRows(rep *report, runs []encodeRun) {
	for _, m := range cappedMeasures {
		for _, run := range runs {
			if run.most > 0 {
				rep.addEncode(m, run)
			}
		}
	}
}

// stopRows judge what becomes of a picture that stands still.
func stopRows(rep *report, runs []encodeRun) {
	for _, run := range runs {
		i := slices.IndexFunc(run.results, func(r encodelab.Result) bool { return r.Peer == encodelab.Ours.Name })
		if run.workload != "stops" || i < 0 {
			continue
		}
		took, after, err := run.results[i].Settled()
		rep.add(row{Measure: "a still picture has 45 dB and QP 20 or less after: " + run.link.Name, Unit: "ms", Better: "lower",
			Must: limit(1000), Goal: limit(500)}, milliseconds(took), err)
		rep.add(row{Measure: "units sent of a still picture after that second: " + run.link.Name, Better: "lower",
			Must: limit(0), Goal: limit(0)}, float64(after), err)
	}
}
