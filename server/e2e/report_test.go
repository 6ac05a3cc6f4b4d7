package e2e

import (
	"fmt"
	"image"
	"path/filepath"
	"testing"

	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
	"nearglass/telemetry/report"
)

// TestReportOpens: unzip and a browser open what the host makes of a stream, on a
// phone as well.
func TestReportOpens(t *testing.T) {
	if err := desk.Need("unzip"); err != nil {
		t.Skip(err)
	}
	h := startHost(t, desk.HostOptions{})
	p := newPage(t, image.Pt(1280, 720))
	pair(t, p, h.PairURL)
	watch(t, p, "demo")
	id, _, _ := recorded(t, h.StateDir, "some seconds", func(host, viewer telemetry.Log) bool { return len(host.Host) > 5 && len(viewer.Viewer) > 3 })
	dir := t.TempDir()
	file := filepath.Join(dir, "report.zip")
	_, err := h.Run(t.Context(), "logs", "bundle", id, "-o", file)
	must(t, err)
	_, err = desk.Run(t.Context(), desk.Command{Name: "unzip", Args: []string{"-q", file, "-d", dir}})
	must(t, err)
	for _, port := range []desk.Viewport{{Width: 1280, Height: 720}, {Width: 390, Height: 844, Scale: 2, Mobile: true, Touch: true}} {
		t.Run(fmt.Sprintf("%dx%d", port.Width, port.Height), func(t *testing.T) {
			p := newPage(t, image.Pt(port.Width, port.Height))
			must(t, p.Viewport(port))
			must(t, p.Open("file://"+filepath.Join(dir, report.SummaryName)))
			seen, err := desk.Eval[struct {
				Verdict       string
				Lines, Beyond int
			}](p, `({
				Verdict: document.querySelector("article h3").textContent,
				Lines: [...document.querySelectorAll("svg .line")].filter((l) => l.getTotalLength() > 1).length,
				Beyond: document.documentElement.scrollWidth - innerWidth,
			})`)
			must(t, err)
			t.Logf("%+v", seen)
			if seen.Verdict == "" || seen.Lines < 5 || seen.Beyond > 0 {
				t.Errorf("the page begins with %q, draws %d lines and is %d pixels too wide", seen.Verdict, seen.Lines, seen.Beyond)
			}
		})
	}
}
