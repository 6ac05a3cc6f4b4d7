package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
)

// onLoad runs a script in the page before each document's own.
func onLoad(t *testing.T, p *desk.Page, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	must(t, err)
}

// device is a paired device as pair list gives it.
type device struct{ ID, Name, Rights string }

func newestDevice(t *testing.T, h *desk.Host) device {
	t.Helper()
	list := devices(t, h)
	if len(list) == 0 {
		t.Fatal("no device is paired")
	}
	return list[len(list)-1]
}

func devices(t *testing.T, h *desk.Host) []device {
	t.Helper()
	out, err := h.Run(t.Context(), "pair", "list", "--json")
	must(t, err)
	var list []device
	must(t, json.Unmarshal([]byte(out), &list))
	return list
}

func revoke(t *testing.T, h *desk.Host, id string) {
	t.Helper()
	_, err := h.Run(t.Context(), "pair", "revoke", id)
	must(t, err)
}

// newToken pairs a device without a code and gives its token.
func newToken(t *testing.T, h *desk.Host, name, rights string) string {
	t.Helper()
	out, err := h.Run(t.Context(), "pair", "token", "--rights", rights, name)
	must(t, err)
	return strings.TrimSpace(out)
}

// newCode asks the host for another pairing code, six digits.
func newCode(t *testing.T, h *desk.Host, rights string) string {
	t.Helper()
	_, code, ok := strings.Cut(newLink(t, h, rights), "#pair=")
	if !ok {
		t.Fatal("a pairing link without a code")
	}
	return code
}

// request is one HTTP request of an attacker.
type request struct {
	method, path string
	header       map[string]string // "Host" replaces the Host header
	body         string
	from         string // the loopback address that it comes from; "" for any
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes a request over a connection of its own and follows no redirect.
func send(t *testing.T, h *desk.Host, r request) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.method, strings.TrimSuffix(h.URL, "/")+r.path, strings.NewReader(r.body))
	must(t, err)
	for k, v := range r.header {
		if k == "Host" {
			req.Host = v
		}
		req.Header.Set(k, v)
	}
	dialer := &net.Dialer{Timeout: patience}
	if r.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(r.from)}
	}
	client := http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return answer{res.StatusCode, res.Header, string(body)}
}

// sendCode tries to pair by a code.
func sendCode(t *testing.T, h *desk.Host, code, from string) answer {
	t.Helper()
	return send(t, h, request{method: "POST", path: "/api/pair", from: from,
		header: map[string]string{"Content-Type": "application/json"}, body: fmt.Sprintf(`{"code":%q,"name":"attacker"}`, code)})
}

// expect checks an answer's status, and that a refusal is a problem document
// that says what to do.
func (a answer) expect(t *testing.T, what string, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: answered %d, not %d: %s", what, a.status, status, a.body)
	}
	if a.status < 400 || a.header.Get("Content-Type") != "application/problem+json" {
		return
	}
	var p struct{ Title, Detail string }
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || p.Title == "" || p.Detail == "" {
		t.Errorf("%s: the refusal says %q", what, a.body)
	}
}

// expectLog waits until the host's log, from a mark on, matches a pattern.
func expectLog(t *testing.T, h *desk.Host, mark int, what, pattern string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	err := desk.Poll(within(t, 10*time.Second), what, func() (bool, error) {
		return re.MatchString(logSince(h, mark)), nil
	})
	if err != nil {
		t.Errorf("%s: the log has nothing like %s; since then it says:\n%s", what, pattern, logSince(h, mark))
	}
}

// logMark is the present end of the host's log.
func logMark(h *desk.Host) int { return len(h.Process.Output.String()) }

func logSince(h *desk.Host, mark int) string {
	text := h.Process.Output.String()
	return text[min(mark, len(text)):]
}
