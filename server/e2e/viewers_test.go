package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// keepChannels lets a test speak on the page's own data channels, and on more
// of the same connection.
const keepChannels = keepPeers + `
	window.channels = {};
	window.RTCPeerConnection = class extends RTCPeerConnection {
		createDataChannel(label, ...rest) { return channels[label] = super.createDataChannel(label, ...rest); }
	};`

// inputMessages are one of each kind that would do something.
var inputMessages = []string{
	`{"type":"move","x":50,"y":60,"w":800,"h":600}`,
	`{"type":"button","button":0,"down":true,"x":50,"y":60,"w":800,"h":600}`,
	`{"type":"button","button":0,"down":false,"x":50,"y":60,"w":800,"h":600}`,
	`{"type":"wheel","dx":0,"dy":120,"x":50,"y":60,"w":800,"h":600}`,
	`{"type":"key","code":"KeyA","key":"a","down":true}`,
	`{"type":"key","code":"KeyA","key":"a","down":false}`,
	`{"type":"text","text":"intruder"}`,
	`{"type":"release"}`,
}

// oddMessages try to come through by their form.
var oddMessages = []string{
	`{"type":"ping","t":1,"type":"move","x":50,"y":60,"w":800,"h":600}`,
	`{"type":"stats","on":true,"TYPE":"text","text":"intruder"}`,
	`{"Type":"text","Text":"intruder"}`, `{"type":"\u0074ext","text":"intruder"}`, `{"type":"text ","text":"intruder"}`,
	`[{"type":"text","text":"intruder"}]`, `"text"`, `null`, `0`, ``, `{`, `{"type":`, `{"type":["text"],"text":"intruder"}`,
	`{"type":"move","x":1e999,"y":0,"w":800,"h":600}`, `{"type":"move","x":-1e300,"y":0,"w":0,"h":-1}`, `{"type":"move"}`,
	`{"type":"button","button":99,"down":true,"x":1,"y":1,"w":8,"h":6}`, `{"type":"key","code":"../../x","down":true}`,
	`{"type":"source","id":"desktop","rights":"control"}`, `{"type":"state","state":"ended"}`, `{"type":"bye","reason":"x"}`,
	`{"type":"rights","rights":"control"}`, `{"type":"text","text":"intruder","rights":"control","device":"admin"}`,
	"{\"type\":\"text\",\"text\":\"\u0000\u001b]\"}",
}

// assault sends every message on every channel, old and new ones, as text and
// as bytes, and waits until the host has answered a ping sent behind them.
const assault = `(async () => {
	const pc = peers.at(-1), all = { ...channels };
	for (const label of ["input", "control", "pointer", "admin", ""])
		all["new " + label] = pc.createDataChannel(label);
	channels = { ...all }; // the page's own
	const opened = Object.values(all).map(c => c.readyState === "open" || new Promise(r => c.onopen = c.onclose = r));
	await Promise.race([Promise.all(opened), new Promise(r => setTimeout(r, 5000))]);
	let sent = 0;
	for (const c of Object.values(all)) {
		if (c.readyState !== "open") continue;
		for (const m of MESSAGES) {
			c.send(m);
			c.send(new TextEncoder().encode(m));
			sent += 2;
		}
		c.send(new Uint8Array([0xff, 0xfe, 0x00, 0x80]));
		c.send('{"type":"text","text":"' + "x".repeat(60000) + '"}');
	}
	return sent;
})()`

// TestViewersTwoAndOneOnlyLooks: both get pictures; the one that may only view
// cannot do anything to the host, whatever it sends.
func TestViewersTwoAndOneOnlyLooks(t *testing.T) {
	x := startX(t, desk.Screen{Width: 800, Height: 600})
	ground := openWindow(t, x, image.Rect(0, 0, 800, 600), "ground")
	h := startHost(t, desk.HostOptions{Display: x.Name(), Args: []string{"--log-level", "debug"}})
	p := newPage(t, image.Pt(800, 600))
	pair(t, p, h.PairURL)
	watch(t, p, "desktop")
	worker := &viewer{Page: p, x: x, host: h}

	q := newPage(t, image.Pt(800, 600))
	onLoad(t, q, keepChannels)
	pair(t, q, newLink(t, h, "view"))
	watch(t, q, "desktop")
	guest := &viewer{Page: q, x: x, host: h}

	for i, c := range []color.RGBA{{200, 30, 30, 255}, {30, 60, 200, 255}} {
		ground.Fill(image.Rect(100, 100, 700, 500), c)
		for _, v := range []*viewer{worker, guest} {
			v.waitShows(t, fmt.Sprintf("change %d", i), image.Rect(200, 200, 600, 400), c)
		}
	}
	t.Run("the page", func(t *testing.T) { guest.testOwnHands(t, worker, ground) })
	t.Run("raw messages", func(t *testing.T) { guest.testAssault(t, worker, ground, at(520, 410)) })
	if state := pageState(guest.Page); !strings.HasPrefix(state, "live") {
		t.Errorf("after its assault the guest's own stream is %s", state)
	}
	t.Run("a WHEP session", func(t *testing.T) { testWHEPAssault(t, worker, ground) })
}

// waitShows waits until the viewer shows a plain color in part of its picture.
func (v *viewer) waitShows(t *testing.T, what string, part image.Rectangle, c color.RGBA) {
	t.Helper()
	must(t, desk.Poll(within(t, patience), what, func() (bool, error) {
		img, err := v.VideoPicture("video")
		return err == nil && desk.Apart(desk.Mean(img, part), c) <= 6, err
	}))
}

// rest puts the pointer to rest by the one viewer that may, and forgets what
// the window heard.
func (v *viewer) rest(t *testing.T, ground *desk.Window, spot image.Point) {
	t.Helper()
	v.clickAt(t, desk.Left, spot)
	waitEvent(t, ground, "the click of the one that may", func(e desk.Event) bool { return isRelease(1)(e) && e.Root == spot })
	ground.Forget()
}

// untouched checks that nothing happened on the host since rest, and that it
// still would: the one that may does something right after.
func (v *viewer) untouched(t *testing.T, ground *desk.Window, spot image.Point) {
	t.Helper()
	if got, err := v.x.Pointer(); err != nil || got != spot {
		t.Errorf("the pointer is at %v, not %v: %v", got, spot, err)
	}
	if list := ground.Events(); len(list) > 0 {
		t.Errorf("the window heard %v", list)
	}
	if p := held(t, v.x); !p.none() {
		t.Errorf("held are keys %v, mask %#x", p.Keys, p.Mask)
	}
	v.rest(t, ground, spot.Add(at(9, 7)))
}

// testOwnHands uses the page as a person would.
func (v *viewer) testOwnHands(t *testing.T, worker *viewer, ground *desk.Window) {
	worker.rest(t, ground, at(500, 400))
	v.settlePicture(t)
	v.clickAt(t, desk.Left, at(90, 200))
	v.clickAt(t, desk.Right, at(91, 200))
	px, py := v.toPage(t, at(90, 200))
	must(t, v.Wheel(px, py, 0, 120))
	typeKeys(t, v.Page, "abC")
	must(t, v.Insert("é"))
	v.roundTrip(t)
	worker.untouched(t, ground, at(500, 400))
	if ok, err := desk.Eval[bool](v.Page, "document.querySelector('[data-testid=view-only]').checkVisibility()"); !ok || err != nil {
		t.Error("the page does not say that it may only view", err)
	}
}

// roundTrip waits until the host has dealt with what was sent before.
func (v *viewer) roundTrip(t *testing.T) {
	t.Helper()
	must(t, v.Run(`await new Promise((done, fail) => {
		const c = channels.control, t = Math.random();
		setTimeout(() => fail(new Error("no pong")), 20000);
		c.addEventListener("message", e => { const m = JSON.parse(e.data); if (m.type === "pong" && m.t === t) done(); });
		c.send(JSON.stringify({ type: "ping", t }));
	})`))
}

// testAssault sends everything that it can while the worker's pointer rests.
func (v *viewer) testAssault(t *testing.T, worker *viewer, ground *desk.Window, rest image.Point) {
	t.Helper()
	worker.rest(t, ground, rest)
	mark := logMark(v.host)
	list, err := json.Marshal(append(append([]string{}, inputMessages...), oddMessages...))
	must(t, err)
	sent, err := desk.Eval[int](v.Page, strings.Replace(assault, "MESSAGES", string(list), 1))
	must(t, err)
	if sent < 6*len(inputMessages) {
		t.Errorf("only %d messages were sent", sent)
	}
	v.roundTrip(t)
	time.Sleep(300 * time.Millisecond) // other channels than the ping's may lag behind
	worker.untouched(t, ground, rest)
	for _, kind := range []string{"move", "button", "wheel", "key", "text", "release"} {
		expectLog(t, v.host, mark, "a word on "+kind, `level=DEBUG msg="message not allowed" .*type=`+kind+` rights=view`)
	}
	expectLog(t, v.host, mark, "a word on malformed ones", `level=DEBUG msg="message refused"`)
	expectLog(t, v.host, mark, "a word on more channels", `level=DEBUG msg="data channel refused"`)
}

// whepSession opens a session by hand, as a WHEP player with a token does.
const whepSession = `(async () => {
	const pc = new RTCPeerConnection(), open = [];
	window.peers = [pc]; window.channels = {};
	for (const label of ["control", "input", "pointer"]) {
		const c = channels[label] = pc.createDataChannel(label);
		open.push(new Promise(r => c.onopen = r));
	}
	pc.addTransceiver("video", { direction: "recvonly" });
	await pc.setLocalDescription();
	await new Promise(r => pc.iceGatheringState === "complete" ? r() : pc.onicegatheringstatechange = () => pc.iceGatheringState === "complete" && r());
	const res = await fetch("/whep/desktop", { method: "POST", credentials: "omit",
		headers: { "Content-Type": "application/sdp", Authorization: "Bearer TOKEN" }, body: pc.localDescription.sdp });
	if (res.status !== 201) throw new Error(res.status + await res.text());
	await pc.setRemoteDescription({ type: "answer", sdp: await res.text() });
	await Promise.all(open);
	return res.headers.get("Location");
})()`

func testWHEPAssault(t *testing.T, worker *viewer, ground *desk.Window) {
	token := newToken(t, worker.host, "wall", "view")
	p := newPage(t, image.Pt(400, 300))
	must(t, p.Open(worker.host.URL))
	location, err := desk.Eval[string](p, strings.Replace(whepSession, "TOKEN", token, 1))
	must(t, err)
	if !strings.HasPrefix(location, "/whep/session/") {
		t.Errorf("the session is at %q", location)
	}
	(&viewer{Page: p, x: worker.x, host: worker.host}).testAssault(t, worker, ground, at(540, 420))
}
