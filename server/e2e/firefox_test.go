package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
)

// TestFirefoxSmoke: Firefox shows the pictures, or, where it has no H.264
// decoder, its page says so plainly and for good.
func TestFirefoxSmoke(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	startClock(t, x)
	h := startHost(t, desk.HostOptions{Display: x.Name()})
	f, err := desk.StartFirefox(shared.ctx, nil)
	must(t, err)
	t.Cleanup(f.Close)
	must(t, f.Open(h.PairURL))
	waitFirefox(t, f, "the list of sources", func(s firefoxState) bool { return s.State == "sources" })
	testLeftovers(t, f, h)
	_, err = desk.EvalFirefox[bool](f, "(location.hash = '#/watch/desktop', true)")
	must(t, err)
	offers, err := desk.EvalFirefox[bool](f, `(async () => {
		const pc = new RTCPeerConnection();
		pc.addTransceiver("video", { direction: "recvonly" });
		const { sdp } = await pc.createOffer();
		pc.close();
		return /H264/i.test(sdp);
	})()`)
	must(t, err)
	if !offers {
		t.Log("this Firefox offers no H.264")
		testSaysNoH264(t, f)
		return
	}
	s := waitFirefox(t, f, "pictures", func(s firefoxState) bool { return s.State == "live" && s.Frames > 2 })
	if s.Width != 640 || s.Height != 480 {
		t.Errorf("the picture is %d by %d", s.Width, s.Height)
	}
	waitFirefoxStats(t, f, "stat-limit", "stat-rate", "stat-delay", "stat-encode", "stat-decode")
	recorded(t, h.StateDir, "Firefox's side", func(host, viewer telemetry.Log) bool {
		return strings.Contains(viewer.Header.Capabilities["browser"], "Firefox") && len(viewer.Viewer) > 3 && len(host.Host) > 3
	})
}

// waitFirefoxStats opens the stats and waits until these parts of them say
// something.
func waitFirefoxStats(t *testing.T, f *desk.Firefox, parts ...string) {
	t.Helper()
	_, err := desk.EvalFirefox[bool](f, "(document.querySelector('[data-testid=btn-stats]').click(), true)")
	must(t, err)
	list, err := json.Marshal(parts)
	must(t, err)
	must(t, desk.Poll(within(t, patience), "the stats in Firefox", func() (bool, error) {
		return desk.EvalFirefox[bool](f, `(() => {
			const overlay = document.querySelector("[data-testid=stats-overlay]");
			return !overlay.hidden && `+string(list)+`.every((part) => /\w/.test(overlay.querySelector("[data-testid=" + part + "]")?.textContent ?? ""));
		})()`)
	}))
}

// testLeftovers: lines of a log that Firefox keeps from an earlier page reach the
// host when a page is open again.
func testLeftovers(t *testing.T, f *desk.Firefox, h *desk.Host) {
	t.Helper()
	const stream = "FIREFOXAAAAAAAAAAAAAAAAAAA"
	store := telemetry.OpenStore(filepath.Join(h.StateDir, "streams"), telemetry.Limits{})
	w, err := store.Begin(time.Now(), telemetry.Header{Stream: stream, Side: telemetry.HostSide, Device: newestDevice(t, h).ID})
	must(t, err)
	must(t, w.Close())
	var lines []string
	for _, r := range []any{
		telemetry.Header{Record: telemetry.KindHeader, Schema: telemetry.SchemaVersion, Side: telemetry.ViewerSide, Version: "kept"},
		telemetry.ViewerSecond{Record: telemetry.KindSecond, T: 1000}, telemetry.ViewerSecond{Record: telemetry.KindSecond, T: 2000},
	} {
		line, err := telemetry.AppendLine(nil, r)
		must(t, err)
		lines = append(lines, string(line))
	}
	kept, err := json.Marshal(lines)
	must(t, err)
	_, err = desk.EvalFirefox[bool](f, `new Promise((done, failed) => {
		const open = indexedDB.open("nearglass", 1);
		open.onerror = failed;
		open.onsuccess = () => {
			const t = open.result.transaction("lines", "readwrite");
			`+string(kept)+`.forEach((text, n) => t.objectStore("lines").put({ stream: "`+stream+`", n, text }));
			t.oncomplete = () => done(true);
			t.onerror = failed;
		};
	})`)
	must(t, err)
	must(t, f.Open(h.URL))
	waitFirefox(t, f, "the list of sources again", func(s firefoxState) bool { return s.State == "sources" })
	must(t, desk.Poll(within(t, patience), "the kept lines to come", func() (bool, error) {
		l, err := store.Read(stream, telemetry.ViewerSide)
		return err == nil && len(l.Viewer) == 2 && l.Header.Version == "kept", nil
	}))
}

func testSaysNoH264(t *testing.T, f *desk.Firefox) {
	t.Helper()
	s := waitFirefox(t, f, "the page to say so", func(s firefoxState) bool { return s.State == "failed" })
	t.Logf("the page says: %s", s.Words)
	waitFirefoxStats(t, f, "stat-limit", "stats-copy")
	for _, word := range []string{"This browser offers no H.264", "OpenH264 plugin"} {
		if !strings.Contains(s.Words, word) {
			t.Errorf("the page does not speak of %s: %s", word, s.Words)
		}
	}
}

// firefoxState is what the page shows.
type firefoxState struct {
	State, Words  string
	Frames        int
	Width, Height int
}

func waitFirefox(t *testing.T, f *desk.Firefox, what string, match func(firefoxState) bool) firefoxState {
	t.Helper()
	var last firefoxState
	err := desk.Poll(within(t, 2*patience), what, func() (ok bool, err error) {
		last, err = desk.EvalFirefox[firefoxState](f, `(() => {
			const n = window.nearglass, v = document.querySelector("video"), w = document.querySelector("[data-testid=verdict]");
			return { State: n?.state ?? "", Frames: n?.frames ?? 0, Words: w && !w.hidden ? w.innerText.replace(/\s+/g, " ") : "",
				Width: v?.videoWidth ?? 0, Height: v?.videoHeight ?? 0 };
		})()`)
		return err == nil && match(last), err
	})
	if err != nil {
		t.Fatalf("%v; the page is %+v", err, last)
	}
	return last
}
