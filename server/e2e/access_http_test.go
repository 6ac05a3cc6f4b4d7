package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// startDemo starts a host without a display.
func startDemo(t *testing.T, args ...string) *desk.Host {
	t.Helper()
	return startHost(t, desk.HostOptions{Args: args})
}

// TestAccessCodes: a code works once; wrong and used ones are refused alike,
// and say so in the log.
func TestAccessCodes(t *testing.T) {
	h := startDemo(t)
	code := strings.ReplaceAll(h.Code, "-", "")
	mark := logMark(h)
	sendCode(t, h, otherThan(code), "").expect(t, "a wrong code", http.StatusForbidden)
	expectLog(t, h, mark, "a word on the wrong code", `level=WARN msg="pairing refused" addr=127\.0\.0\.1 reason="wrong, used or expired code"`)
	ok := sendCode(t, h, code, "")
	ok.expect(t, "the right code", http.StatusNoContent)
	cookie := ok.header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie %q is not %s", cookie, part)
		}
	}
	mark = logMark(h)
	sendCode(t, h, code, "").expect(t, "a used code", http.StatusForbidden)
	expectLog(t, h, mark, "a word on the used code", `msg="pairing refused"`)
	for _, body := range []string{``, `{`, `[]`, `{"code":123456}`, `{"code":""}`} {
		send(t, h, request{method: "POST", path: "/api/pair", header: map[string]string{"Content-Type": "application/json"}, body: body}).
			expect(t, "pairing by "+body, http.StatusBadRequest)
	}
	send(t, h, request{method: "POST", path: "/api/pair", header: map[string]string{"Content-Type": "text/plain"}, body: `{"code":"` + code + `"}`}).
		expect(t, "pairing by a form of another site", http.StatusUnsupportedMediaType)
	if n := len(devices(t, h)); n != 1 {
		t.Errorf("%d devices are paired", n)
	}
}

// otherThan gives a code that differs from this one.
func otherThan(code string) string {
	n, _ := strconv.Atoi(code)
	return fmt.Sprintf("%06d", (n+1)%1_000_000)
}

// TestAccessBruteForce: guessing locks the guesser out, also with the right
// code then; guessing from many addresses voids every code.
func TestAccessBruteForce(t *testing.T) {
	h := startDemo(t)
	code := strings.ReplaceAll(h.Code, "-", "")
	for range 5 {
		sendCode(t, h, otherThan(code), "127.0.0.9").expect(t, "a guess", http.StatusForbidden)
	}
	mark := logMark(h)
	for _, guess := range []string{otherThan(code), code} {
		a := sendCode(t, h, guess, "127.0.0.9")
		a.expect(t, "a guess too many", http.StatusTooManyRequests)
		if s, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || s < 1 || s > 30 {
			t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
		}
	}
	expectLog(t, h, mark, "a word on the lock", `level=WARN msg="pairing refused" addr=127\.0\.0\.9 reason="too many wrong codes`)
	sendCode(t, h, code, "127.0.0.8").expect(t, "another address meanwhile", http.StatusNoContent)

	code = newCode(t, h, "control")
	mark = logMark(h)
	for i := range 25 {
		sendCode(t, h, otherThan(code), fmt.Sprintf("127.0.1.%d", 1+i)).expect(t, "a guess from elsewhere", http.StatusForbidden)
	}
	expectLog(t, h, mark, "a word on the flood", `level=WARN msg="all pairing codes are void"`)
	sendCode(t, h, code, "127.0.0.7").expect(t, "a code that the flood voided", http.StatusForbidden)
	sendCode(t, h, newCode(t, h, "control"), "127.0.0.6").expect(t, "a new code", http.StatusNoContent)
}

// TestAccessOtherSites: what another site's page, or a name made to point
// here, asks for is refused.
func TestAccessOtherSites(t *testing.T) {
	h := startDemo(t)
	bearer := map[string]string{"Authorization": "Bearer " + newToken(t, h, "probe", "control")}
	u, err := url.Parse(h.URL)
	must(t, err)
	own := "http://" + u.Host
	for _, c := range []struct {
		name         string
		method, path string
		header       map[string]string
		status       int
	}{
		{"the host's own page", "GET", "/api/sources", map[string]string{"Origin": own, "Sec-Fetch-Site": "same-origin"}, 200},
		{"a program", "GET", "/api/sources", nil, 200},
		{"another origin", "GET", "/api/sources", map[string]string{"Origin": "https://evil.example"}, 403},
		{"another port", "GET", "/api/sources", map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"no origin to speak of", "POST", "/whep/demo", map[string]string{"Origin": "null"}, 403},
		{"a longer name", "POST", "/whep/demo", map[string]string{"Origin": own + ".evil.example"}, 403},
		{"a name in front", "POST", "/api/pair", map[string]string{"Origin": "http://evil.example@" + u.Host + ".example"}, 403},
		{"cross-site fetch", "GET", "/api/sources", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"same-site fetch", "GET", "/api/host", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"cross-site preview", "GET", "/api/sources/demo/preview", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"cross-site offer", "POST", "/whep/demo", map[string]string{"Sec-Fetch-Site": "cross-site", "Content-Type": "application/sdp"}, 403},
		{"cross-site form", "POST", "/api/pair", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403},
		{"cross-site DELETE", "DELETE", "/whep/session/x", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"a link from elsewhere", "GET", "/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200},
		{"a rebound name", "GET", "/api/sources", map[string]string{"Host": "evil.example"}, 421},
		{"a rebound name with its origin", "POST", "/whep/demo", map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}, 421},
		{"a rebound name for the page", "GET", "/", map[string]string{"Host": "127.0.0.1.evil.example:80"}, 421},
		{"a name of the tailnet's look", "GET", "/api/host", map[string]string{"Host": "x.ts.net.evil.example"}, 421},
	} {
		t.Run(c.name, func(t *testing.T) {
			for k, v := range bearer {
				if c.header == nil {
					c.header = map[string]string{}
				}
				c.header[k] = v
			}
			mark := logMark(h)
			a := send(t, h, request{method: c.method, path: c.path, header: c.header})
			a.expect(t, c.name, c.status)
			for k := range a.header {
				if strings.HasPrefix(k, "Access-Control-") {
					t.Errorf("the answer has %s", k)
				}
			}
			if c.status >= 400 {
				expectLog(t, h, mark, "a word on it", `level=WARN msg="request refused" .*status=`+strconv.Itoa(c.status))
			}
		})
	}
}

// TestAccessForgedCookies: only a whole, current token opens anything.
func TestAccessForgedCookies(t *testing.T) {
	h := startDemo(t)
	token := newToken(t, h, "probe", "control")
	stale := newToken(t, h, "gone", "control")
	revoke(t, h, newestDevice(t, h).ID)
	ask := func(header, value string) answer {
		return send(t, h, request{method: "GET", path: "/api/sources", header: map[string]string{header: value}})
	}
	ask("Cookie", "nearglass_device="+token).expect(t, "the right cookie", 200)
	file, err := os.ReadFile(h.StateDir + "/devices.json")
	must(t, err)
	if strings.Contains(string(file), token) {
		t.Error("the state folder holds the token itself")
	}
	_, hash, _ := strings.Cut(string(file), `"tokenHash": "`)
	hash, _, _ = strings.Cut(hash, `"`)
	flipped := []byte(token)
	flipped[len(flipped)/2] ^= 1
	for name, value := range map[string]string{
		"none": "", "truncated": token[:len(token)-1], "longer": token + "A", "altered": string(flipped), "of a revoked device": stale,
		"the device's id": devices(t, h)[0].ID, "the stored hash": hash, "huge": strings.Repeat("A", 20000), "in other case": strings.ToUpper(token),
		"injected": token[:4] + "\t" + token[4:],
	} {
		t.Run(name, func(t *testing.T) {
			mark := logMark(h)
			ask("Cookie", "nearglass_device="+value).expect(t, name, http.StatusUnauthorized)
			expectLog(t, h, mark, "a word on it", `level=WARN msg="request refused" .*status=401`)
			ask("Authorization", "Bearer "+value).expect(t, "as a bearer token", http.StatusUnauthorized)
		})
	}
	ask("Authorization", "Basic "+token).expect(t, "another scheme", http.StatusUnauthorized)
	for _, path := range []string{"/api/sources", "/api/sources/demo/preview", "/whep/demo", "/whep/session/x"} {
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			if a := send(t, h, request{method: method, path: path}); a.status != 401 && a.status != 405 {
				t.Errorf("%s %s without pairing: %d", method, path, a.status)
			}
		}
	}
}

// TestAccessForeignSession: a device can change or end only its own sessions.
func TestAccessForeignSession(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	v := watchDesktop(t, x)
	p := newPage(t, at(400, 300))
	must(t, p.Open(v.host.URL))
	location, err := desk.Eval[string](p, strings.Replace(whepSession, "TOKEN", newToken(t, v.host, "owner", "control"), 1))
	must(t, err)
	other := map[string]string{"Authorization": "Bearer " + newToken(t, v.host, "thief", "control")}
	for _, c := range []struct{ method, kind, body string }{
		{"PATCH", "application/sdp", "v=0\r\n"}, {"PATCH", "application/trickle-ice-sdpfrag", "a=ice-ufrag:x\r\n"}, {"DELETE", "", ""},
	} {
		mark := logMark(v.host)
		header := map[string]string{"Content-Type": c.kind}
		for k, val := range other {
			header[k] = val
		}
		send(t, v.host, request{method: c.method, path: location, header: header, body: c.body}).expect(t, c.method+" by another device", http.StatusNotFound)
		expectLog(t, v.host, mark, "a word on it", `level=WARN msg="request refused" reason="session of another device" status=404`)
	}
	if s, err := desk.Eval[string](p, "peers[0].connectionState"); s != "connected" || err != nil {
		t.Errorf("the session is %s, %v", s, err)
	}
}

// TestAccessPaths: no path leads out of what is served.
func TestAccessPaths(t *testing.T) {
	h := startDemo(t)
	token := newToken(t, h, "probe", "view")
	for _, path := range []string{
		"/../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/assets/../../../etc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
		"/assets/..\\..\\..\\etc\\passwd", "/assets/%00", "/%2e%2e%2fgo.mod", "/api/sources/..%2f..%2f..%2fetc%2fpasswd/preview",
		"/api/sources/%2e%2e/preview", "/api/sources/window:..%2f..%2f/preview", "/api/sources/window:0xffffffffffffffff/preview",
		"/api/sources/display:%00/preview", "/api/sources/window:-1/preview", "/api/sources/" + strings.Repeat("A", 5000) + "/preview",
		"/api/sources/demo/preview?w=-1", "/api/sources/demo/preview?w=99999999999999999999", "/api/devices", "/status", "/devices", "/.git/config",
	} {
		a := rawGet(t, h, path, token)
		if a.status < 300 || a.status >= 500 || strings.Contains(a.body, "root:") {
			t.Errorf("%.60s: %d %.200s", path, a.status, a.body)
		}
	}
}

// rawGet asks for a path as it stands, which http.Client would clean up.
func rawGet(t *testing.T, h *desk.Host, path, token string) answer {
	t.Helper()
	c := dial(t, h)
	defer c.Close()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, token)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return answer{res.StatusCode, res.Header, string(body)}
}

func dial(t *testing.T, h *desk.Host) net.Conn {
	t.Helper()
	u, err := url.Parse(h.URL)
	must(t, err)
	c, err := net.DialTimeout("tcp", u.Host, patience)
	must(t, err)
	must(t, c.SetDeadline(time.Now().Add(patience)))
	return c
}

// TestAccessLargeAndSlow: neither long bodies nor endless headers cost more
// than their own connection.
func TestAccessLargeAndSlow(t *testing.T) {
	h := startDemo(t)
	token := newToken(t, h, "probe", "view")
	long := strings.Repeat("a", 1<<20)
	for path, kind := range map[string]string{"/api/pair": "application/json", "/whep/demo": "application/sdp"} {
		body := `{"code":"` + long
		if kind == "application/sdp" {
			body = "v=0" + long
		}
		send(t, h, request{method: "POST", path: path, body: body, header: map[string]string{"Content-Type": kind, "Authorization": "Bearer " + token}}).
			expect(t, "a long body to "+path, http.StatusRequestEntityTooLarge)
	}
	c := dial(t, h)
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: %s\r\n\r\n", strings.Repeat("b", 1<<16))
	if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a long header: %d", res.StatusCode)
	}
	testSlow(t, h)
}

// testSlow keeps many connections open that send a header byte by byte. The
// host serves others meanwhile and ends each of them.
func testSlow(t *testing.T, h *desk.Host) {
	t.Helper()
	const many = 100
	conns := make([]net.Conn, many)
	for i := range conns {
		conns[i] = dial(t, h)
		defer conns[i].Close()
		fmt.Fprintf(conns[i], "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
	}
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := conns[0].Write([]byte("s")); err != nil {
				ended <- nil
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	go func() {
		_, err := io.Copy(io.Discard, conns[0])
		ended <- err
	}()
	send(t, h, request{method: "GET", path: "/api/host"}).expect(t, "another request meanwhile", http.StatusOK)
	if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a slow header was listened to for %v", patience)
	}
}
