package desk

import (
	"context"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb"
)

// The programs that the tests need are installed by make test; without them
// these tests fail and say so.

func limit(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func xvfb(t *testing.T, s Screen) *X {
	t.Helper()
	x, err := StartXvfb(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return x
}

func TestXvfbStartsStopsAndReturns(t *testing.T) {
	x := xvfb(t, Screen{Width: 640, Height: 480})
	name := x.Name()
	shot, err := x.Grab()
	if err != nil {
		t.Fatal(err)
	}
	if shot.Rect != image.Rect(0, 0, 640, 480) {
		t.Errorf("the screen is %v", shot.Rect)
	}
	x.Kill()
	if conn, err := xgb.NewConnDisplay(name); err == nil {
		conn.Close()
		t.Error("the killed server answers")
	}
	if err := x.Restart(); err != nil {
		t.Fatal(err)
	}
	if x.Name() != name {
		t.Errorf("came back as %s, not %s", x.Name(), name)
	}
	if _, err := x.Grab(); err != nil {
		t.Error(err)
	}
}

func TestTwoServersTakeDifferentNumbers(t *testing.T) {
	a, b := xvfb(t, Screen{Width: 64, Height: 64}), xvfb(t, Screen{Width: 64, Height: 64})
	if a.Name() == b.Name() {
		t.Errorf("both are %s", a.Name())
	}
}

func TestMonitorsAndResize(t *testing.T) {
	x := xvfb(t, Screen{Width: 1920, Height: 1080})
	listed := func() string {
		out, err := Run(limit(t), Command{Name: "xrandr", Args: []string{"--display", x.Name(), "--listmonitors"}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if err := x.SetMonitors(Monitor{"LEFT", image.Rect(0, 0, 1280, 720)}, Monitor{"RIGHT", image.Rect(1280, 100, 1920, 580)}); err != nil {
		t.Fatal(err)
	}
	if out := listed(); !strings.Contains(out, "Monitors: 2") || !strings.Contains(out, "+1280+100") {
		t.Errorf("two monitors were set, listed are:\n%s", out)
	}
	if err := x.SetMonitors(); err != nil {
		t.Fatal(err)
	}
	if out := listed(); !strings.Contains(out, "Monitors: 1") || !strings.Contains(out, "screen") {
		t.Errorf("no monitor was set, listed are:\n%s", out)
	}
	for _, size := range []image.Point{{1024, 600}, {800, 1000}, {1024, 600}, {1920, 1080}} {
		if err := x.Resize(size.X, size.Y); err != nil {
			t.Fatal(err)
		}
		shot, err := x.Grab()
		if err != nil {
			t.Fatal(err)
		}
		if shot.Rect.Size() != size {
			t.Errorf("the screen is %v, not %v", shot.Rect.Size(), size)
		}
	}
}

func TestWindowPaintsAndHears(t *testing.T) {
	x := xvfb(t, Screen{Width: 400, Height: 300})
	w, err := OpenWindow(x.Name(), image.Rect(50, 40, 250, 140), "patches")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	red := color.RGBA{200, 10, 20, 255}
	w.Fill(image.Rect(10, 20, 60, 50), red)
	ctx := limit(t)
	if err := w.Set(image.Rect(100, 50, 300, 150)); err != nil {
		t.Fatal(err)
	}
	if place, err := w.Place(); err != nil || place != image.Rect(100, 50, 300, 150) {
		t.Errorf("the window is at %v, %v", place, err)
	}
	err = Poll(ctx, "the patch", func() (bool, error) {
		shot, err := x.Grab()
		return err == nil && Mean(shot, image.Rect(110, 70, 160, 100)) == red, err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := Xdotool(ctx, x.Name(), "mousemove", "123", "77", "click", "3"); err != nil {
		t.Fatal(err)
	}
	e, err := w.Wait(ctx, func(e Event) bool { return e.Kind == ButtonPress })
	if err != nil {
		t.Fatal(err)
	}
	if e.Detail != 3 || e.At != image.Pt(23, 27) || e.Root != image.Pt(123, 77) {
		t.Errorf("heard %+v", e)
	}
	if at, err := x.Pointer(); err != nil || at != image.Pt(123, 77) {
		t.Errorf("the pointer is at %v, %v", at, err)
	}
}

func TestXtermReadsALine(t *testing.T) {
	x := xvfb(t, Screen{Width: 800, Height: 600})
	ctx := limit(t)
	if _, err := StartOpenbox(ctx, x.Name()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "line")
	term, err := StartXterm(ctx, x.Name(), "-e", "sh", "-c", `read -r line; printf %s "$line" >'`+file+`'`)
	if err != nil {
		t.Fatal(err)
	}
	if term.Window == 0 {
		t.Error("no window")
	}
	if _, err := Xdotool(ctx, x.Name(), "windowfocus", "--sync", strconv.Itoa(int(term.Window)), "type", "Hello, ({[~"); err != nil {
		t.Fatal(err)
	}
	if _, err := Xdotool(ctx, x.Name(), "key", "Return"); err != nil {
		t.Fatal(err)
	}
	<-term.Done()
	got, err := os.ReadFile(file)
	if err != nil || string(got) != "Hello, ({[~" {
		t.Errorf("the terminal read %q, %v", got, err)
	}
}

func TestProcessEndsWithItsChildren(t *testing.T) {
	p, err := Start(t.Context(), Command{Name: "sh", Args: []string{"-c", "sleep 300 & echo child $!; wait"}})
	if err != nil {
		t.Fatal(err)
	}
	match, err := p.Output.Wait(limit(t), regexp.MustCompile(`child (\d+)`))
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	p.Stop() // a second time does nothing
	if err := exec.Command("kill", "-0", match[1]).Run(); err == nil && !zombie(match[1]) {
		t.Error("the child is alive")
	}
}

// zombie says whether a process is dead and only not waited for yet.
func zombie(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestStartErrorsSayWhy(t *testing.T) {
	if _, err := Start(t.Context(), Command{Name: "no-such-program"}); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("error %v", err)
	}
	p, err := Start(t.Context(), Command{Name: "sh", Args: []string{"-c", "echo no luck; exit 3"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Output.Wait(limit(t), regexp.MustCompile("ready")); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("error %v", err)
	}
	<-p.Done()
	if p.Err() == nil || !strings.Contains(p.Err().Error(), "no luck") {
		t.Errorf("error %v", p.Err())
	}
	if err := Need("sh", "no-such-program"); err == nil || strings.Contains(err.Error(), "sh,") {
		t.Errorf("error %v", err)
	}
}
