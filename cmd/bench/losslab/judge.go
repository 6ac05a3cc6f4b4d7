package losslab

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"nearglass/gpu/encode"
)

// Figures are what a stream gave, from Settle on.
type Figures struct {
	Loss    string  `json:"loss"` // Loss.Name
	RTT     string  `json:"rtt"`
	Rate    string  `json:"rate"`
	Sender  string  `json:"sender"`
	Round   int     `json:"round"`
	Shown   int     `json:"shown"`
	Of      int     `json:"of"`     // shown by the source
	Wrong   int     `json:"wrong"`  // of those shown, from the very beginning
	Longest float64 `json:"freeze"` // ms without a new picture, at most
	Delay   float64 `json:"delay"`  // ms from capture to the decoded picture, p95
	Keys    int     `json:"keys"`   // key frames
	Bytes   int     `json:"bytes"`  // on the wire, IP headers included
	Repairs int     `json:"repairs"`
	Resends int     `json:"resends"`
	Asked   int     `json:"asked"` // key frames that the viewer asked for
}

// Judge decodes what the viewer did, and counts.
func (r *Recording) Judge(ctx context.Context) (Figures, error) {
	f := Figures{
		Loss: r.Cell.Loss.Name, RTT: RTTName(r.Cell.RTT), Rate: RateName(r.Cell.Rate), Sender: string(r.Repair), Round: int(r.Seed),
		Bytes: r.bytes, Repairs: r.repairs, Resends: r.resent, Asked: r.requests,
	}
	var err error
	if f.Wrong, err = r.wrong(ctx); err != nil {
		return f, err
	}
	for _, u := range r.units {
		if u.Key && u.at.Sub(r.origin) >= Settle {
			f.Keys++
		}
	}
	var all []Sighting
	for _, s := range r.shown {
		all = append(all, Sighting{Captured: s.captured.Sub(r.origin), At: s.at.Sub(r.origin)})
	}
	f.Count(all, r.length)
	return f, nil
}

// Sighting is a picture that a viewer decoded.
type Sighting struct{ Captured, At time.Duration }

// Count fills in what follows from when pictures were decoded in a stream of a
// length. They come in order.
func (f *Figures) Count(all []Sighting, length time.Duration) {
	var delays []time.Duration
	last := Settle
	for _, s := range all {
		if s.At < Settle || s.At >= length {
			continue
		}
		f.Shown++
		delays = append(delays, s.At-s.Captured)
		f.Longest = max(f.Longest, milliseconds(s.At-last))
		last = s.At
	}
	f.Longest = max(f.Longest, milliseconds(length-last))
	f.Of = int((length - Settle) / frameTime)
	if slices.Sort(delays); len(delays) > 0 {
		f.Delay = milliseconds(delays[(len(delays)*95+99)/100-1])
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// wrong counts the pictures that the viewer decoded to something else than the
// encoder's own stream, without any loss, decodes to.
func (r *Recording) wrong(ctx context.Context) (int, error) {
	all := make([]encode.AccessUnit, 0, len(r.units))
	at := map[uint64]int{}
	for i, u := range r.units {
		all = append(all, u.AccessUnit)
		at[u.Number] = i
	}
	want, err := sums(ctx, all)
	if err == nil && len(want) != len(all) {
		err = fmt.Errorf("%d pictures of the encoder were decoded to %d", len(all), len(want))
	}
	if err != nil {
		return 0, err
	}
	seen := make([]encode.AccessUnit, 0, len(r.shown))
	for _, s := range r.shown {
		i, known := at[s.frame]
		if !known {
			return 0, fmt.Errorf("the viewer decoded picture %d, which the encoder did not make", s.frame)
		}
		seen = append(seen, all[i])
	}
	got, err := sums(ctx, seen)
	if err != nil {
		return 0, err
	}
	wrong := max(len(seen)-len(got), len(got)-len(seen))
	for i := range min(len(seen), len(got)) {
		if got[i] != want[at[seen[i].Number]] {
			wrong++
		}
	}
	return wrong, nil
}

// sums has ffmpeg decode units, and gives a hash of each picture that comes out.
func sums(ctx context.Context, units []encode.AccessUnit) ([]string, error) {
	var stream bytes.Buffer
	for _, u := range units {
		for _, nal := range u.NALs {
			stream.Write([]byte{0, 0, 0, 1})
			stream.Write(nal)
		}
	}
	cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-threads", "1", "-f", "h264", "-i", "-", "-vsync", "passthrough", "-f", "framehash", "-hash", "md5", "-")
	cmd.Stdin = &stream
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ffmpeg: %w: %s", err, log.String())
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		if fields := strings.Split(line, ","); !strings.HasPrefix(line, "#") && len(fields) > 1 {
			list = append(list, strings.TrimSpace(fields[len(fields)-1]))
		}
	}
	return list, nil
}
