package main

import (
	"fmt"
	"os"
	"time"

	"nearglass/cc"
	"nearglass/cc/lab"
	"nearglass/cc/rate"
)

// replayCmd prints what the controller makes of a recording, a line a report.
type replayCmd struct {
	File string        `arg:"" help:"A recording, as in cc/lab/testdata/feedback."`
	From time.Duration `help:"Begin of what is printed." placeholder:"TIME"`
	To   time.Duration `help:"End of what is printed; 0 means the end." placeholder:"TIME"`
}

// Run replays the recording.
func (c replayCmd) Run() error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	r, err := lab.ReadRecording(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	delays := newDelays(r)
	next := 0
	r.Replay(cc.New(cc.Config{}), func(at time.Duration, u cc.Update) {
		said := "by the clock"
		if next < len(r.Feedbacks) && r.Feedbacks[next].At == at {
			said = delays.report(r.Feedbacks[next])
			next++
		}
		if at < c.From || c.To > 0 && at > c.To {
			return
		}
		fmt.Printf("%7.3f s  %-58s  target %6.3f pace %7.3f path %7.3f with %5.1f ms  %s: %s\n", at.Seconds(), said,
			mbps(u.Target), mbps(u.Pace), mbps(u.Path.Rate), milliseconds(u.Path.Queue), u.State, u.Reason)
	})
	return nil
}

func mbps(r rate.Rate) float64 { return float64(r) / float64(rate.Mbps) }

// delays gives one-way delays beyond the least of a recording.
type delays struct {
	sent  []cc.Sent // by sequence from 1 on
	least time.Duration
}

func newDelays(r *lab.Recording) delays {
	d := delays{sent: r.Sent, least: time.Hour}
	for _, f := range r.Feedbacks {
		for _, a := range f.Acks {
			if t, ok := d.of(a); ok {
				d.least += min(t, 0)
			}
		}
	}
	return d
}

// of is the delay of a packet, less the least known so far.
func (d delays) of(a cc.Ack) (time.Duration, bool) {
	if a.Lost || a.Sequence < 1 || a.Sequence > uint64(len(d.sent)) {
		return 0, false
	}
	return a.Arrived - d.sent[a.Sequence-1].At.Sub(time.Time{}) - d.least, true
}

// report sums one feedback up: how many arrived how fast, and how late.
func (d delays) report(f lab.Report) string {
	lost, bytes := 0, 0
	var first, last time.Duration
	low, high := time.Hour, time.Duration(0)
	for _, a := range f.Acks {
		late, ok := d.of(a)
		if !ok {
			lost++
			continue
		}
		low, high = min(low, late), max(high, late)
		if first == 0 {
			first = a.Arrived
		} else {
			bytes += d.sent[a.Sequence-1].SizeBytes
		}
		last = a.Arrived
	}
	return fmt.Sprintf("%3d acks, %2d lost, %6.3f Mbit/s, late %5.1f to %5.1f ms", len(f.Acks), lost, mbps(rate.Of(bytes, last-first)), milliseconds(low), milliseconds(high))
}
