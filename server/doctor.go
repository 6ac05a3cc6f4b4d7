package server

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/capture"
	"nearglass/gpu/encode"
	"nearglass/server/access"
	"nearglass/server/cursor"
	"nearglass/server/input"
)

// Verdict says how a Check went.
type Verdict string

// The verdicts, from best to worst.
const (
	Good    Verdict = "good"
	Limited Verdict = "limited" // works, but less well or not everywhere
	Bad     Verdict = "bad"     // does not work
)

// Check is one thing that Examine looked at.
type Check struct {
	Area    string  `json:"area"` // settings, reach, route, capture, encode, input
	What    string  `json:"what"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	Advice  string  `json:"advice,omitempty"` // what to do about it
}

// examineTime bounds each part of Examine that asks another program.
const examineTime = 5 * time.Second

// Examine looks at what works on this machine with these settings, which are
// not filled in yet. It changes nothing; the ports it tries are closed again.
func Examine(ctx context.Context, cfg Config) []Check {
	filled, err := cfg.WithDefaults()
	settings := Check{"settings", "settings", Good, "they work together; " + filled.bitrateInWords(), ""}
	if err != nil {
		settings = Check{"settings", "settings", Bad, err.Error(), "change what is named here, in the config file, the environment or the flags"}
	}
	checks := []Check{settings}
	if filled.StateDir != "" {
		checks = append(checks, examineState(filled.StateDir))
	}
	checks = append(checks, examineReach(ctx, filled)...)
	checks = append(checks, examinePaths(ctx)...)
	checks = append(checks, examineDisplay(ctx, displayName(cfg.Display))...)
	return append(checks, examineEncoder()...)
}

func examineState(dir string) Check {
	c := Check{Area: "settings", What: "paired devices"}
	store, err := access.Open(dir, nil)
	if err == nil {
		err = tryWrite(dir)
	}
	switch {
	case errors.Is(err, access.ErrCorrupt):
		c.Verdict, c.Found, c.Advice = Bad, err.Error(), "do what it says in brackets; no device is let in until then"
	case err != nil:
		c.Verdict, c.Found, c.Advice = Bad, err.Error(), "make the folder writable for you, or name another with --state"
	default:
		c.Verdict, c.Found = Good, fmt.Sprintf("%d in %s", len(store.Devices()), filepath.Join(dir, access.FileName))
	}
	return c
}

func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// examineDisplay tries what a stream of the display needs, by doing it.
func examineDisplay(ctx context.Context, name string) []Check {
	if name == "" {
		return []Check{{"capture", "display", Bad, "none is named; the demo and the pattern can be shown", noDisplayAdvice()}}
	}
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	b, err := capture.OpenX11(name)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return []Check{{"capture", "display", Bad, err.Error(), "the demo and the pattern can be shown"}}
	case err != nil:
		return []Check{{"capture", "display", Bad, err.Error(),
			"check that it runs and that you may use it: xhost, or XAUTHORITY of the session's user"}}
	}
	defer b.Close() // last: some X servers start afresh when nobody is connected
	list, err := b.List(ctx)
	if err != nil {
		return []Check{{"capture", "display", Bad, err.Error(), "start the X server again"}}
	}
	return []Check{countSources(name, list), examinePicture(ctx, b), examineWindows(list), examineInput(name), examinePointer(name)}
}

func examineInput(name string) Check {
	in, err := input.Open(name)
	if err != nil {
		return Check{"input", "pointer and keys", Bad, err.Error(), "viewers can watch and not work; enable the XTEST extension of the X server"}
	}
	_ = in.Close()
	return Check{"input", "pointer and keys", Good, "can be moved and pressed", ""}
}

func examinePointer(name string) Check {
	t, err := cursor.Open(name)
	if err != nil {
		return Check{"input", "pointer shape", Limited, err.Error(), "viewers see their own arrow; enable the XFIXES extension of the X server"}
	}
	_ = t.Close()
	return Check{"input", "pointer shape", Good, "can be read", ""}
}

func noDisplayAdvice() string {
	if os.Getenv("WAYLAND_DISPLAY") != "" {
		return "this is a Wayland session, which nearglass cannot capture yet: log in to an X11 session"
	}
	return "run nearglass inside the desktop session, or name its display as in --display :0"
}

func countSources(name string, list []capture.Source) Check {
	displays := 0
	for _, s := range list {
		if s.Kind == capture.KindDisplay {
			displays++
		}
	}
	return Check{"capture", "display", Good, fmt.Sprintf("X11 %s, monitors: %d", name, displays), ""}
}

func examinePicture(ctx context.Context, b capture.Backend) Check {
	began := time.Now()
	picture, err := capture.Snapshot(ctx, b, "desktop", image.Point{})
	if err != nil {
		return Check{"capture", "picture", Bad, err.Error(), "run the X server with depth 24 and the DAMAGE, XFIXES and MIT-SHM extensions"}
	}
	size := picture.Bounds().Size()
	return Check{"capture", "picture", Good, fmt.Sprintf("%dx%d, the first after %s", size.X, size.Y,
		time.Since(began).Round(time.Millisecond)), ""}
}

func examineWindows(list []capture.Source) Check {
	windows, hidden, why := 0, 0, ""
	for _, s := range list {
		if s.Kind != capture.KindWindow {
			continue
		}
		windows++
		if s.Unavailable != "" {
			hidden, why = hidden+1, s.Unavailable
		}
	}
	c := Check{"capture", "windows", Good, fmt.Sprintf("%d", windows), ""}
	if hidden > 0 {
		c.Found = fmt.Sprintf("%d, of which %d cannot be shown now: %s", windows, hidden, why)
	}
	if hidden > 0 && hidden == windows {
		c.Verdict, c.Advice = Limited, "share a monitor instead, or enable what is missing"
	}
	return c
}

// examineEncoder encodes a picture: that an encoder is linked does not show
// that it runs.
func examineEncoder() []Check {
	p := encode.Probe()
	c := Check{"encode", "H.264", Good, encode.Describe(), ""}
	took, err := tryEncode(image.Pt(1920, 1080))
	switch {
	case err != nil:
		c.Verdict, c.Found, c.Advice = Bad, err.Error(), or(p.Warning, "build nearglass with cgo and a C compiler")
	case p.Warning != "":
		c.Verdict, c.Advice = Limited, p.Warning
	}
	if err != nil {
		return []Check{c}
	}
	c.Found += fmt.Sprintf("; a 1920x1080 picture took %s", took.Round(100*time.Microsecond))
	return []Check{c}
}

// tryEncode times the second picture of a scroll, which no longer
// pays for setting up.
func tryEncode(size image.Point) (time.Duration, error) {
	enc, err := encode.Open(encode.Config{Size: size})
	if err != nil {
		return 0, err
	}
	defer enc.Close()
	pix := make([]byte, 4*size.X*size.Y)
	var took time.Duration
	for i := range 2 {
		for j := range pix {
			pix[j] = byte(j/(4*size.X) + 8*i) // bands that move by eight rows
		}
		f := &gpu.Frame{Size: size, Stride: 4 * size.X, Format: gpu.BGRA, Pix: pix}
		if err := enc.Load(f); err != nil {
			return 0, err
		}
		unit, err := enc.Encode(encode.Order{QP: 30})
		if err != nil {
			return 0, err
		}
		took = unit.Convert + unit.Encode
	}
	return took, nil
}
