package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"nearglass/cmd/bench/wire"
)

// seriesBin is a line of a run's file.
const seriesBin = 100 * time.Millisecond

// bin is what passed in that time. Offered and refused count when packets came
// to the link, carried when they left it.
type bin struct {
	offered, carried, bulk int // bytes
	refused                int // packets
	queue                  time.Duration
}

// bins cuts the run into pieces.
func (r *linkRun) bins() []bin {
	all := make([]bin, r.length/seriesBin)
	at := func(t time.Duration) *bin {
		if i := int(t / seriesBin); i < len(all) {
			return &all[i]
		}
		return &bin{}
	}
	for i := range r.packets {
		p := &r.packets[i]
		switch p.Kind {
		case wire.Media:
			in := at(p.In)
			in.offered += p.Size
			if found, known := r.found(p); known {
				in.queue = max(in.queue, found)
			}
			if p.Tail {
				in.refused++
			}
			if p.Out > 0 {
				at(p.Out).carried += p.Size
			}
		case wire.Bulk:
			if p.Out > 0 {
				at(p.Out).bulk += p.Size
			}
		}
	}
	return all
}

// writeSeries writes the run as CSV, for whoever wants to see what happened.
func (r *linkRun) writeSeries(path string) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, "s,offered Mbit/s,carried Mbit/s,TCP Mbit/s,longest queue ms,refused packets")
	mbps := func(n int) float64 { return float64(8*n) / seriesBin.Seconds() / 1e6 }
	for i, x := range r.bins() {
		fmt.Fprintf(&b, "%.1f,%.3f,%.3f,%.3f,%.1f,%d\n", (time.Duration(i) * seriesBin).Seconds(),
			mbps(x.offered), mbps(x.carried), mbps(x.bulk), milliseconds(x.queue), x.refused)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
