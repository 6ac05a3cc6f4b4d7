package desk

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
)

// transcriptBytes bounds what a Transcript keeps: the end of it.
const transcriptBytes = 1 << 20

// Transcript keeps the last mebibyte of a program's output. It is safe for
// concurrent use.
type Transcript struct {
	mu      sync.Mutex
	text    []byte
	copy    io.Writer
	changed chan struct{} // closed and replaced at each change
	ended   bool
}

func newTranscript(log io.Writer) *Transcript {
	return &Transcript{copy: log, changed: make(chan struct{})}
}

// Write appends to the transcript; it never fails.
func (t *Transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - transcriptBytes; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	if t.copy != nil {
		_, _ = t.copy.Write(p)
	}
	t.wake()
	return len(p), nil
}

func (t *Transcript) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *Transcript) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.wake()
}

func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// Tail gives the last n lines.
func (t *Transcript) Tail(n int) string {
	lines := strings.Split(strings.TrimRight(t.String(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Wait waits until pattern matches the output so far and gives the match and
// its groups. It fails when ctx ends, or the program does, before that.
func (t *Transcript) Wait(ctx context.Context, pattern *regexp.Regexp) ([]string, error) {
	for {
		t.mu.Lock()
		match := pattern.FindStringSubmatch(string(t.text))
		changed, ended := t.changed, t.ended
		t.mu.Unlock()
		if match != nil {
			return match, nil
		}
		if ended {
			return nil, fmt.Errorf("the program ended before it wrote %v; it said last:\n%s", pattern, t.Tail(20))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %v: %w; the program said last:\n%s", pattern, context.Cause(ctx), t.Tail(20))
		}
	}
}
