package telemetry

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Writer appends the records of one end of one stream. Each line is one write,
// so that a process that is killed leaves whole lines. Its methods are safe for
// concurrent use.
type Writer struct {
	mu        sync.Mutex
	store     *Store
	header    Header // of the next part
	file      *os.File
	sizeBytes int64 // of the file: what is whole in it
	lines     int   // in all parts, later headers not counted
	line      []byte
	closed    bool
}

// errClosed is the answer to a record that comes too late.
var errClosed = errors.New("the stream log is closed")

// Write appends a record. When that fails, as on a full disk, nothing of the
// record stays, and a later one may succeed.
func (w *Writer) Write(record any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	if w.line, err = AppendLine(w.line[:0], record); err != nil {
		return err
	}
	return w.append()
}

// append writes w.line, in a new part when this one is full.
func (w *Writer) append() error {
	if w.closed {
		return errClosed
	}
	if w.sizeBytes > 0 && w.sizeBytes+int64(len(w.line)) > w.store.limits.PartBytes {
		if err := w.turn(); err != nil {
			return err
		}
	}
	if err := w.put(w.line); err != nil {
		return err
	}
	w.lines++
	return nil
}

// put writes one line whole or not at all.
func (w *Writer) put(line []byte) error {
	n, err := w.file.Write(line)
	if err == nil {
		w.sizeBytes += int64(n)
		return nil
	}
	if n > 0 {
		err = errors.Join(err, w.file.Truncate(w.sizeBytes))
	}
	return fmt.Errorf("writing the stream log: %w", err)
}

// turn goes on in a new part and gives up one in the middle when there are too
// many: how a stream began and how it is now say the most.
func (w *Writer) turn() error {
	h := w.header
	h.Part++
	h.First = w.lines
	line, err := AppendLine(nil, h)
	if err != nil {
		return err
	}
	f, err := w.store.create(h.Stream, h.Side, h.Part)
	if err != nil {
		return err
	}
	before, sizeBytes := w.file, w.sizeBytes
	w.file, w.sizeBytes = f, 0
	if err := w.put(line); err != nil {
		w.file, w.sizeBytes = before, sizeBytes
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	w.header = h
	w.store.thin(h.Stream, h.Side)
	return before.Close()
}

// Lines is how many lines the log has, its header included.
func (w *Writer) Lines() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines
}

// Close ends the log. It may be called twice.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.store.release(w.header.Stream)
	return w.file.Close()
}

// resume takes up the last part of a log: it counts its lines and cuts off one
// that is not whole.
func (w *Writer) resume() error {
	in := bufio.NewReader(w.file)
	count := 0
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the stream log: %w", err)
		}
		if count == 0 {
			if err := json.Unmarshal(bytes.TrimSpace(line), &w.header); err != nil {
				return fmt.Errorf("reading the header of the stream log: %w", err)
			}
		}
		count++
		w.sizeBytes += int64(len(line))
	}
	w.lines = w.header.First + count
	if w.header.Part > 0 {
		w.lines-- // its header is a copy
	}
	if err := w.file.Truncate(w.sizeBytes); err != nil {
		return fmt.Errorf("mending the end of the stream log: %w", err)
	}
	return nil
}
