// Package report puts all that is known of one stream into one zip file that
// explains itself, and reads such a file.
//
// It holds the logs of both ends as they are, what the host is and how it was
// set, the last lines of the host's own log, and a page with the timeline drawn
// that needs no network and no script.
package report

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"nearglass/telemetry"
)

// Names of the files in a report.
const (
	HostLogName   = "host.jsonl"   // the stream's log of the host
	ViewerLogName = "viewer.jsonl" // and of the viewer; may be missing
	AboutName     = "about.json"   // About
	LinesName     = "host.log"     // last lines of the host's own log
	SummaryName   = "summary.html"
)

// About says what made a report, and of what.
type About struct {
	Made    time.Time         `json:"made"`
	Version string            `json:"version"` // of the nearglass that made it
	Stream  string            `json:"stream"`
	System  map[string]string `json:"system"` // of the machine that made it
	Note    string            `json:"note,omitempty"`
}

// logs is where the logs of a stream are read.
type logs interface {
	Open(stream string, side telemetry.Side) (io.ReadCloser, error)
}

// Write writes the report on about.Stream. Lines are the last ones of the host's
// own log; they may be empty. It fails with an error that wraps
// telemetry.ErrNoLog, before anything is written, when there is no log of the
// stream.
func Write(w io.Writer, from logs, about About, lines []byte) error {
	host, err := read(from, about.Stream, telemetry.HostSide)
	if err != nil {
		return err
	}
	viewer, err := read(from, about.Stream, telemetry.ViewerSide)
	if err != nil && !errors.Is(err, telemetry.ErrNoLog) {
		return err
	}
	r, err := parse(about, host, viewer)
	if err != nil {
		return err
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	description, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return fmt.Errorf("describing the report: %w", err)
	}
	z := zip.NewWriter(w)
	for _, f := range []struct {
		name string
		data []byte
	}{{SummaryName, page}, {AboutName, description}, {HostLogName, host}, {ViewerLogName, viewer}, {LinesName, lines}} {
		if len(f.data) == 0 {
			continue
		}
		if err := add(z, f.name, about.Made, f.data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func read(from logs, stream string, side telemetry.Side) ([]byte, error) {
	r, err := from.Open(stream, side)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading the %s's log: %w", side, err)
	}
	return data, nil
}

func add(z *zip.Writer, name string, made time.Time, data []byte) error {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: made})
	if err == nil {
		_, err = f.Write(data)
	}
	if err != nil {
		return fmt.Errorf("writing %s into the report: %w", name, err)
	}
	return nil
}

// Report is one that was read.
type Report struct {
	About  About
	Host   telemetry.Log
	Viewer telemetry.Log // zero where it is missing
	Lines  string        // of the host's own log
}

// Timeline is both logs on one clock.
func (r Report) Timeline() telemetry.Timeline { return telemetry.Join(r.Host, r.Viewer) }

func parse(about About, host, viewer []byte) (Report, error) {
	r := Report{About: about}
	var err error
	if r.Host, err = telemetry.ReadLog(bytes.NewReader(host)); err != nil {
		return r, fmt.Errorf("the host's log: %w", err)
	}
	if len(viewer) == 0 {
		return r, nil
	}
	if r.Viewer, err = telemetry.ReadLog(bytes.NewReader(viewer)); err != nil {
		return r, fmt.Errorf("the viewer's log: %w", err)
	}
	return r, nil
}

// mostBytes bounds one file of a report that is read: a log has at most 32 MiB.
const mostBytes = 64 << 20

// ErrNoReport means that a file is no report.
var ErrNoReport = errors.New("that is no report of nearglass")

// Open reads a report from a file.
func Open(name string) (Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return Report{}, fmt.Errorf("opening the report: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Report{}, fmt.Errorf("opening the report: %w", err)
	}
	if info.IsDir() {
		return Report{}, fmt.Errorf("%s: %w: it is a folder; give the zip file, or the logs in it", name, ErrNoReport)
	}
	r, err := Read(f, info.Size())
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Read reads a report of that many bytes. It trusts nothing in it.
func Read(from io.ReaderAt, sizeBytes int64) (Report, error) {
	z, err := zip.NewReader(from, sizeBytes)
	if err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrNoReport, whole(from, err))
	}
	parts := map[string][]byte{}
	for _, name := range []string{AboutName, HostLogName, ViewerLogName, LinesName} {
		if parts[name], err = extract(z, name); err != nil {
			return Report{}, err
		}
	}
	for _, name := range []string{AboutName, HostLogName} {
		if len(parts[name]) == 0 {
			return Report{}, fmt.Errorf("%w: it has no %s", ErrNoReport, name)
		}
	}
	var about About
	if err := json.Unmarshal(parts[AboutName], &about); err != nil {
		return Report{}, fmt.Errorf("%w: %s: %w", ErrNoReport, AboutName, err)
	}
	r, err := parse(about, parts[HostLogName], parts[ViewerLogName])
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrNoReport, err)
	}
	r.Lines = string(parts[LinesName])
	return r, nil
}

// errCut means that the end of a zip file is missing, where its list of files is.
var errCut = errors.New("the end of the file is missing: fetch it again")

// whole says why a file cannot be read as a zip file.
func whole(from io.ReaderAt, err error) error {
	const local = "PK\x03\x04" // begins each file within
	var begin [len(local)]byte
	if n, _ := from.ReadAt(begin[:], 0); n == len(local) && string(begin[:]) == local && errors.Is(err, zip.ErrFormat) {
		return errCut
	}
	return err
}

// extract gives one file of the report; nothing where it is missing.
func extract(z *zip.Reader, name string) ([]byte, error) {
	f, err := z.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoReport, name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoReport, name, err)
	}
	if len(data) > mostBytes {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrNoReport, name, mostBytes)
	}
	return data, nil
}
