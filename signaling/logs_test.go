package signaling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// fakeLogs answers what it is told and remembers what it was given.
type fakeLogs struct {
	err   error
	got   string
	begun bool // the report breaks off after its first bytes
}

func (l *fakeLogs) Accept(_ time.Time, v Viewer, stream string, from int, lines []byte) (int, error) {
	l.got = fmt.Sprintf("%s %s %d %s", v.Device, stream, from, lines)
	return from + 2, l.err
}

func (l *fakeLogs) Report(_ context.Context, v Viewer, stream string, w io.Writer) error {
	l.got = v.Device + " " + stream
	if l.err == nil || l.begun {
		_, _ = io.WriteString(w, "zip")
	}
	return l.err
}

func TestLogRequests(t *testing.T) {
	const lines = typeLines
	tests := []struct {
		name, method, path, token, kind, body string
		err                                   error
		status                                int
		answer                                string // part of it
		got                                   string // by the logs
	}{
		{"lines", "POST", "/api/streams/S/log?from=3", "ann", lines, "{}\n{}\n", nil, 200, `{"stored":5}`, "a S 3 {}\n{}\n"},
		{"lines before are missing", "POST", "/api/streams/S/log?from=3", "ann", lines, "{}", &MissingError{1}, 409, `{"stored":1}`, "a S 3 {}"},
		{"no lines of a log", "POST", "/api/streams/S/log?from=0", "ann", lines, "x", fmt.Errorf("%w: line 0", ErrLines), 400, "line 0", "a S 0 x"},
		{"another's stream", "POST", "/api/streams/S/log?from=0", "bob", lines, "{}", ErrNoStream, 404, "no such stream", "b S 0 {}"},
		{"the disk is full", "POST", "/api/streams/S/log?from=0", "ann", lines, "{}", errors.New("no space"), 500, "on the host", "a S 0 {}"},
		{"not paired", "POST", "/api/streams/S/log?from=0", "", lines, "{}", nil, 401, "", ""},
		{"no place", "POST", "/api/streams/S/log", "ann", lines, "{}", nil, 400, "how many", ""},
		{"a place before the log", "POST", "/api/streams/S/log?from=-1", "ann", lines, "{}", nil, 400, "how many", ""},
		{"another type", "POST", "/api/streams/S/log?from=0", "ann", "text/plain", "{}", nil, 415, lines, ""},
		{"too much", "POST", "/api/streams/S/log?from=0", "ann", lines, strings.Repeat("x", maxBodyBytes+1), nil, 413, "", ""},
		{"report", "GET", "/api/streams/S/report", "ann", "", "", nil, 200, "zip", "a S"},
		{"report of another's stream", "GET", "/api/streams/S/report", "bob", "", "", ErrNoStream, 404, "no such stream", "b S"},
		{"report, not paired", "GET", "/api/streams/S/report", "", "", "", nil, 401, "", ""},
	}
	for _, tt := range tests {
		logs := &fakeLogs{err: tt.err}
		h := New(Config{Host: &fakeHost{}, Gate: &fakeGate{}, Logs: logs})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, logRequest(tt.method, tt.path, tt.token, tt.kind, tt.body))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.answer) || logs.got != tt.got {
			t.Errorf("%s: %d %q, the logs got %q", tt.name, w.Code, w.Body, logs.got)
		}
	}
}

func logRequest(method, path, token, kind, body string) *http.Request {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.RemoteAddr, r.Host = "127.0.0.1:5000", "127.0.0.1"
	r.Header.Set("Content-Type", kind)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func TestReportSaysWhatItIs(t *testing.T) {
	h := New(Config{Host: &fakeHost{}, Gate: &fakeGate{}, Logs: &fakeLogs{}})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, logRequest("GET", "/api/streams/ABC2/report", "ann", "", ""))
	if got, want := w.Header().Get("Content-Disposition"), `attachment; filename="nearglass-abc2.zip"`; got != want {
		t.Errorf("disposition %q, want %q", got, want)
	}
}

// A report that ends early must not look whole.
func TestReportThatBreaksOff(t *testing.T) {
	h := New(Config{Host: &fakeHost{}, Gate: &fakeGate{}, Logs: &fakeLogs{err: errors.New("gone"), begun: true}})
	defer func() {
		if got := recover(); got != http.ErrAbortHandler {
			t.Errorf("the connection was not broken off: %v", got)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), logRequest("GET", "/api/streams/S/report", "ann", "", ""))
}

// Without logs there is nothing to ask for.
func TestNoLogs(t *testing.T) {
	h := New(Config{Host: &fakeHost{}, Gate: &fakeGate{}})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, logRequest("GET", "/api/streams/S/report", "ann", "", ""))
	if w.Code != 404 {
		t.Errorf("status %d", w.Code)
	}
}
