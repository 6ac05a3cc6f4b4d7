package capture

import (
	"context"
	"errors"
	"image"
	"testing"
	"time"

	"nearglass/gpu"
)

// eventually waits until the condition holds; X tells nobody that everything
// has settled.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited 5 s in vain until %s", what)
}

// viewer runs a capture and keeps a copy of the picture that it updates by the
// damage of each frame alone.
type viewer struct {
	t       testing.TB
	capture Capture
	ring    *gpu.Ring
	reader  *gpu.Reader
	done    chan error
	cancel  context.CancelFunc

	size   image.Point
	pix    []byte // without padding
	frames int
	last   []image.Rectangle // damage of the last frame
	mark   uint64            // of the last frame
}

func watch(t testing.TB, b Backend, id string, o Options) *viewer {
	t.Helper()
	return watchChanged(t, b, id, o, func(Capture) {})
}

// watchChanged is watch with something done to the capture before it runs.
func watchChanged(t testing.TB, b Backend, id string, o Options, do func(Capture)) *viewer {
	t.Helper()
	c, err := b.Open(context.Background(), id, o)
	if err != nil {
		t.Fatal(err)
	}
	do(c)
	ctx, cancel := context.WithCancel(context.Background())
	v := &viewer{t: t, capture: c, ring: gpu.NewRing(), done: make(chan error, 1), cancel: cancel}
	v.reader = v.ring.NewReader()
	go func() { v.done <- c.Run(ctx, v.ring) }()
	t.Cleanup(v.stop)
	return v
}

func (v *viewer) stop() {
	v.cancel()
	select {
	case <-v.done:
	case <-time.After(5 * time.Second):
		v.t.Error("the capture did not end with its context")
	}
	v.ring.Close(nil)
	close(v.done)
}

// end waits for the capture to end by itself.
func (v *viewer) end() error {
	v.t.Helper()
	select {
	case err := <-v.done:
		v.done <- err
		return err
	case <-time.After(5 * time.Second):
		v.t.Fatal("the capture did not end")
		return nil
	}
}

// take updates the copy from the newest frame, if there is a new one.
func (v *viewer) take() bool {
	v.t.Helper()
	f, err := v.reader.Take()
	if err != nil {
		v.t.Fatal(err)
	}
	if f == nil {
		return false
	}
	defer f.Release()
	damage := f.Damage
	if damage == nil {
		v.size, v.pix = f.Size, make([]byte, 4*f.Size.X*f.Size.Y)
		damage = []image.Rectangle{f.Bounds()}
	}
	for _, r := range damage {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			copy(v.pix[4*(y*v.size.X+r.Min.X):4*(y*v.size.X+r.Max.X)], f.Pix[y*f.Stride+4*r.Min.X:])
		}
	}
	v.frames++
	v.last, v.mark = f.Damage, f.Mark
	return true
}

// shows waits until the picture is what want returns, ignoring the fourth byte
// of each pixel.
func (v *viewer) shows(what string, want func() []byte) {
	v.t.Helper()
	eventually(v.t, what, func() bool {
		v.take()
		w := want()
		if len(w) != len(v.pix) || len(w) == 0 {
			return false
		}
		for i := range w {
			if i&3 != 3 && w[i] != v.pix[i] {
				return false
			}
		}
		return true
	})
}

// plain returns a picture of one color.
func plain(size image.Point, color uint32) []byte {
	pix := make([]byte, 0, 4*size.X*size.Y)
	for range size.X * size.Y {
		pix = append(pix, byte(color), byte(color>>8), byte(color>>16), 0)
	}
	return pix
}

func wantError(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want one that is %q", got, want)
	}
}
