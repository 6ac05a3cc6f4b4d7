package signaling

import (
	"runtime"
	"strings"
	"testing"
)

func TestOffer(t *testing.T) {
	b := newBench(nil)
	w := b.do(ask{method: "POST", path: "/whep/window:0x1a00003?pointer=viewer", token: "bob", body: "v=0 offer", sdp: true})
	r := b.host.asked[0]
	if r.Source != "window:0x1a00003" || r.Offer != "v=0 offer" || r.PointerInVideo || r.Viewer.Device != "b" ||
		r.Viewer.Rights != "view" || r.Viewer.Remote.String() != "192.168.1.7:5000" {
		t.Errorf("the host was asked %+v", r)
	}
	h := w.Header()
	if w.Body.String() != "v=0 answer" || h.Get("Content-Type") != typeSDP || h.Get("ETag") == "" ||
		!strings.HasPrefix(h.Get("Location"), "/whep/session/") || !strings.Contains(h.Get("Accept-Patch"), typeFrag) {
		t.Errorf("%s %v", w.Body, h)
	}
	b.do(ask{method: "POST", path: "/whep/demo", token: "bob", body: "v=0", sdp: true})
	if !b.host.asked[1].PointerInVideo {
		t.Error("a player that says nothing draws no pointer, so it belongs in the video")
	}
}

func TestSession(t *testing.T) {
	b := newBench(nil)
	path, tag := b.open(t, "ann")
	s := b.host.sessions[0]
	patch := func(contentType, match, body string) (int, string, string) {
		h := map[string]string{"Content-Type": contentType}
		if match != "" {
			h["If-Match"] = match
		}
		w := b.do(ask{method: "PATCH", path: path, token: "ann", body: body, header: h})
		return w.Code, w.Body.String(), w.Header().Get("ETag")
	}
	steps := []struct {
		name, contentType, match, body string
		want                           int
	}{
		{"candidates", typeFrag, "", "a=candidate:1", 204},
		{"candidates for this ICE session", typeFrag, tag, "a=candidate:2", 204},
		{"candidates for another", typeFrag, `"other"`, "a=candidate:3", 412},
		{"restart by fragment", typeFrag, "*", "a=ice-ufrag:x", 422},
		{"no candidates", typeFrag, "", "hello", 400},
		{"other type", "text/plain", "", "a=candidate:1", 415},
		{"no offer", typeSDP, "", "hello", 400},
	}
	for _, st := range steps {
		if code, body, _ := patch(st.contentType, st.match, st.body); code != st.want {
			t.Errorf("%s: %d %s", st.name, code, body)
		}
	}
	if s.trickle != "a=candidate:2" {
		t.Errorf("the session got %q", s.trickle)
	}
	code, body, newTag := patch(typeSDP, "", "v=0 again")
	if code != 200 || body != "v=0 answer to v=0 again" || newTag == "" || newTag == tag {
		t.Errorf("restart: %d %s %s", code, body, newTag)
	}
	if code, _, _ := patch(typeFrag, tag, "a=candidate:4"); code != 412 {
		t.Errorf("candidates of before the restart: %d", code)
	}
	if w := b.do(ask{method: "DELETE", path: path, token: "ann"}); w.Code != 200 || s.reason == "" {
		t.Errorf("end: %d, reason %q", w.Code, s.reason)
	}
	if w := b.do(ask{method: "DELETE", path: path, token: "ann"}); w.Code != 404 {
		t.Errorf("end again: %d", w.Code)
	}
}

// TestSessionsBelongToTheirDevice: who knows another's session id gains nothing.
func TestSessionsBelongToTheirDevice(t *testing.T) {
	b := newBench(nil)
	path, _ := b.open(t, "ann")
	for _, a := range []ask{
		{method: "DELETE", path: path, token: "bob"},
		{method: "PATCH", path: path, token: "bob", body: "v=0", sdp: true},
		{method: "PATCH", path: path, token: "bob", body: "a=candidate:1", header: map[string]string{"Content-Type": typeFrag}},
	} {
		if w := b.do(a); w.Code != 404 {
			t.Errorf("%s by another device: %d", a.method, w.Code)
		}
	}
	if w := b.do(ask{method: "DELETE", path: path}); w.Code != 401 {
		t.Errorf("by nobody: %d", w.Code)
	}
	if s := b.host.sessions[0]; s.reason != "" || s.trickle != "" {
		t.Errorf("the session was touched: %+v", s)
	}
}

func TestEndedSessionIsForgotten(t *testing.T) {
	b := newBench(nil)
	path, _ := b.open(t, "ann")
	b.host.sessions[0].Close("the window was closed")
	id := strings.TrimPrefix(path, "/whep/session/")
	for gone := false; !gone; {
		e, _ := b.sessions.find(id, "a")
		gone = e == nil
		runtime.Gosched() // until its watcher has run
	}
	if w := b.do(ask{method: "DELETE", path: path, token: "ann"}); w.Code != 404 {
		t.Fatalf("%d", w.Code)
	}
}

func TestSessionsOfADeviceAreBounded(t *testing.T) {
	b := newBench(nil)
	for range maxPerDevice {
		b.open(t, "ann")
	}
	if w := b.do(ask{method: "POST", path: "/whep/demo", token: "ann", body: "v=0", sdp: true}); w.Code != 429 {
		t.Fatalf("%d", w.Code)
	}
	b.open(t, "bob")
}
