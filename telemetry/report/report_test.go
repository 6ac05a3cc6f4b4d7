package report

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"nearglass/telemetry"
)

// fakeLogs gives the same logs for every stream.
type fakeLogs map[telemetry.Side]string

func (f fakeLogs) Open(_ string, side telemetry.Side) (io.ReadCloser, error) {
	if text, ok := f[side]; ok {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	return nil, telemetry.ErrNoLog
}

func text(t testing.TB, records ...any) string {
	t.Helper()
	var b []byte
	for _, r := range records {
		var err error
		if b, err = telemetry.AppendLine(b, r); err != nil {
			t.Fatal(err)
		}
	}
	return string(b)
}

var about = About{Made: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Version: "1", Stream: "STREAM"}

// minute is a stream of a minute at both ends, with a hostile word in each text
// that could reach the page.
func minute(t testing.TB, hostile string) fakeLogs {
	spread := func(v float64) *telemetry.Spread { return &telemetry.Spread{N: 60, Mean: v, P95: 2 * v, Max: 3 * v} }
	host := []any{
		telemetry.Header{Record: telemetry.KindHeader, Schema: 1, Stream: "STREAM", Side: telemetry.HostSide, StartMs: 1.79e12,
			Version: "1" + hostile, Source: "desktop", Capabilities: map[string]string{"encoder" + hostile: hostile}, Settings: map[string]string{"fps": "60" + hostile}},
		telemetry.Event{Record: telemetry.KindEvent, T: 2, Name: telemetry.EventPath, Path: &telemetry.Path{
			Kind: "lan", Label: "local network" + hostile, Unknown: hostile, Details: map[string]string{"interface": "eth0" + hostile}}},
		telemetry.Event{Record: telemetry.KindEvent, T: 30e3, Name: "error" + hostile, Reason: hostile},
	}
	viewer := []any{telemetry.Header{Record: telemetry.KindHeader, Schema: 1, Stream: "STREAM", Side: telemetry.ViewerSide,
		StartMs: 1.79e12 + 300, Capabilities: map[string]string{"browser": hostile}}}
	for i := 1; i <= 60; i++ {
		bump := 4 * math.Max(0, math.Sin(float64(i)/8))
		way := telemetry.Delay{Wait: spread(1), Convert: spread(1.5), Encode: spread(5 + bump), Handoff: spread(.1), Queue: spread(2),
			Network: spread(12 + bump), Buffer: spread(.6), Decode: spread(3), Present: spread(8)}
		way.Total = spread(33 + 2*bump)
		host = append(host, telemetry.HostSecond{Record: telemetry.KindSecond, T: float64(i) * 1000, SpanMs: 1000, Delay: way, Shown: way, RTT: spread(24),
			QP: spread(24 + bump), Frames: telemetry.HostFrames{Captured: 57, Encoded: 56}, CPU: telemetry.CPU{Process: 24, Host: 40, Wait: bump},
			Rate:    telemetry.Rate{SentKbps: 6000 + 300*bump, TargetKbps: 8000, PathKbps: 9500, State: "steady", Reason: hostile},
			Packets: telemetry.Packets{Sent: 700, Acked: 690, Lost: i % 7, Nacks: i % 5}})
		viewer = append(viewer, telemetry.ViewerSecond{Record: telemetry.KindSecond, T: float64(i)*1000 - 250, SpanMs: 1000, Delay: way,
			Clock: &telemetry.Clock{OffsetMs: 250, BoundMs: .8}, Frames: telemetry.ViewerFrames{Shown: 56}, State: "live"})
	}
	host = append(host, telemetry.Event{Record: telemetry.KindEvent, T: 60e3, Name: telemetry.EventEnd, Reason: "the viewer left" + hostile})
	return fakeLogs{telemetry.HostSide: text(t, host...), telemetry.ViewerSide: text(t, viewer...)}
}

func TestReportComesBack(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, minute(t, ""), about, []byte("a line\n")); err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if r.About.Stream != about.Stream || len(r.Host.Host) != 60 || len(r.Viewer.Viewer) != 60 || r.Lines != "a line\n" {
		t.Errorf("%+v", r.About)
	}
	tl := r.Timeline()
	if tl.Matched != telemetry.ByPing || tl.BoundMs != .8 || len(tl.Seconds) != 60 {
		t.Errorf("%d seconds, matched by %s", len(tl.Seconds), tl.Matched)
	}
}

// The page needs nothing from anywhere and runs nothing, whatever the logs say.
func TestPageIsPlain(t *testing.T) {
	const hostile = `</title><script src="https://evil.example/x.js">"'><img src=x onerror=alert(1)>`
	page := pageOf(t, minute(t, hostile))
	if bad := regexp.MustCompile(`(?i)<(script|img|link|iframe|object|embed|form|base)[\s>]|<[^>]*\son\w+=|<[^>]*(src|href)=`).FindString(page); bad != "" {
		t.Errorf("the page has %q", bad)
	}
	for _, want := range []string{"default-src 'none'", "to within 0.8 ms", "local network", "<svg", "0:30.0"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Whatever is missing, there is a page that says so.
func TestPageOfWhatIsThere(t *testing.T) {
	logs := minute(t, "")
	delete(logs, telemetry.ViewerSide)
	if page := pageOf(t, logs); !strings.Contains(page, "its log is missing") && !strings.Contains(page, "Its log is missing") {
		t.Error("the page does not say that the viewer's log is missing")
	}
	header := telemetry.Header{Record: telemetry.KindHeader, Side: telemetry.HostSide}
	logs[telemetry.HostSide] = text(t, header) + `{"record":"second","t":1`
	if page := pageOf(t, logs); !strings.Contains(page, "stopped hard") {
		t.Error("the page does not say that the log was cut")
	}
	if err := Write(io.Discard, fakeLogs{}, about, nil); !errors.Is(err, telemetry.ErrNoLog) {
		t.Errorf("no log: %v", err)
	}
}

func pageOf(t testing.TB, logs fakeLogs) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, logs, about, nil); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	page, err := extract(z, SummaryName)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, minute(f, ""), about, []byte("x")); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if _, err := r.page(); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzPage draws whatever a log can hold.
func FuzzPage(f *testing.F) {
	logs := minute(f, "<")
	f.Add([]byte(logs[telemetry.HostSide]), []byte(logs[telemetry.ViewerSide]))
	f.Add([]byte(`{"record":"header"}`+"\n"+`{"record":"second","t":-1e308,"rate":{"sentKbps":1e308}}`+"\n"+`{"record":"second","t":1e308}`+"\n"), []byte(nil))
	f.Fuzz(func(t *testing.T, host, viewer []byte) {
		r, err := parse(about, host, viewer)
		if err != nil {
			return
		}
		page, err := r.page()
		if err != nil {
			t.Fatal(err)
		}
		if bad := regexp.MustCompile(`<(path|rect)[^>]*(NaN|Inf)`).Find(page); bad != nil {
			t.Fatalf("the page draws %s", bad)
		}
	})
}
