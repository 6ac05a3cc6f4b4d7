package signaling

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestGates(t *testing.T) {
	hostname, _ := os.Hostname()
	origin := func(o string) map[string]string { return map[string]string{"Origin": o} }
	site := func(s string) map[string]string { return map[string]string{"Sec-Fetch-Site": s} }
	whep := func(h map[string]string) ask {
		return ask{method: "POST", path: "/whep/demo", token: "ann", body: "v=0", sdp: true, header: h}
	}
	list := ask{method: "GET", path: "/api/sources", token: "ann"}
	from := func(a ask, addr string) ask { a.from = addr; return a }
	host := func(a ask, name string) ask { a.host = name; return a }
	with := func(a ask, h map[string]string) ask { a.header = h; return a }
	token := func(a ask, t string) ask { a.token = t; return a }
	tests := []struct {
		name string
		ask  ask
		want int
	}{
		{"loopback", from(list, "127.0.0.1:1"), 200},
		{"loopback 6", from(list, "[::1]:1"), 200},
		{"private", from(list, "10.1.2.3:1"), 200},
		{"mapped private", from(list, "[::ffff:192.168.1.2]:1"), 200},
		{"Tailscale", from(list, "100.101.102.103:1"), 200},
		{"Tailscale 6", from(list, "[fd7a:115c:a1e0::1]:1"), 200},
		{"link-local", from(list, "[fe80::1%eth0]:1"), 200},
		{"public", from(list, "8.8.8.8:1"), 403},
		{"public 6", from(list, "[2001:db8::1]:1"), 403},
		{"beside the carrier's range", from(list, "100.128.0.1:1"), 403},
		{"beside RFC 1918", from(list, "172.32.0.1:1"), 403},
		{"no address", from(list, "@"), 403},

		{"address as host", host(list, "192.168.1.2:7433"), 200},
		{"IPv6 as host", host(list, "[fd00::1]:7433"), 200},
		{"IPv6 as host without port", host(list, "[fd00::1]"), 200},
		{"own name", host(list, hostname+":7433"), 200},
		{"own name, loud", host(list, strings.ToUpper(hostname)+".LOCAL."), 200},
		{"MagicDNS", host(list, "desk.tail1234.ts.net"), 200},
		{"allowed", host(list, "desk.example.com"), 200},
		{"rebound", host(list, "evil.example.com:7433"), 421},
		{"below an allowed name", host(list, "evil.desk.example.com"), 421},
		{"own name below another", host(list, hostname+".evil.com"), 421},
		{"looks like an address", host(list, "192.168.1.2.evil.com"), 421},
		{"looks like MagicDNS", host(list, "evilts.net"), 421},
		{"rebound, page", host(ask{method: "GET", path: "/"}, "evil.example.com"), 421},
		{"rebound, pairing", host(ask{method: "POST", path: "/api/pair"}, "evil.example.com"), 421},

		{"own origin", whep(origin("http://localhost:7433")), 201},
		{"own origin behind a proxy", host(whep(origin("https://desk.example.com")), "desk.example.com"), 201},
		{"other origin", whep(origin("https://evil.example.com")), 403},
		{"other port", whep(origin("http://localhost:3000")), 403},
		{"null origin", whep(origin("null")), 403},
		{"extension", whep(origin("chrome-extension://abc")), 403},
		{"origin with our name before it", whep(origin("http://localhost:7433.evil.com")), 403},
		{"origin with us as user", whep(origin("http://localhost:7433@evil.com")), 403},
		{"other origin with a token", ask{method: "POST", path: "/whep/demo", body: "v=0", sdp: true,
			header: map[string]string{"Origin": "https://evil.com", "Authorization": "Bearer ann"}}, 403},
		{"other origin reads", with(list, origin("https://evil.com")), 403},
		{"same site", whep(site("same-origin")), 201},
		{"typed by the person", with(list, site("none")), 200},
		{"cross-site post", whep(site("cross-site")), 403},
		{"other port posts", whep(site("same-site")), 403},
		{"cross-site list", with(list, site("cross-site")), 403},
		{"cross-site preview", with(ask{method: "GET", path: "/api/sources/demo/preview", token: "ann"}, site("cross-site")), 403},
		{"cross-site stats", with(ask{method: "GET", path: "/stats", token: "ann"}, site("cross-site")), 403},
		{"a link to the page", with(ask{method: "GET", path: "/"}, site("cross-site")), 200},
		{"cross-site pairing", with(ask{method: "POST", path: "/api/pair"}, site("cross-site")), 403},
		{"cross-site end", with(ask{method: "DELETE", path: "/whep/session/x", token: "ann"}, site("cross-site")), 403},

		{"no token", token(list, ""), 401},
		{"forged", token(list, "forged"), 401},
		{"bearer", with(token(list, ""), map[string]string{"Authorization": "Bearer ann"}), 200},
		{"bearer in small letters", with(token(list, ""), map[string]string{"Authorization": "bearer  ann "}), 200},
		{"forged bearer beside a good cookie", with(list, map[string]string{"Authorization": "Bearer forged"}), 401},
		{"basic", with(token(list, ""), map[string]string{"Authorization": "Basic YW5uOg=="}), 401},
		{"offer without a token", token(whep(nil), ""), 401},
		{"preview without a token", ask{method: "GET", path: "/api/sources/demo/preview"}, 401},
		{"the page without a token", ask{method: "GET", path: "/"}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(nil)
			w := b.do(tt.ask)
			if w.Code != tt.want {
				t.Fatalf("status %d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if refused := w.Code >= 400; refused != strings.Contains(b.logs.String(), "request refused") {
				t.Errorf("log: %s", b.logs)
			}
			if w.Code == 401 && !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer") {
				t.Error("no WWW-Authenticate")
			}
			if w.Code >= 400 && len(b.host.asked) > 0 {
				t.Error("a refused request reached the host")
			}
		})
	}
}

func TestLogsHoldNoSecrets(t *testing.T) {
	b := newBench(nil)
	b.do(ask{method: "GET", path: "/api/sources", token: "secret-token"})
	b.do(ask{method: "GET", path: "/api/host", token: "secret-token"})
	b.do(ask{method: "POST", path: "/api/pair", body: `{"code":"secret-code"}`, header: map[string]string{"Content-Type": "application/json"}})
	if log := b.logs.String(); log == "" || strings.Contains(log, "secret") {
		t.Fatalf("log: %s", log)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	b := newBench(nil)
	for _, a := range []ask{
		{method: "GET", path: "/"}, {method: "GET", path: "/api/host"}, {method: "GET", path: "/api/nothing"},
		{method: "GET", path: "/api/sources"}, {method: "GET", path: "/", from: "8.8.8.8:1"}, {method: "PUT", path: "/"},
	} {
		h := b.do(a).Header()
		for k, v := range map[string]string{
			"Content-Security-Policy": ContentSecurityPolicy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy": permissionsPolicy, "Access-Control-Allow-Origin": "",
		} {
			if h.Get(k) != v {
				t.Errorf("%s %s: %s is %q", a.method, a.path, k, h.Get(k))
			}
		}
	}
}

func TestProblems(t *testing.T) {
	b := newBench(nil)
	w := b.do(ask{method: "GET", path: "/api/sources"})
	var p struct{ Title, Detail string }
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Title == "" || !strings.Contains(p.Detail, "nearglass pair") ||
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %v", w.Body, w.Header())
	}
	w = b.do(ask{method: "GET", path: "/", host: "<b>evil.example.com", header: map[string]string{"Accept": "text/html"}})
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") || strings.Contains(w.Body.String(), "<b>") {
		t.Errorf("a person reads %s %v", w.Body, w.Header())
	}
}

// TestOwnPublicAddress: a machine may open its own public address.
func TestOwnPublicAddress(t *testing.T) {
	for local, want := range map[string]int{"8.8.8.8": 200, "8.8.4.4": 403} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.RemoteAddr = "8.8.8.8:7433", "8.8.8.8:5000"
		addr := &net.TCPAddr{IP: net.ParseIP(local), Port: 7433}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
		w := httptest.NewRecorder()
		newBench(nil).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("called at %s: %d, want %d", local, w.Code, want)
		}
	}
}

// TestPlainHTTPWhereTLSIs: with a certificate other machines are sent to HTTPS.
func TestPlainHTTPWhereTLSIs(t *testing.T) {
	b := newBench(func(c *Config) { c.Secure = true })
	w := b.do(ask{method: "GET", path: "/?a=1", from: "8.8.8.8:1", host: "desk.example.com:7433"})
	if w.Code != 308 || w.Header().Get("Location") != "https://desk.example.com:7433/?a=1" {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	if w := b.do(ask{method: "POST", path: "/api/pair"}); w.Code != 403 {
		t.Errorf("pairing over plain HTTP: %d", w.Code)
	}
	if w := b.do(ask{method: "GET", path: "/", host: "evil.example.com"}); w.Code != 421 {
		t.Errorf("an open redirect: %d", w.Code)
	}
	if w := b.do(ask{method: "GET", path: "/", from: "127.0.0.1:1"}); w.Code != 200 {
		t.Errorf("this machine: %d", w.Code)
	}
	r := httptest.NewRequest("POST", "/api/pair", strings.NewReader(`{"code":"123456"}`))
	r.Host, r.RemoteAddr, r.TLS = "desk.example.com", "8.8.8.8:1", &tls.ConnectionState{}
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	b.ServeHTTP(rec, r)
	if c := rec.Result().Cookies(); rec.Code != http.StatusNoContent || len(c) != 1 || !c[0].Secure {
		t.Errorf("over HTTPS: %d %v", rec.Code, c)
	}
}
