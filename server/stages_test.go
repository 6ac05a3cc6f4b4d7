package server

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/capture"
)

// fakeScreens is a display server that can die and return. It stands in for X.
type fakeScreens struct {
	dead  atomic.Bool
	opens atomic.Int32
	end   chan error // ends the capture that runs
}

func (f *fakeScreens) backend(string) (capture.Backend, error) {
	if f.dead.Load() {
		return nil, fmt.Errorf("connecting: %w", capture.ErrGone)
	}
	return fakeBackend{f}, nil
}

func (f *fakeScreens) lost(capture.Backend)        {}
func (f *fakeScreens) inputs(string) func() uint64 { return nil }

type fakeBackend struct{ f *fakeScreens }

func (fakeBackend) Name() string                                   { return "fake" }
func (fakeBackend) List(context.Context) ([]capture.Source, error) { return nil, nil }
func (fakeBackend) Close() error                                   { return nil }
func (b fakeBackend) Open(_ context.Context, id string, _ capture.Options) (capture.Capture, error) {
	if id == "window:0x404" {
		return nil, capture.ErrNotFound
	}
	b.f.opens.Add(1)
	return fakeCapture{b.f, id}, nil
}

type fakeCapture struct {
	f  *fakeScreens
	id string
}

func (c fakeCapture) Place() capture.Place   { return capture.Place{Size: image.Pt(8, 8)} }
func (c fakeCapture) Source() capture.Source { return capture.Source{ID: c.id} }

// Run delivers one picture and waits.
func (c fakeCapture) Run(ctx context.Context, ring *gpu.Ring) error {
	ring.Configure(image.Pt(8, 8), 32, gpu.BGRA, []gpu.Memory{{Pix: make([]byte, 256)}, {Pix: make([]byte, 256)}})
	if s, ok := ring.Acquire(); ok {
		ring.Publish(s, time.Now(), nil, 0)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-c.f.end:
		return err
	}
}

func newFakeStages() (*fakeScreens, *stages) {
	f := &fakeScreens{end: make(chan error)}
	return f, newStages(f, slog.New(slog.DiscardHandler))
}

// take waits until the reader has a picture.
func take(t *testing.T, rd *gpu.Reader) {
	t.Helper()
	synctest.Wait()
	f, err := rd.Take()
	if err != nil || f == nil {
		t.Fatalf("no picture: %v, %v", f, err)
	}
	f.Release()
}

func TestViewersShareACapture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFakeStages()
		defer s.close()
		a, ra, err := s.join(t.Context(), stageKey{"desktop", false}, 60)
		if err != nil {
			t.Fatal(err)
		}
		b, rb, err := s.join(t.Context(), stageKey{"desktop", false}, 60)
		if err != nil || a != b || f.opens.Load() != 1 {
			t.Fatalf("the second viewer got %p beside %p, %d captures, %v", b, a, f.opens.Load(), err)
		}
		take(t, ra)
		take(t, rb)
		if c, _, _ := s.join(t.Context(), stageKey{"desktop", true}, 60); c == a {
			t.Error("a viewer that wants the pointer in its picture shares the one without")
		}
	})
}

func TestCaptureOutlivesAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFakeStages()
		defer s.close()
		for range 3 {
			st, _, err := s.join(t.Context(), stageKey{"desktop", false}, 60)
			if err != nil {
				t.Fatal(err)
			}
			s.leave(st)
			time.Sleep(linger / 2)
		}
		if f.opens.Load() != 1 {
			t.Errorf("reloading opened %d captures", f.opens.Load())
		}
		time.Sleep(2 * linger)
		synctest.Wait()
		if len(s.byKey) != 0 {
			t.Error("the capture goes on without viewers")
		}
	})
}

func TestDisplayReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFakeStages()
		defer s.close()
		_, rd, err := s.join(t.Context(), stageKey{"desktop", false}, 60)
		if err != nil {
			t.Fatal(err)
		}
		take(t, rd)
		f.dead.Store(true)
		f.end <- fmt.Errorf("%w: connection reset", capture.ErrGone)
		time.Sleep(5 * retryEvery)
		synctest.Wait()
		if st := rd.State(); !st.Paused || st.Reason == "" {
			t.Errorf("while the display is gone: %+v", st)
		}
		f.dead.Store(false)
		time.Sleep(2 * retryEvery)
		take(t, rd)
		if st := rd.State(); st.Paused {
			t.Errorf("after its return: %+v", st)
		}
	})
}

func TestSourceEnds(t *testing.T) {
	for _, c := range []struct {
		id  string
		err error
	}{
		{"desktop", capture.ErrClosed},
		{"window:0x1", capture.ErrClosed},
		{"window:0x1", capture.ErrGone}, // its window died with the display
		{"desktop", errors.New("out of memory")},
	} {
		synctest.Test(t, func(t *testing.T) {
			f, s := newFakeStages()
			defer s.close()
			_, rd, err := s.join(t.Context(), stageKey{c.id, false}, 60)
			if err != nil {
				t.Fatal(err)
			}
			f.end <- c.err
			synctest.Wait()
			err = rd.Err()
			if err == nil || errors.Is(err, io.EOF) || errors.Is(c.err, capture.ErrGone) != (errors.Is(err, capture.ErrClosed) && !errors.Is(err, c.err)) {
				t.Errorf("%s ended by %v gives its viewers %v", c.id, c.err, err)
			}
			if _, again, err := s.join(t.Context(), stageKey{c.id, false}, 60); err != nil || again.Err() != nil {
				t.Errorf("the next viewer gets the ended capture: %v, %v", err, again.Err())
			}
		})
	}
}

func TestUnknownSourceIsRefused(t *testing.T) {
	_, s := newFakeStages()
	defer s.close()
	if _, _, err := s.join(t.Context(), stageKey{"window:0x404", false}, 60); !errors.Is(err, capture.ErrNotFound) {
		t.Errorf("an unknown window: %v", err)
	}
}
