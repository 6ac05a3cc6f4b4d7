package encodelab

import (
	"errors"
	"slices"
	"time"

	"nearglass/gpu/encode/ratecontrol"
)

// warmUp is left out of all figures: the first key frame, and what a
// controller learns from it.
const warmUp = 2 * time.Second

// gap is the time between two pictures beyond which movement is seen to stop.
const gap = 33 * time.Millisecond

// Figures are what a result comes down to, from warmUp on.
type Figures struct {
	EncodeMs, CPUMs  float64 // of a moving picture
	P50, P99, WorstM float64 // capture to last byte, ms, of moving pictures
	Shown            float64 // of the pictures that were captured, in percent
	Gaps             int     // over 33 ms between two arrivals, while the screen moved
	Kbps             float64 // of all units, headers of packets not counted
	MeanQP           float64
	PSNR, SSIM       float64 // of moving pictures
	FrameBytes       float64
	Redone           int // pictures that were encoded again
	// Use is Kbps over the target, in percent.
	Use float64
}

// Figures sums up a result.
func (r *Result) Figures() Figures {
	var f Figures
	var delays []float64
	bytes, all := 0, 0.0
	last := -1
	for i, s := range r.Sent {
		if s.Captured < warmUp {
			continue
		}
		bytes += s.SizeBytes
		if s.Kind == ratecontrol.Refine {
			continue
		}
		if s.Redone {
			f.Redone++
		}
		all++
		f.EncodeMs += ms(s.Encode)
		f.CPUMs += ms(s.CPU)
		f.MeanQP += float64(s.QP)
		f.FrameBytes += float64(s.SizeBytes)
		delays = append(delays, ms(s.Arrived-s.Captured))
		if last >= 0 && s.Arrived-r.Sent[last].Arrived > gap && r.moved(last) {
			f.Gaps++
		}
		last = i
	}
	if all == 0 {
		return f
	}
	f.average(delays)
	f.Shown = 100 * all / (all + float64(r.Skipped))
	f.Kbps = float64(bytes) * 8 / 1000 / (r.length - warmUp).Seconds()
	f.Use = 100 * 1000 * f.Kbps / float64(r.Target)
	f.PSNR, f.SSIM = r.quality()
	return f
}

// Average is what all units took over the whole stream, in kbit/s: what a bound on the
// average bounds.
func (r *Result) Average() float64 {
	bytes := 0
	for _, s := range r.Sent {
		bytes += s.SizeBytes
	}
	return float64(bytes) * 8 / 1000 / r.length.Seconds()
}

// average turns the sums over moving pictures into means, and takes the ranks of
// their delays.
func (f *Figures) average(delays []float64) {
	for _, v := range []*float64{&f.EncodeMs, &f.CPUMs, &f.MeanQP, &f.FrameBytes} {
		*v /= float64(len(delays))
	}
	slices.Sort(delays)
	f.P50, f.P99, f.WorstM = rank(delays, 0.5), rank(delays, 0.99), delays[len(delays)-1]
}

// moved says whether the screen changed at once after the picture of a unit:
// then the time until the next unit is a gap, and else a rest.
func (r *Result) moved(unit int) bool {
	next := r.Sent[unit].Picture + 1
	return next < len(r.changed) && r.changed[next]
}

func (r *Result) quality() (db, similar float64) {
	n := 0.0
	for _, q := range r.Quality {
		if s := r.Sent[q.Unit]; s.Captured >= warmUp && s.Kind != ratecontrol.Refine {
			db, similar, n = db+q.PSNR, similar+q.SSIM, n+1
		}
	}
	return db / max(n, 1), similar / max(n, 1)
}

// errUnsettled says that a still picture did not become sharp.
var errUnsettled = errors.New("the picture did not become sharp")

// Settled is for the workload that stops: how long after its last picture was
// captured the viewer had it with 45 dB and a QP of 20 or less, and how many
// units were sent more than a second after that picture and that sharpness.
func (r *Result) Settled() (took time.Duration, after int, err error) {
	const db, qp = 45, 20
	still, sharp := stopAfter*frameTime, time.Duration(0)
	for _, q := range r.Quality {
		if s := r.Sent[q.Unit]; s.Picture == stopAfter && q.PSNR >= db && s.QP <= qp && sharp == 0 {
			sharp = s.Arrived
		}
	}
	if sharp == 0 {
		return 0, 0, errUnsettled
	}
	for _, s := range r.Sent {
		if s.Captured > max(still+time.Second, sharp) {
			after++
		}
	}
	return sharp - still, after, nil
}

// rank gives the value that a share of the sorted ones do not exceed.
func rank(sorted []float64, share float64) float64 {
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
