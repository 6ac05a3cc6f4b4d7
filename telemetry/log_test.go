package telemetry

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// lines writes records as a log.
func lines(t testing.TB, records ...any) string {
	t.Helper()
	var b []byte
	for _, r := range records {
		var err error
		if b, err = AppendLine(b, r); err != nil {
			t.Fatal(err)
		}
	}
	return string(b)
}

var (
	hostHeader   = Header{Record: KindHeader, Schema: SchemaVersion, Stream: "S", Side: HostSide, StartMs: 1e12}
	viewerHeader = Header{Record: KindHeader, Schema: SchemaVersion, Stream: "S", Side: ViewerSide, StartMs: 1e12 + 500}
)

func TestReadLog(t *testing.T) {
	second := HostSecond{Record: KindSecond, T: 1000, SpanMs: 1000, Keys: Counts{KeyStart: 1}, QP: &Spread{N: 1, Mean: 20, P95: 20, Max: 20}}
	event := Event{Record: KindEvent, T: 5, Name: EventPath, Path: &Path{Kind: "lan", Label: "local network"}}
	frame := FrameTrace{Record: KindFrame, T: 7, RTP: 630}
	good := lines(t, hostHeader, event, frame, second)
	cases := []struct {
		name, text string
		unread     int
		cut        bool
	}{
		{"whole", good, 0, false},
		{"a field of a newer version", strings.Replace(good, `"t":1000`, `"new":{"a":[1]},"t":1000`, 1), 0, false},
		{"a kind of a newer version", good + `{"record":"aura","t":1}` + "\n", 1, false},
		{"an empty line", good + "\n\n", 0, false},
		{"a damaged line", good + "{\"record\":\"second\",\"t\":\"x\"}\n\x00\x00\n", 2, false},
		{"a line that is too long", good + strings.Repeat("x", 3*MaxLineBytes) + "\n", 1, false},
		{"the header of a second part", good + lines(t, hostHeader), 0, false},
		{"a last line that was cut", good + `{"record":"second","t":20`, 0, true},
		{"a last line that was cut where it could end", good + `{"record":"second","t":20}`, 0, true},
	}
	for _, c := range cases {
		l, err := ReadLog(strings.NewReader(c.text))
		if err != nil || l.Unread != c.unread || l.Cut != c.cut {
			t.Errorf("%s: unread %d, cut %v, %v", c.name, l.Unread, l.Cut, err)
		}
		if !reflect.DeepEqual(l.Host, []HostSecond{second}) || !reflect.DeepEqual(l.Events, []Event{event}) || !reflect.DeepEqual(l.Frames, []FrameTrace{frame}) {
			t.Errorf("%s: %+v", c.name, l)
		}
	}
	for _, text := range []string{"", "x\n", lines(t, second)} {
		if _, err := ReadLog(strings.NewReader(text)); !errors.Is(err, ErrNoHeader) {
			t.Errorf("%q: %v, want %v", text, err, ErrNoHeader)
		}
	}
}

func TestAppendLineRefusesWhatCannotBeRead(t *testing.T) {
	for _, bad := range []any{Event{T: math.NaN()}, Event{Reason: strings.Repeat("x", MaxLineBytes)}} {
		if b, err := AppendLine([]byte("kept\n"), bad); err == nil || string(b) != "kept\n" {
			t.Errorf("wrote %d bytes, %v", len(b), err)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(lines(f, hostHeader, HostSecond{Record: KindSecond}, Event{Record: KindEvent})))
	f.Add([]byte(lines(f, viewerHeader, ViewerSecond{Record: KindSecond, Clock: &Clock{OffsetMs: 1, BoundMs: 1}}, FrameTrace{Record: KindFrame})))
	f.Add([]byte("{\"record\":\"header\"}\n{\"record\":\"second\",\"t\":1e308}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ReadLog(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, tl := range []Timeline{Join(l, Log{}), Join(Log{}, l), Join(l, l)} {
			if len(tl.Seconds) > 2*(len(l.Host)+len(l.Viewer)) || len(tl.Events) > 2*len(l.Events) {
				t.Fatalf("%d seconds and %d events of %+v", len(tl.Seconds), len(tl.Events), l)
			}
		}
	})
}

func TestSum(t *testing.T) {
	var s Sum
	if s.Take() != nil {
		t.Error("nothing has a spread")
	}
	for i := range 100 {
		s.Add(float64(100 - i))
	}
	if got, want := *s.Take(), (Spread{100, 50.5, 95, 100}); got != want {
		t.Errorf("1 to 100: %+v, want %+v", got, want)
	}
	s.Add(1.23456)
	if got, want := *s.Take(), (Spread{1, 1.23, 1.23, 1.23}); got != want {
		t.Errorf("one value after another second: %+v, want %+v", got, want)
	}
}
