package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// HostLogName is the name, inside the state folder, of the host's own log: the
// last part of what it also prints, for reports.
const HostLogName = "host.log"

// hostLogBytes is where the file becomes HostLogName.1 and a new one begins.
const hostLogBytes = 512 << 10

// withFile has a log written to the state folder as well, as JSON. What would
// name a person or a window is left out, and so is the host's own name.
func withFile(log *slog.Logger, stateDir string) *slog.Logger {
	file := slog.NewJSONHandler(&logFile{path: filepath.Join(stateDir, HostLogName)}, &slog.HandlerOptions{ReplaceAttr: discreet})
	return slog.New(slog.NewMultiHandler(log.Handler(), file))
}

// discreet drops the attributes that could hold what nobody wants to hand on.
func discreet(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case "name", "title", "host", "origin":
		return slog.Attr{}
	case "path":
		// The last part of a session's address is what only its viewer knows.
		if s := a.Value.String(); strings.HasPrefix(s, "/whep/session/") {
			a.Value = slog.StringValue("/whep/session/")
		}
	}
	return a
}

// logFile appends lines to a file of bounded size. A line that cannot be written
// is lost: the log on the terminal has it.
type logFile struct {
	path string
	mu   sync.Mutex
	file *os.File
	size int64
}

func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil && !l.open() {
		return len(line), nil
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	if err != nil || l.size > hostLogBytes {
		_ = l.file.Close()
		l.file = nil
	}
	return len(line), nil
}

// open takes up the file, or begins a new one where it is full.
func (l *logFile) open() bool {
	if info, err := os.Stat(l.path); err == nil && info.Size() > hostLogBytes {
		_ = os.Rename(l.path, l.path+".1")
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	l.file, l.size = f, 0
	if info, err := f.Stat(); err == nil {
		l.size = info.Size()
	}
	return true
}

// logLine is what a line of the host's log says of whom it concerns.
type logLine struct{ Stream, Device string }

// concerns says whether a line may stand in the report on a stream of a device:
// it is about that, or about nobody.
func (l logLine) concerns(stream, device string) bool {
	return (l.Stream == "" || l.Stream == stream) && (l.Device == "" || l.Device == device)
}

// mostLines is how many lines of the host's log a report has.
const mostLines = 400

// lastLines gives the last lines of the host's log that keep says yes to.
func lastLines(stateDir string, keep func(logLine) bool) ([]byte, error) {
	var kept [][]byte
	path := filepath.Join(stateDir, HostLogName)
	for _, name := range []string{path + ".1", path} {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the host's log: %w", err)
		}
		for line := range bytes.Lines(data) {
			var l logLine
			if json.Unmarshal(line, &l) == nil && keep(l) {
				kept = append(kept, line)
			}
		}
	}
	return bytes.Join(kept[max(0, len(kept)-mostLines):], nil), nil
}
