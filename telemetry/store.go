package telemetry

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits bound what the logs may take. Zero values mean the defaults.
type Limits struct {
	PartBytes   int64         // of one file; 4 MiB
	Parts       int           // of one log, the first and the newest are kept; 8
	FolderBytes int64         // of all logs; 256 MiB
	Age         time.Duration // since the last line; 30 days
}

// At full motion a second is about 1 KB at each end: a part holds an hour, a
// log the first hour and the last seven, the folder a working week.
const (
	defaultPartBytes   = 4 << 20
	defaultParts       = 8
	defaultFolderBytes = 256 << 20
	defaultAge         = 30 * 24 * time.Hour
)

// Store is the folder of the stream logs. Its methods are safe for concurrent
// use, also by several processes as long as only one of them writes.
type Store struct {
	dir    string
	limits Limits
	accept sync.Mutex // viewers' logs are written one at a time
	mu     sync.Mutex
	open   map[string]int // writers by stream: these logs are not removed
}

// Errors that callers tell apart.
var (
	ErrNoLog  = errors.New("no such stream log")
	errStream = errors.New("that is no stream's id")
)

// OpenStore names the folder of the logs. It is made when the first log is
// written.
func OpenStore(dir string, l Limits) *Store {
	if l.PartBytes <= 0 {
		l.PartBytes = defaultPartBytes
	}
	if l.Parts <= 1 {
		l.Parts = defaultParts
	}
	if l.FolderBytes <= 0 {
		l.FolderBytes = defaultFolderBytes
	}
	if l.Age <= 0 {
		l.Age = defaultAge
	}
	return &Store{dir: dir, limits: l, open: map[string]int{}}
}

// streamID is what crypto/rand.Text gives. Nothing else becomes part of a path.
var streamID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// Begin starts the log of one end of a stream, and makes room for it.
func (s *Store) Begin(now time.Time, h Header) (*Writer, error) {
	h.Record, h.Schema = KindHeader, SchemaVersion
	if !streamID.MatchString(h.Stream) {
		return nil, fmt.Errorf("beginning a stream log: %w", errStream)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the stream logs: %w", err)
	}
	f, err := s.create(h.Stream, h.Side, 0)
	if err != nil {
		return nil, err
	}
	w := &Writer{store: s, header: h, file: f}
	s.hold(h.Stream)
	s.prune(now)
	if err := w.Write(h); err != nil {
		return nil, errors.Join(err, w.Close(), os.Remove(f.Name()))
	}
	return w, nil
}

// Resume goes on with a log that was begun before.
func (s *Store) Resume(stream string, side Side) (*Writer, error) {
	parts, err := s.parts(stream, side)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.path(stream, side, parts[len(parts)-1]), os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a stream log: %w", err)
	}
	w := &Writer{store: s, file: f}
	s.hold(stream)
	if err := w.resume(); err != nil {
		w.header.Stream = stream
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Read reads one end's log of a stream. It wraps ErrNoLog when there is none.
func (s *Store) Read(stream string, side Side) (Log, error) {
	r, err := s.Open(stream, side)
	if err != nil {
		return Log{}, err
	}
	defer r.Close()
	return ReadLog(r)
}

// Open gives the bytes of one end's log, its parts one behind the other.
func (s *Store) Open(stream string, side Side) (io.ReadCloser, error) {
	parts, err := s.parts(stream, side)
	if err != nil {
		return nil, err
	}
	all := &chain{}
	var readers []io.Reader
	for _, p := range parts {
		f, err := os.Open(s.path(stream, side, p))
		if errors.Is(err, os.ErrNotExist) {
			continue // given up in this moment
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening a stream log: %w", err), all.Close())
		}
		all.files = append(all.files, f)
		readers = append(readers, f)
	}
	all.Reader = io.MultiReader(readers...)
	return all, nil
}

// chain closes all the files that it reads.
type chain struct {
	io.Reader
	files []*os.File
}

func (c *chain) Close() error {
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (s *Store) path(stream string, side Side, part int) string {
	name := stream + "." + string(side)
	if part > 0 {
		name += "." + strconv.Itoa(part)
	}
	return filepath.Join(s.dir, name+".jsonl")
}

func (s *Store) create(stream string, side Side, part int) (*os.File, error) {
	f, err := os.OpenFile(s.path(stream, side, part), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making a stream log: %w", err)
	}
	return f, nil
}

// parts lists the numbers of a log's parts in order.
func (s *Store) parts(stream string, side Side) ([]int, error) {
	if !streamID.MatchString(stream) {
		return nil, fmt.Errorf("%w: %w", ErrNoLog, errStream)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listing the stream logs: %w", err)
	}
	var parts []int
	for _, e := range entries {
		if name, ok := parseName(e.Name()); ok && name.stream == stream && name.side == side {
			parts = append(parts, name.part)
		}
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: %s of the %s", ErrNoLog, stream, side)
	}
	slices.Sort(parts)
	return parts, nil
}

// fileName is what a log file's name says.
type fileName struct {
	stream string
	side   Side
	part   int
}

func parseName(name string) (fileName, bool) {
	fields := strings.Split(name, ".")
	if len(fields) < 3 || len(fields) > 4 || fields[len(fields)-1] != "jsonl" || !streamID.MatchString(fields[0]) {
		return fileName{}, false
	}
	n := fileName{stream: fields[0], side: Side(fields[1])}
	if n.side != HostSide && n.side != ViewerSide {
		return fileName{}, false
	}
	if len(fields) == 4 {
		part, err := strconv.Atoi(fields[2])
		if err != nil || part < 1 {
			return fileName{}, false
		}
		n.part = part
	}
	return n, true
}

func (s *Store) hold(stream string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[stream]++
}

func (s *Store) release(stream string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[stream]--; s.open[stream] <= 0 {
		delete(s.open, stream)
	}
}
