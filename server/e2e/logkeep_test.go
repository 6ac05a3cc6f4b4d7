package e2e

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
)

// TestLogsWithoutADisk: a stream lives on when its log finds no room or may not
// be written, the host says so once, and what was written before is whole.
func TestLogsWithoutADisk(t *testing.T) {
	if err := desk.Need("unshare", "mount"); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ name, mount, warning string }{
		{"full", "size=8k", "the stream's log has a gap"},
		{"read-only", "ro", "this stream is not recorded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := t.TempDir()
			folder := filepath.Join(state, "streams")
			must(t, os.Mkdir(folder, 0o700))
			script := `mount -t tmpfs -o ` + c.mount + ` none "$0" && exec "$@"`
			prefix := []string{"unshare", "-m", "sh", "-c", script, folder}
			if _, err := desk.Run(shared.ctx, desk.Command{Name: prefix[0], Args: slices.Concat(prefix[1:], []string{"true"})}); err != nil {
				t.Skipf("no mounts of one's own here: %v", err)
			}
			h := startHost(t, desk.HostOptions{StateDir: state, Prefix: prefix})
			p := newPage(t, image.Pt(1280, 720))
			pair(t, p, h.PairURL)
			watch(t, p, "demo")
			expectLog(t, h, 0, "the host to say so", c.warning)
			for range 2 {
				must(t, p.Run("window.frames0 = nearglass.frames"))
				must(t, p.WaitFor("nearglass.state == 'live' && nearglass.frames > frames0 + 60", patience))
			}
			// A short line may still find room, and then the next gap is told as well.
			if n := strings.Count(h.Process.Output.String(), c.warning); n > 3 {
				t.Errorf("the host said %d times: %s", n, c.warning)
			}
			wholeLogs(t, filepath.Join("/proc", fmt.Sprint(h.Process.Pid()), "root", folder), c.name == "full")
		})
	}
}

// wholeLogs checks that what is in a folder of logs can be read to the end.
func wholeLogs(t *testing.T, folder string, some bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.host.jsonl"))
	must(t, err)
	if some != (len(files) > 0) {
		t.Errorf("the logs in %s: %v", folder, files)
	}
	for _, name := range files {
		f, err := os.Open(name)
		must(t, err)
		l, err := telemetry.ReadLog(f)
		_ = f.Close()
		if err != nil || l.Unread > 0 || l.Cut || len(l.Host) == 0 {
			t.Errorf("%s: %d seconds, %d lines unread, cut: %v, %v", name, len(l.Host), l.Unread, l.Cut, err)
		}
	}
}

// viewerTime is the end of the newest second in the viewer's log, ms of its time.
func viewerTime(p *desk.Page) (float64, error) {
	return desk.Eval[float64](p, "nearglass.stats().then((s) => s.viewer?.t ?? 0)")
}

// TestLogsSurviveThePage: what a page had not sent when its process ended comes
// with the next page of that browser.
func TestLogsSurviveThePage(t *testing.T) {
	h := startHost(t, desk.HostOptions{})
	p := newPage(t, image.Pt(1280, 720))
	pair(t, p, h.PairURL)
	watch(t, p, "demo")
	id, _, _ := recorded(t, h.StateDir, "a second of the viewer's", func(_, viewer telemetry.Log) bool { return len(viewer.Viewer) > 0 })
	// From here on nothing gets through, and then the process ends.
	must(t, p.Run("window.fetch = () => Promise.reject(new TypeError('no network'))"))
	const unsent = 6
	begin, err := viewerTime(p)
	must(t, err)
	must(t, desk.Poll(within(t, patience), "some seconds that are not sent", func() (bool, error) {
		now, err := viewerTime(p)
		return now > begin+(unsent+1)*1000, err
	}))
	ctx, cancel := context.WithTimeout(p.Context(), 2*time.Second)
	defer cancel()
	_, _ = chromedp.Call(ctx, page.Crash, cdp.Empty{}) // nobody is left to answer
	next, err := p.Sibling()
	must(t, err)
	t.Cleanup(next.Close)
	store := telemetry.OpenStore(filepath.Join(h.StateDir, "streams"), telemetry.Limits{})
	before, err := store.Read(id, telemetry.ViewerSide)
	must(t, err)
	must(t, next.Open(h.URL))
	must(t, desk.Poll(within(t, patience), "the rest of the log", func() (bool, error) {
		now, err := store.Read(id, telemetry.ViewerSide)
		return len(now.Viewer) >= len(before.Viewer)+unsent-2, err
	}))
	after, err := store.Read(id, telemetry.ViewerSide)
	must(t, err)
	if after.Unread != 0 || ended(after) {
		t.Errorf("%d lines unread; ended: %v", after.Unread, ended(after))
	}
	for i := 1; i < len(after.Viewer); i++ {
		if gap := after.Viewer[i].T - after.Viewer[i-1].T; gap <= 0 || gap > 3000 {
			t.Errorf("the viewer's seconds %d and %d are %.0f ms apart", i-1, i, gap)
		}
	}
}
