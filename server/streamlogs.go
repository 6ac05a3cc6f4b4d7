package server

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"nearglass/gpu/encode"
	"nearglass/server/access"
	"nearglass/server/session"
	"nearglass/signaling"
	"nearglass/telemetry"
	"nearglass/telemetry/netpath"
	"nearglass/telemetry/report"
)

// StreamsFolder is the name, inside the state folder, of the stream logs.
const StreamsFolder = "streams"

// OpenStreamLogs names the stream logs of a state folder.
func OpenStreamLogs(stateDir string) *telemetry.Store {
	return telemetry.OpenStore(filepath.Join(stateDir, StreamsFolder), telemetry.Limits{})
}

// streamLogs is what the HTTP side asks of the stream logs.
type streamLogs struct {
	cfg   Config
	store *telemetry.Store
}

// Accept stores lines of a viewer's log.
func (l streamLogs) Accept(now time.Time, v signaling.Viewer, stream string, from int, lines []byte) (int, error) {
	stored, err := l.store.Accept(now, stream, v.Device, from, lines)
	var gap *telemetry.Gap
	switch {
	case errors.As(err, &gap):
		return 0, &signaling.MissingError{Stored: gap.Have}
	case errors.Is(err, telemetry.ErrNoLog), errors.Is(err, telemetry.ErrForeign):
		return 0, signaling.ErrNoStream
	case errors.Is(err, telemetry.ErrMalformed):
		return 0, sorted{signaling.ErrLines, err}
	}
	return stored, err
}

// Report writes the report on a stream of this device. The lines of the host's
// own log that are about other devices are left out of it.
func (l streamLogs) Report(_ context.Context, v signaling.Viewer, stream string, w io.Writer) error {
	h, err := l.store.Header(stream)
	if errors.Is(err, telemetry.ErrNoLog) || err == nil && h.Device != v.Device {
		return signaling.ErrNoStream
	}
	if err != nil {
		return err
	}
	return WriteReport(w, l.cfg.StateDir, l.cfg.Version, stream)
}

// WriteReport writes the report on a stream of a state folder. The host need not
// run.
func WriteReport(w io.Writer, stateDir, version, stream string) error {
	store := OpenStreamLogs(stateDir)
	h, err := store.Header(stream)
	if err != nil {
		return err
	}
	lines, err := lastLines(stateDir, func(l logLine) bool { return l.concerns(stream, h.Device) })
	if err != nil {
		return err
	}
	return report.Write(w, store, report.About{Made: time.Now(), Version: version, Stream: stream, System: system()}, lines)
}

// system says what machine this is and what the program was built for.
func system() map[string]string {
	about := map[string]string{"cores": strconv.Itoa(runtime.NumCPU()), "go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if name, known := buildSettings[s.Key]; known && s.Value != "" {
				about[name] = s.Value
			}
		}
	}
	return about
}

// buildSettings are those of a build that say what it can do.
var buildSettings = map[string]string{
	"GOOS": "system", "GOARCH": "processor", "-tags": "build tags", "vcs.revision": "commit", "vcs.modified": "changed since",
}

// header is the head of the stream's log.
func (r *recording) header() telemetry.Header {
	about := system()
	about["encoder"] = encode.Describe()
	about["profile"] = r.peer.Profile().String()
	about["rtx"] = strconv.FormatBool(r.peer.RTX())
	about["pointer"] = "in the video"
	if r.drawn {
		about["pointer"] = "drawn by the viewer"
	}
	return telemetry.Header{
		Stream: r.recorder.id, Side: telemetry.HostSide, StartMs: float64(r.recorder.zero.UnixMilli()), Version: r.host.cfg.Version,
		Device: r.grant.DeviceID, Source: string(kindOf(r.stage.key.id)), FPS: r.host.cfg.FPS, Cores: runtime.NumCPU(),
		Settings: r.host.cfg.plain(), Capabilities: about,
	}
}

// plain lists the settings that say nothing of who somebody is or what is kept
// where: no name, no path, no key.
func (c Config) plain() map[string]string {
	bitrate := "follows the path"
	if c.Bitrate > 0 {
		bitrate = c.Bitrate.String()
	}
	average, sharpest := "any", "ratecontrol's"
	if c.MaxAverage > 0 {
		average = c.MaxAverage.String()
	}
	if qp := c.sharpest(); qp > 0 {
		sharpest = strconv.Itoa(qp)
	}
	return map[string]string{
		"max-kbps": average, "rate-control": c.RateControl, "qp": sharpest,
		"bitrate": bitrate, "max-bitrate": c.MaxBitrate.String(), "fps": strconv.Itoa(c.FPS), "preset": or(c.Preset, encode.DefaultPreset),
		"profile": c.Profile, "rights": string(or(c.Rights, access.Control)), "tls": strconv.FormatBool(c.TLSCert != ""),
	}
}

// recordNotice records what the viewer is told of the source.
func (v *viewer) recordNotice(n session.Notice) {
	was := v.paused.Swap(n.Paused)
	switch {
	case n.Paused && !was:
		v.recorder.event(telemetry.Event{Name: telemetry.EventPause, Reason: n.Reason})
	case !n.Paused && was:
		v.recorder.event(telemetry.Event{Name: telemetry.EventResume})
	}
	if n.Size.X > 0 {
		v.recorder.event(telemetry.Event{Name: telemetry.EventSize, Width: n.Size.X, Height: n.Size.Y})
	}
}

func (v *viewer) recordHidden(hidden bool) {
	name := telemetry.EventVisible
	if hidden {
		name = telemetry.EventHidden
	}
	v.recorder.event(telemetry.Event{Name: name, Who: string(telemetry.ViewerSide)})
}

// pathEvent records the road that the packets take from now on.
func pathEvent(p netpath.Path) telemetry.Event {
	return telemetry.Event{Name: telemetry.EventPath, Path: &telemetry.Path{
		Kind: string(p.Kind), Label: p.Words(), Unknown: p.Unknown, Details: p.Details(),
	}}
}
