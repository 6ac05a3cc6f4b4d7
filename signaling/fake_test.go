package signaling

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeHost answers from what it is told and remembers what it was asked.
type fakeHost struct {
	mu       sync.Mutex
	err      error // of the next call
	asked    []Request
	sessions []*fakeSession
	most     image.Point
}

func (h *fakeHost) Sources(context.Context) ([]Source, error) {
	return []Source{{ID: "display:HDMI-1", Kind: "display", Title: "HDMI-1", Width: 1920, Height: 1080, Scale: 1}}, h.err
}

func (h *fakeHost) Preview(_ context.Context, id string, most image.Point) ([]byte, error) {
	h.most = most
	return []byte("jpeg of " + id), h.err
}

func (h *fakeHost) Open(_ context.Context, r Request) (Session, string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return nil, "", h.err
	}
	s := &fakeSession{done: make(chan struct{})}
	h.asked, h.sessions = append(h.asked, r), append(h.sessions, s)
	return s, "v=0 answer", nil
}

func (h *fakeHost) Streams(v Viewer) ([]Running, error) {
	if h.err == nil && v.Rights != "control" {
		return nil, ErrRights
	}
	return []Running{{ID: "S", Device: v.Device, Source: "desktop", Figures: map[string]int{"kbps": 7}}}, h.err
}

type fakeSession struct {
	err     error
	trickle string
	reason  string
	once    sync.Once
	done    chan struct{}
}

func (s *fakeSession) Restart(_ context.Context, offer string) (string, error) {
	return "v=0 answer to " + offer, s.err
}
func (s *fakeSession) Trickle(f string) error { s.trickle = f; return s.err }
func (s *fakeSession) Close(reason string) {
	s.reason = reason
	s.once.Do(func() { close(s.done) })
}
func (s *fakeSession) Done() <-chan struct{} { return s.done }

// fakeGate knows the tokens "ann" and "bob" and the code 123456.
type fakeGate struct{ err error }

func (g *fakeGate) Authenticate(_ time.Time, token string) (Viewer, error) {
	switch token {
	case "ann":
		return Viewer{Device: "a", Name: "Ann's phone", Rights: "control"}, nil
	case "bob":
		return Viewer{Device: "b", Name: "Bob's phone", Rights: "view"}, nil
	}
	return Viewer{}, fmt.Errorf("%w: unknown", ErrNotPaired)
}

func (g *fakeGate) Redeem(_ time.Time, code string, _ netip.Addr, _ string) (string, Viewer, error) {
	if g.err != nil {
		return "", Viewer{}, g.err
	}
	if code != "123456" {
		return "", Viewer{}, ErrNotPaired
	}
	return "ann", Viewer{Device: "a"}, nil
}

// bench is a handler with its fakes and its log.
type bench struct {
	*Handler
	host *fakeHost
	gate *fakeGate
	logs *bytes.Buffer
}

func newBench(change func(*Config)) *bench {
	b := &bench{host: &fakeHost{}, gate: &fakeGate{}, logs: &bytes.Buffer{}}
	cfg := Config{Host: b.host, Gate: b.gate, Name: "desk", Version: "1.2", Source: "desktop", Log: slog.New(slog.NewTextHandler(b.logs, nil)),
		Names: []string{"desk.example.com"},
		Page:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("page")) })}
	if change != nil {
		change(&cfg)
	}
	b.Handler = New(cfg)
	return b
}

// ask is one request as a test writes it.
type ask struct {
	method, path string
	token        string            // sent as the cookie
	from         string            // remote address; default a private one
	host         string            // default localhost:7433
	header       map[string]string // further headers
	body         string
	sdp          bool // content type of an offer
}

func (b *bench) do(a ask) *httptest.ResponseRecorder {
	r := httptest.NewRequest(a.method, a.path, strings.NewReader(a.body))
	r.Host, r.RemoteAddr = "localhost:7433", "192.168.1.7:5000"
	if a.host != "" {
		r.Host = a.host
	}
	if a.from != "" {
		r.RemoteAddr = a.from
	}
	if a.token != "" {
		r.AddCookie(&http.Cookie{Name: CookieName, Value: a.token})
	}
	if a.sdp {
		r.Header.Set("Content-Type", typeSDP)
	}
	for k, v := range a.header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

// open starts a stream as a device and returns the path of its session.
func (b *bench) open(t *testing.T, token string) (path, etag string) {
	t.Helper()
	w := b.do(ask{method: "POST", path: "/whep/demo?pointer=viewer", token: token, body: "v=0", sdp: true})
	if w.Code != http.StatusCreated {
		t.Fatalf("opening: %d %s", w.Code, w.Body)
	}
	return w.Header().Get("Location"), w.Header().Get("ETag")
}

var errOdd = errors.New("disk on fire at /secret/path")
