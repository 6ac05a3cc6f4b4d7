package signaling

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestStatuses(t *testing.T) {
	asJSON := map[string]string{"Content-Type": "application/json"}
	frag := map[string]string{"Content-Type": typeFrag}
	tests := []struct {
		name string
		ask  ask
		err  error // of host, gate or session
		want int
	}{
		{"host, not paired", ask{method: "GET", path: "/api/host"}, nil, 200},
		{"host, forged", ask{method: "GET", path: "/api/host", token: "x"}, nil, 200},
		{"pair", ask{method: "POST", path: "/api/pair", body: `{"code":"123456","name":"x"}`, header: asJSON}, nil, 204},
		{"wrong code", ask{method: "POST", path: "/api/pair", body: `{"code":"000000"}`, header: asJSON}, nil, 403},
		{"locked", ask{method: "POST", path: "/api/pair", body: `{"code":"123456"}`, header: asJSON}, &BusyError{90 * time.Second}, 429},
		{"pair, disk full", ask{method: "POST", path: "/api/pair", body: `{"code":"123456"}`, header: asJSON}, errOdd, 500},
		{"pair, no code", ask{method: "POST", path: "/api/pair", body: `{}`, header: asJSON}, nil, 400},
		{"pair, garbage", ask{method: "POST", path: "/api/pair", body: `code=123456`, header: asJSON}, nil, 400},
		{"pair, form", ask{method: "POST", path: "/api/pair", body: `code=123456`, header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}, nil, 415},
		{"pair, simple request", ask{method: "POST", path: "/api/pair", body: `{"code":"123456"}`, header: map[string]string{"Content-Type": "text/plain"}}, nil, 415},
		{"pair, much", ask{method: "POST", path: "/api/pair", body: strings.Repeat(" ", maxBodyBytes+1), header: asJSON}, nil, 413},
		{"pair by GET", ask{method: "GET", path: "/api/pair"}, nil, 405},
		{"sources", ask{method: "GET", path: "/api/sources", token: "bob"}, nil, 200},
		{"sources, HEAD", ask{method: "HEAD", path: "/api/sources", token: "bob"}, nil, 200},
		{"sources by POST", ask{method: "POST", path: "/api/sources", token: "ann"}, nil, 405},
		{"preview", ask{method: "GET", path: "/api/sources/display:HDMI-1/preview?w=320", token: "bob"}, nil, 200},
		{"preview, unknown", ask{method: "GET", path: "/api/sources/x/preview", token: "bob"}, fmt.Errorf("%w: %q", ErrNotFound, "x"), 404},
		{"preview, minimised", ask{method: "GET", path: "/api/sources/x/preview", token: "bob"}, ErrUnavailable, 503},
		{"preview, wide", ask{method: "GET", path: "/api/sources/x/preview?w=100000", token: "bob"}, nil, 400},
		{"preview, odd", ask{method: "GET", path: "/api/sources/x/preview?w=-1", token: "bob"}, nil, 400},
		{"offer", ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0", sdp: true}, nil, 201},
		{"offer, parameters", ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0", header: map[string]string{"Content-Type": "application/sdp; charset=utf-8"}}, nil, 201},
		{"offer, garbage", ask{method: "POST", path: "/whep/demo", token: "bob", body: "hello", sdp: true}, nil, 400},
		{"offer, empty", ask{method: "POST", path: "/whep/demo", token: "bob", sdp: true}, nil, 400},
		{"offer, much", ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0" + strings.Repeat("a", maxBodyBytes), sdp: true}, nil, 413},
		{"offer as JSON", ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0", header: asJSON}, nil, 415},
		{"offer, unanswerable", ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0", sdp: true}, ErrOffer, 400},
		{"offer, unknown source", ask{method: "POST", path: "/whep/x", token: "bob", body: "v=0", sdp: true}, ErrNotFound, 404},
		{"offer, no H.264", ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0", sdp: true}, ErrNoH264, 422},
		{"offer, no display", ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0", sdp: true}, ErrUnavailable, 503},
		{"offer, odd", ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0", sdp: true}, errOdd, 500},
		{"offer by GET", ask{method: "GET", path: "/whep/demo", token: "bob"}, nil, 405},
		{"session by GET", ask{method: "GET", path: "/whep/session/x", token: "bob"}, nil, 405},
		{"no session, PATCH", ask{method: "PATCH", path: "/whep/session/x", token: "bob", header: frag}, nil, 404},
		{"no session, DELETE", ask{method: "DELETE", path: "/whep/session/x", token: "bob"}, nil, 404},
		{"stats", ask{method: "GET", path: "/stats", token: "ann"}, nil, 200},
		{"stats, only watching", ask{method: "GET", path: "/stats", token: "bob"}, nil, 403},
		{"stats, not paired", ask{method: "GET", path: "/stats"}, nil, 401},
		{"stats, odd", ask{method: "GET", path: "/stats", token: "ann"}, errOdd, 500},
		{"stats by POST", ask{method: "POST", path: "/stats", token: "ann"}, nil, 405},
		{"OPTIONS", ask{method: "OPTIONS", path: "/whep/demo"}, nil, 204},
		{"unknown API", ask{method: "GET", path: "/api/x"}, nil, 404},
		{"page by POST", ask{method: "POST", path: "/"}, nil, 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(nil)
			b.host.err, b.gate.err = tt.err, tt.err
			w := b.do(tt.ask)
			if w.Code != tt.want {
				t.Fatalf("status %d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("the answer tells of the host's inside: %s", w.Body)
			}
			if w.Code == 405 && !strings.Contains(w.Header().Get("Allow"), "OPTIONS") {
				t.Error("no Allow")
			}
			if w.Code == 429 && w.Header().Get("Retry-After") != "90" {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
		})
	}
}

func TestHostAnswer(t *testing.T) {
	b := newBench(nil)
	tests := map[string]string{
		"":    `{"name":"desk","version":"1.2","paired":false,"rights":"","device":"","secure":false,"source":""}`,
		"x":   `{"name":"desk","version":"1.2","paired":false,"rights":"","device":"","secure":false,"source":""}`,
		"ann": `{"name":"desk","version":"1.2","paired":true,"rights":"control","device":"Ann's phone","secure":false,"source":"desktop"}`,
	}
	for token, want := range tests {
		w := b.do(ask{method: "GET", path: "/api/host", token: token})
		if got := strings.TrimSpace(w.Body.String()); got != want {
			t.Errorf("%q: %s", token, got)
		}
		if renewed := len(w.Result().Cookies()) == 1; renewed != (token == "ann") {
			t.Errorf("%q: cookie %v", token, w.Result().Cookies())
		}
	}
	w := b.do(ask{method: "GET", path: "/api/host", header: map[string]string{"Authorization": "Bearer ann"}})
	if len(w.Result().Cookies()) != 0 {
		t.Error("a bearer token became a cookie")
	}
}

func TestCookie(t *testing.T) {
	b := newBench(nil)
	w := b.do(ask{method: "POST", path: "/api/pair", body: `{"code":"123456"}`, header: map[string]string{"Content-Type": "application/json"}})
	c := w.Result().Cookies()
	if len(c) != 1 || c[0].Name != CookieName || c[0].Value != "ann" || !c[0].HttpOnly || c[0].Secure ||
		c[0].SameSite != http.SameSiteStrictMode || c[0].MaxAge != cookieSeconds || c[0].Path != "/" || c[0].Domain != "" {
		t.Fatalf("%+v", c)
	}
}

func TestPreviewAnswer(t *testing.T) {
	b := newBench(nil)
	w := b.do(ask{method: "GET", path: "/api/sources/display:DP%2F1/preview?w=320", token: "bob"})
	if w.Body.String() != "jpeg of display:DP/1" || w.Header().Get("Content-Type") != "image/jpeg" || b.host.most.X != 320 {
		t.Fatalf("%s %v %v", w.Body, w.Header(), b.host.most)
	}
}
