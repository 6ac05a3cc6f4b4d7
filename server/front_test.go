package server

import (
	"bytes"
	"context"
	"errors"
	"image"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nearglass/server/access"
	"nearglass/signaling"
)

type noHost struct{}

func (noHost) Sources(context.Context) ([]signaling.Source, error) { return nil, nil }
func (noHost) Preview(context.Context, string, image.Point) ([]byte, error) {
	return nil, signaling.ErrNotFound
}
func (noHost) Streams(signaling.Viewer) ([]signaling.Running, error) { return nil, nil }
func (noHost) Open(context.Context, signaling.Request) (signaling.Session, string, error) {
	return nil, "", signaling.ErrNotFound
}

// startFront runs the door of a host without streams.
func startFront(t *testing.T, dir string, log *slog.Logger) *front {
	t.Helper()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	cfg, err := Config{Listen: "127.0.0.1:0", StateDir: dir, Rights: access.View}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	store, err := access.Open(dir, log)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFront(cfg, store, noHost{}, nil, nil, func() int { return 3 }, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- f.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, SocketName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket was left behind: %v", err)
		}
	})
	return f
}

// TestPairingFromEndToEnd goes the way of a person with a phone.
func TestPairingFromEndToEnd(t *testing.T) {
	dir := t.TempDir()
	var logs bytes.Buffer
	f := startFront(t, dir, slog.New(slog.NewTextHandler(&logs, nil)))
	ctx := context.Background()
	control, err := DialControl(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := control.Pair(ctx, "")
	if err != nil || p.Rights != access.View || len(p.Code) != 7 || !strings.HasSuffix(p.Link, "#pair="+strings.Replace(p.Code, "-", "", 1)) {
		t.Fatalf("%+v, %v", p, err)
	}
	jar, _ := cookiejar.New(nil)
	browser := http.Client{Jar: jar}
	base := "http://" + f.addr().String()
	status := func(method, path, body string) int {
		req, _ := http.NewRequest(method, base+path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		res, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	steps := []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/api/sources", "", 401},
		{"POST", "/api/pair", `{"code":"12345","name":"phone"}`, 403},
		{"POST", "/api/pair", `{"code":"` + p.Code + `","name":"phone"}`, 204},
		{"GET", "/api/sources", "", 200},
		{"POST", "/api/pair", `{"code":"` + p.Code + `","name":"again"}`, 403},
	}
	for _, s := range steps {
		if got := status(s.method, s.path, s.body); got != s.want {
			t.Fatalf("%s %s %s: %d, want %d", s.method, s.path, s.body, got, s.want)
		}
	}
	list, err := control.Devices(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "phone" || list[0].TokenHash != "" {
		t.Fatalf("%+v, %v", list, err)
	}
	stream := f.store.Watch(list[0].ID)
	if err := control.Revoke(ctx, list[0].ID); err != nil {
		t.Fatal(err)
	}
	<-stream
	if got := status("GET", "/api/sources", ""); got != 401 {
		t.Fatalf("a revoked device: %d", got)
	}
	if err := control.Revoke(ctx, list[0].ID); !errors.Is(err, access.ErrDevice) {
		t.Fatalf("revoking twice: %v", err)
	}
}

func TestBruteForceIsAnswered429(t *testing.T) {
	f := startFront(t, t.TempDir(), nil)
	last := 0
	for range 6 {
		res, err := http.Post("http://"+f.addr().String()+"/api/pair", "application/json", strings.NewReader(`{"code":"0"}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		last = res.StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Fatalf("the sixth wrong code: %d", last)
	}
}

func TestControl(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	if _, err := DialControl(ctx, dir); !errors.Is(err, ErrNoHost) {
		t.Fatalf("without a host: %v", err)
	}
	f := startFront(t, dir, nil)
	control, err := DialControl(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	st, err := control.Status(ctx)
	if err != nil || st.Listen != f.addr().String() || st.Watching != 3 || len(st.Addresses) == 0 {
		t.Errorf("%+v, %v", st, err)
	}
	issued, err := control.Issue(ctx, "wall", access.Control)
	if err != nil || issued.Token == "" || issued.Device.Rights != access.Control || issued.Device.TokenHash != "" {
		t.Errorf("%+v, %v", issued, err)
	}
	if _, err := control.Pair(ctx, "root"); err == nil {
		t.Error("a code with rights that there are not")
	}
	info, err := os.Stat(filepath.Join(dir, SocketName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v", info.Mode(), err)
	}
	if _, err := listenLocal(dir); err == nil || !strings.Contains(err.Error(), "running already") {
		t.Errorf("a second host: %v", err)
	}
}

func TestSocketLeftBehind(t *testing.T) {
	dir := t.TempDir()
	l, err := listenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	l.(interface{ SetUnlinkOnClose(bool) }).SetUnlinkOnClose(false)
	_ = l.Close() // as a host that was killed leaves it
	again, err := listenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}
