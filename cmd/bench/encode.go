package main

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"nearglass/cc/rate"
	"nearglass/cmd/bench/encodelab"
	"nearglass/gpu/encode"
)

// encodeCmd compares the host's control of its encoder with x264's own.
type encodeCmd struct {
	Size    string        `help:"Size of the screen; empty means 1920x1080, or 1280x720 with --quick." placeholder:"WxH"`
	Length  time.Duration `help:"Content of each run; 0 means 24s, or 4s with --quick. The first 2 s are not counted." placeholder:"TIME"`
	Preset  string        `help:"x264's preset, of every peer." placeholder:"NAME"`
	Threads int           `help:"Threads that encode a picture, of every peer; 0 means the host's default." placeholder:"N"`
	Sample  int           `help:"Compare every so many pictures with what was painted; 0 means 4." placeholder:"N"`
	Takes   time.Duration `help:"Let every encoding take so long in the link's time; 0 means what it takes. Rates, gaps and quality then repeat exactly, however busy the machine is." placeholder:"TIME"`
	Trace   string        `help:"Write the units of each run into this folder." placeholder:"DIR"`
	Peer    []string      `help:"Measure these peers alone." placeholder:"NAME"`
}

// encodeRun is one workload on one link, by all peers.
type encodeRun struct {
	workload string
	link     encodelab.Link
	most     rate.Rate // bound of the average; 0: none
	results  []encodelab.Result
}

// name says which run it is.
func (r encodeRun) name() string {
	if r.most > 0 {
		return r.workload + ", " + cappedName
	}
	return r.workload + ", " + r.link.Name
}

// encodeCRF is the baseline that sets the limits: x264 at its default factor,
// with a VBV of 100 ms.
var encodeCRF = encodelab.CRF(23, 6)

func encodePeers(only []string) []encodelab.Peer {
	all := []encodelab.Peer{encodelab.Ours, encodeCRF, encodelab.ABR}
	if len(only) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(p encodelab.Peer) bool {
		return !slices.ContainsFunc(only, func(part string) bool { return strings.Contains(p.Name, part) })
	})
}

// Run measures every workload on every link.
func (c encodeCmd) Run(ctx context.Context, s settings) error {
	size, err := c.defaults(s)
	if err != nil {
		return err
	}
	rep := newReport("encode", s.Quick)
	var runs []encodeRun
	for _, job := range encodeJobs(size, s) {
		start := time.Now()
		run, err := c.measure(ctx, job)
		if err != nil {
			return err
		}
		runs = append(runs, run)
		fmt.Fprintf(os.Stderr, "%s: %v\n", run.name(), time.Since(start).Round(time.Second))
		run.print()
	}
	encodeRows(rep, runs)
	return rep.write(os.Stdout, s.Out)
}

func (c *encodeCmd) defaults(s settings) (image.Point, error) {
	text, length := "1920x1080", 24*time.Second
	if s.Quick {
		text, length = "1280x720", 4*time.Second
	}
	c.Length = cmp.Or(c.Length, length)
	c.Sample = cmp.Or(c.Sample, 4)
	c.Threads = cmp.Or(c.Threads, min(runtime.NumCPU(), 4))
	var size image.Point
	_, err := fmt.Sscanf(cmp.Or(c.Size, text), "%dx%d", &size.X, &size.Y)
	return size, err
}

// encodeJob is a workload on a link, and perhaps with a bound of its average.
type encodeJob struct {
	workload encodelab.Workload
	link     encodelab.Link
	most     rate.Rate
}

// cappedAt is the bound of the targets, and cappedName its name for --only. It is tried
// on the fastest link, where nothing else bounds a stream.
const (
	cappedAt   = 6 * rate.Mbps
	cappedName = "capped at 6 Mbit/s"
)

// capped are the workloads of which a part stands still, and a bound on the average
// must not starve the rest.
var capped = []string{"region", "half idle"}

// encodeJobs are the runs that --only leaves. A quick run takes the narrow link.
func encodeJobs(size image.Point, s settings) (jobs []encodeJob) {
	for _, w := range encodelab.Workloads(size) {
		for _, l := range encodelab.Links {
			if s.Quick && l != encodelab.Links[len(encodelab.Links)-1] {
				continue
			}
			if chosenOf(s.Only, w.Name, l.Name) {
				jobs = append(jobs, encodeJob{workload: w, link: l})
			}
		}
		if slices.Contains(capped, w.Name) && chosenOf(s.Only, w.Name, cappedName) {
			jobs = append(jobs, encodeJob{w, encodelab.Links[0], cappedAt})
		}
	}
	return jobs
}

// chosenOf says whether every part is in one of the names.
func chosenOf(parts []string, names ...string) bool {
	for _, part := range parts {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, part) }) {
			return false
		}
	}
	return true
}

func (c encodeCmd) measure(ctx context.Context, j encodeJob) (encodeRun, error) {
	o := encodelab.Options{
		Length: c.Length, Preset: cmp.Or(c.Preset, encode.DefaultPreset), Threads: c.Threads, Sample: c.Sample, CPU: ownCPU,
		Most: j.most, Takes: c.Takes,
	}
	results, err := encodelab.Compare(ctx, j.workload, j.link, encodePeers(c.Peer), o)
	if err != nil {
		return encodeRun{}, err
	}
	run := encodeRun{j.workload.Name, j.link, j.most, results}
	if c.Trace != "" {
		for _, r := range results {
			if err := r.WriteTrace(c.Trace, run.name()); err != nil {
				return encodeRun{}, err
			}
		}
	}
	return run, nil
}

// print shows the figures of one run.
func (r encodeRun) print() {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tencode ms\tCPU ms\tp50 ms\tp99 ms\tmost ms\tshown %%\tgaps\tkbit/s\tuse %%\tQP\tdB\tSSIM\tredone\n", r.name())
	for _, res := range r.results {
		f := res.Figures()
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%d\t%.0f\t%.1f\t%.1f\t%.2f\t%.4f\t%d\n", res.Peer,
			f.EncodeMs, f.CPUMs, f.P50, f.P99, f.WorstM, f.Shown, f.Gaps, f.Kbps, f.Use, f.MeanQP, f.PSNR, f.SSIM, f.Redone)
	}
	_ = t.Flush()
}
