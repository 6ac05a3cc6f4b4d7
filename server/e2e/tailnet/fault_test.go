package tailnet

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A relay that is a detour, and a direct road that is taken too late, are named
// by nearglass doctor from the host's log alone: the viewer here is no browser
// and keeps none.

// recorded is how many seconds of a stream the doctor reads.
const recorded = 16

// keepEnv is a folder for the logs of these streams.
const keepEnv = "TAILNET_KEEP"

func TestRelayIsNamed(t *testing.T) {
	for _, away := range []time.Duration{15 * time.Millisecond, 40 * time.Millisecond, 90 * time.Millisecond} {
		t.Run(away.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			s := newStream(ctx, t, away)
			s.must(s.cut())
			s.watch()
			s.follow(ctx, relayed)
			s.record(ctx, recorded)
			s.named(ctx, "relayed-path")
		})
	}
}

func TestRoadTakenLateIsNamed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := newStream(ctx, t, 50*time.Millisecond)
	s.must(s.cut())
	s.watch()
	s.follow(ctx, relayed)
	s.record(ctx, recorded)
	s.must(s.mend())
	s.follow(ctx, direct)
	s.record(ctx, recorded+8)
	s.named(ctx, "wrong-path", "relayed-path")
}

// record waits until the log has so many seconds.
func (s *stream) record(ctx context.Context, seconds int) {
	s.t.Helper()
	s.poll(ctx, "log of the stream", func() bool {
		data, _ := os.ReadFile(s.log())
		return strings.Count(string(data), `{"record":"second"`) >= seconds
	})
}

// log is the file with the host's log of the stream; empty while there is none.
func (s *stream) log() string {
	found, _ := filepath.Glob(filepath.Join(s.dir, "state", "streams", "*.host.jsonl"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// named asks the doctor. One of these causes must come first.
func (s *stream) named(ctx context.Context, causes ...string) {
	s.t.Helper()
	if dir := os.Getenv(keepEnv); dir != "" {
		data, err := os.ReadFile(s.log())
		s.must(err)
		s.must(os.WriteFile(filepath.Join(dir, strings.ReplaceAll(s.t.Name(), "/", "-")+".host.jsonl"), data, 0o644))
	}
	var answer struct {
		Causes []struct {
			Fault    string
			Evidence []string
		}
	}
	s.must(json.Unmarshal([]byte(s.ask(ctx, "doctor", "--json", s.log())), &answer))
	if len(answer.Causes) == 0 || !slices.Contains(causes, answer.Causes[0].Fault) {
		s.t.Errorf("not one of %q first: %+v", causes, answer.Causes)
	}
}
