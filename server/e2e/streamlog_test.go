package e2e

import (
	"archive/zip"
	"image"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
	"nearglass/telemetry/report"
)

// recorded waits until the logs of both ends of the newest stream say what ready
// asks for, and gives them.
func recorded(t *testing.T, stateDir string, what string, ready func(host, viewer telemetry.Log) bool) (string, telemetry.Log, telemetry.Log) {
	t.Helper()
	store := telemetry.OpenStore(filepath.Join(stateDir, "streams"), telemetry.Limits{})
	var id string
	var host, viewer telemetry.Log
	must(t, desk.Poll(within(t, patience), "the logs to have "+what, func() (bool, error) {
		list, err := store.List()
		if err != nil || len(list) == 0 {
			return false, err
		}
		for _, s := range list {
			id = s.Stream
			host, _ = store.Read(id, telemetry.HostSide)
			viewer, _ = store.Read(id, telemetry.ViewerSide)
			if ready(host, viewer) {
				return true, nil
			}
		}
		return false, nil
	}))
	return id, host, viewer
}

func ended(l telemetry.Log) bool {
	n := len(l.Events)
	return n > 0 && l.Events[n-1].Name == telemetry.EventEnd
}

// TestStreamIsRecorded: both ends record a stream, on clocks that can be brought
// together, and what they say of a picture's way adds up.
func TestStreamIsRecorded(t *testing.T) {
	h := startHost(t, desk.HostOptions{Args: []string{"--log-frames"}})
	p := newPage(t, image.Pt(1280, 720))
	pair(t, p, h.PairURL)
	watch(t, p, "demo")
	recorded(t, h.StateDir, "some seconds", func(host, viewer telemetry.Log) bool { return len(host.Host) > 6 && len(viewer.Viewer) > 6 })
	must(t, p.Run("setTimeout(() => { throw new Error('on purpose') })"))
	recorded(t, h.StateDir, "an error", func(_, viewer telemetry.Log) bool {
		return slices.ContainsFunc(viewer.Events, func(e telemetry.Event) bool {
			return e.Name == telemetry.EventError && strings.Contains(e.Reason, "on purpose")
		})
	})
	must(t, p.Run("location.hash = '#/'"))
	id, host, viewer := recorded(t, h.StateDir, "an end", func(host, viewer telemetry.Log) bool { return ended(host) && ended(viewer) })

	tl := telemetry.Join(host, viewer)
	t.Logf("stream %s: %d seconds, clocks within %.2f ms", id, len(tl.Seconds), tl.BoundMs)
	if tl.Matched != telemetry.ByPing || tl.BoundMs > 50 {
		t.Errorf("the clocks were matched by %q, within %v ms", tl.Matched, tl.BoundMs)
	}
	pairs, shown, sent, stages := 0, 0, 0, 0
	for _, s := range tl.Seconds {
		if s.Host == nil || s.Viewer == nil {
			continue
		}
		pairs++
		shown += s.Viewer.Frames.Shown
		sent += s.Host.Frames.Sent
		if d := s.Host.Shown; d.Total != nil {
			stages += d.Total.N
			sum := 0.0
			for _, stage := range []*telemetry.Spread{d.Wait, d.Convert, d.Encode, d.Handoff, d.Queue, d.Network, d.Buffer, d.Decode, d.Present} {
				sum += stage.OrZero().Mean
			}
			t.Logf("%5.1f s: total %.2f ms, stages %.2f ms, network %.2f", s.T/1000, d.Total.Mean, sum, d.Network.OrZero().Mean)
		}
	}
	if pairs < 4 || shown == 0 || sent == 0 || stages == 0 {
		t.Errorf("%d seconds of both ends, %d pictures sent, %d shown, %d with their stages", pairs, sent, shown, stages)
	}
	if len(host.Frames) == 0 || len(viewer.Frames) == 0 {
		t.Errorf("%d and %d pictures were traced", len(host.Frames), len(viewer.Frames))
	}
	names := ""
	for _, e := range tl.Events {
		names += string(e.Side) + ":" + e.Name + " "
	}
	for _, want := range []string{"host:start", "viewer:start", "host:connected", "viewer:connected", "host:path", "host:key", "host:end", "viewer:end"} {
		if !strings.Contains(names, want) {
			t.Errorf("there is no event %s: %s", want, names)
		}
	}
}

// TestReportKeepsSecrets: nothing that is secret or private is in what a person
// hands on, wherever it was seen.
func TestReportKeepsSecrets(t *testing.T) {
	x := startX(t, desk.Screen{Width: 800, Height: 600})
	startOpenbox(t, x)
	openWindow(t, x, image.Rect(420, 40, 780, 300), "SECRETTITLE of a letter")
	term := startTerminal(t, x, false)
	h := startHost(t, desk.HostOptions{Display: x.Name(), Args: []string{"--name", "SECRETHOSTNAME", "--log-level", "debug"}})
	token := newToken(t, h, "SECRETDEVICE", "view")
	v := &viewer{Page: newPage(t, image.Pt(800, 600)), x: x, host: h}
	pair(t, v.Page, h.PairURL)
	watch(t, v.Page, "desktop")
	term.activate(t, v)
	typeKeys(t, v.Page, "SECRETTYPED")
	must(t, v.Insert("SECRETINSERTED"))
	recorded(t, h.StateDir, "some seconds", func(host, viewer telemetry.Log) bool { return len(host.Host) > 3 && len(viewer.Viewer) > 3 })
	must(t, v.Run("location.hash = '#/'"))
	id, _, _ := recorded(t, h.StateDir, "an end", func(host, viewer telemetry.Log) bool { return ended(host) && ended(viewer) })

	file := filepath.Join(t.TempDir(), "report.zip")
	out, err := h.Run(t.Context(), "logs", "bundle", id, "-o", file)
	must(t, err)
	t.Log(out)
	r, err := report.Open(file)
	must(t, err)
	if r.About.Stream != id || len(r.Host.Host) == 0 || len(r.Viewer.Viewer) == 0 || r.Lines == "" {
		t.Errorf("the report lacks something: %+v", r.About)
	}
	secrets := []string{"SECRETTITLE", "SECRETHOSTNAME", "SECRETDEVICE", "SECRETTYPED", "SECRETINSERTED", token,
		h.Code, strings.ReplaceAll(h.Code, "-", ""), cookie(t, v.Page)}
	all := texts(t, file)
	whole, err := os.ReadFile(filepath.Join(h.StateDir, "host.log"))
	must(t, err)
	all["the host's whole log"] = string(whole)
	for name, text := range all {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("%s in the report has %q", name, s)
			}
		}
	}
}

// cookie is the page's token, which it cannot read itself.
func cookie(t *testing.T, p *desk.Page) string {
	t.Helper()
	list, err := chromedp.Call(p.Context(), network.GetCookies, network.GetCookiesParams{})
	must(t, err)
	for _, c := range list.Cookies {
		if len(c.Value) > 20 {
			return c.Value
		}
	}
	t.Fatal("the page has no token")
	return ""
}

// texts are the files of a report, unpacked.
func texts(t *testing.T, file string) map[string]string {
	t.Helper()
	z, err := zip.OpenReader(file)
	must(t, err)
	defer z.Close()
	all := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		must(t, err)
		data, err := io.ReadAll(r)
		must(t, err)
		must(t, r.Close())
		all[f.Name] = string(data)
	}
	for _, want := range []string{report.SummaryName, report.AboutName, report.HostLogName, report.ViewerLogName, report.LinesName} {
		if all[want] == "" {
			t.Errorf("the report has no %s", want)
		}
	}
	return all
}

// TestLogsSurviveTheHost: when a host is killed, its log is whole up to the last
// second, and the viewer's arrives once there is a host again.
func TestLogsSurviveTheHost(t *testing.T) {
	state := t.TempDir()
	h := startHost(t, desk.HostOptions{StateDir: state})
	p := newPage(t, image.Pt(1280, 720))
	pair(t, p, h.PairURL)
	watch(t, p, "demo")
	first, _, _ := recorded(t, state, "some seconds", func(host, viewer telemetry.Log) bool { return len(host.Host) > 3 && len(viewer.Viewer) > 0 })
	address, err := url.Parse(h.URL)
	must(t, err)
	h.Process.Kill()
	waitState(t, p, "reconnecting", "Reconnecting")
	restart(t, desk.HostOptions{StateDir: state, Listen: address.Host})
	waitLive(t, p)
	_, host, viewer := recorded(t, state, "the end of the first stream", func(host, viewer telemetry.Log) bool {
		return viewer.Header.Stream == first && ended(viewer)
	})
	if host.Unread != 0 || len(host.Host) < 4 || ended(host) {
		t.Errorf("the log of the killed host: %d seconds, %d lines unread, ended: %v", len(host.Host), host.Unread, ended(host))
	}
	for i := 1; i < len(viewer.Viewer); i++ {
		if gap := viewer.Viewer[i].T - viewer.Viewer[i-1].T; gap <= 0 || gap > 3000 {
			t.Errorf("the viewer's seconds %d and %d are %.0f ms apart", i-1, i, gap)
		}
	}
	if got, want := viewer.Header.Stream, first; got != want {
		t.Errorf("the log is of %s, not of %s", got, want)
	}
}

// TestReportFromThePage: the buttons in the viewer give the same file.
func TestReportFromThePage(t *testing.T) {
	h := startHost(t, desk.HostOptions{})
	p := newPage(t, image.Pt(1280, 720))
	pair(t, p, h.PairURL)
	watch(t, p, "demo")
	id, _, _ := recorded(t, h.StateDir, "some seconds", func(host, viewer telemetry.Log) bool { return len(host.Host) > 2 && len(viewer.Viewer) > 0 })
	for _, button := range []string{"btn-report", "stats-report"} {
		kind, err := desk.Eval[string](p, `new Promise((resolve) => {
			const click = HTMLAnchorElement.prototype.click;
			HTMLAnchorElement.prototype.click = function () {
				HTMLAnchorElement.prototype.click = click;
				fetch(this.href).then((r) => resolve(r.status + ' ' + r.headers.get('Content-Type') + ' ' + new URL(this.href).pathname));
			};
			document.querySelector('[data-testid=`+button+`]').click();
		})`)
		must(t, err)
		if want := "200 application/zip /api/streams/" + id + "/report"; kind != want {
			t.Errorf("%s asks for %q, not %q", button, kind, want)
		}
	}
	other := newToken(t, h, "another", "control")
	a := send(t, h, request{method: "GET", path: "/api/streams/" + id + "/report", header: map[string]string{"Authorization": "Bearer " + other}})
	a.expect(t, "another device's report", 404)
}
