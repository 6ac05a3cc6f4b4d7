package telemetry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Stored is what the folder holds of one stream.
type Stored struct {
	Stream    string
	SizeBytes int64
	Written   time.Time // when the newest line was
	Viewer    bool      // the viewer's log is there as well
	files     []string
}

// List lists the streams of which there is a log, newest first. A folder that
// does not exist is empty.
func (s *Store) List() ([]Stored, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the stream logs: %w", err)
	}
	byID := map[string]*Stored{}
	for _, e := range entries {
		name, ok := parseName(e.Name())
		info, err := e.Info()
		if !ok || err != nil {
			continue // not ours, or gone by now
		}
		st := byID[name.stream]
		if st == nil {
			st = &Stored{Stream: name.stream}
			byID[name.stream] = st
		}
		st.SizeBytes += info.Size()
		st.Viewer = st.Viewer || name.side == ViewerSide
		st.files = append(st.files, filepath.Join(s.dir, e.Name()))
		if info.ModTime().After(st.Written) {
			st.Written = info.ModTime()
		}
	}
	var list []Stored
	for _, st := range byID {
		list = append(list, *st)
	}
	slices.SortFunc(list, func(a, b Stored) int { return b.Written.Compare(a.Written) })
	return list, nil
}

// prune removes the logs that are too old, and the oldest ones while all
// together are too large. A log that is being written stays. What cannot be
// removed is tried again with the next stream.
func (s *Store) prune(now time.Time) {
	list, err := s.List()
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var total int64
	for _, st := range list {
		total += st.SizeBytes
	}
	for _, st := range slices.Backward(list) {
		old := now.Sub(st.Written) > s.limits.Age
		if s.open[st.Stream] > 0 || !old && total <= s.limits.FolderBytes {
			continue
		}
		total -= st.SizeBytes
		for _, name := range st.files {
			_ = os.Remove(name)
		}
	}
}

// thin removes the oldest parts of a log but the first while it has too many.
func (s *Store) thin(stream string, side Side) {
	parts, err := s.parts(stream, side)
	if err != nil {
		return
	}
	for len(parts) > s.limits.Parts {
		_ = os.Remove(s.path(stream, side, parts[1]))
		parts = slices.Delete(parts, 1, 2)
	}
}
