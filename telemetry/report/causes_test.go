package report

import (
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
)

// recorded are the logs of a real stream.
func recorded(t *testing.T, name string) fakeLogs {
	t.Helper()
	logs := fakeLogs{}
	for _, side := range []telemetry.Side{telemetry.HostSide, telemetry.ViewerSide} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "faults", "real", name+"."+string(side)+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		logs[side] = string(data)
	}
	return logs
}

// The page begins with what the doctor says: the likeliest cause, what speaks for
// it and what to do, and then the others.
func TestPageBeginsWithTheCause(t *testing.T) {
	logs := recorded(t, "lossy-link-10")
	r, err := parse(about, []byte(logs[telemetry.HostSide]), []byte(logs[telemetry.ViewerSide]))
	if err != nil {
		t.Fatal(err)
	}
	found := doctor.Diagnose(r.Timeline())
	if len(found) == 0 {
		t.Fatal("nothing was found in a stream that loses a tenth of its packets")
	}
	want := []string{"The likely cause"}
	for _, f := range found {
		want = slices.Concat(want, []string{f.Title}, f.Evidence)
		if f.Because == "" {
			want = append(want, "What to do:", f.Advice)
		} else {
			want = append(want, doctor.Title(f.Because))
		}
	}
	want = append(want, "The stream")
	rest := html.UnescapeString(pageOf(t, logs))
	for _, text := range want {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			t.Fatalf("the page lacks %q where it should stand", text)
		}
		rest = after
	}
}

// Of a stream that was well the page says so, and marks no time of it.
func TestPageOfAHealthyStream(t *testing.T) {
	page := pageOf(t, recorded(t, "healthy-motion"))
	if !strings.Contains(page, "Nothing was found that made this stream bad") || strings.Contains(page, `class="when"`) {
		t.Error("the page names a cause of nothing")
	}
}

// A cause that was there for a part of the stream is marked on every chart.
func TestPageMarksWhenItWas(t *testing.T) {
	page := pageOf(t, recorded(t, "bufferbloat-600"))
	if bands, charts := strings.Count(page, `<rect class="when"`), strings.Count(page, `role="img"`); bands != charts || charts == 0 {
		t.Errorf("%d of %d charts are marked", bands, charts)
	}
}

func TestPieces(t *testing.T) {
	got := pieces("run `tailscale netcheck` there")
	want := []piece{{"run ", false}, {"tailscale netcheck", true}, {" there", false}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := pieces("plain"); !slices.Equal(got, []piece{{"plain", false}}) {
		t.Errorf("%v", got)
	}
}
