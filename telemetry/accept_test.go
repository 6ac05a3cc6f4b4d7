package telemetry

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func viewerLines(t testing.TB, from, to int) []byte {
	t.Helper()
	var text string
	for i := from; i < to; i++ {
		if i == 0 {
			text += lines(t, Header{Record: KindHeader, Stream: "claimed", Side: HostSide, Device: "claimed", Version: "v"})
			continue
		}
		text += lines(t, ViewerSecond{Record: KindSecond, T: float64(i)})
	}
	return []byte(text)
}

// However often lines are sent again, each is stored once and in order.
func TestAcceptStoresEachLineOnce(t *testing.T) {
	s := OpenStore(t.TempDir(), Limits{PartBytes: 2000, Parts: 100})
	begin(t, s, day0, stream1)
	steps := []struct{ from, to, have, gap int }{
		{3, 5, 0, 0}, // before the beginning
		{0, 3, 3, -1},
		{0, 3, 3, -1},
		{1, 5, 5, -1},
		{7, 9, 0, 5},
		{5, 40, 40, -1},
		{2, 39, 40, -1},
		{39, 60, 60, -1},
	}
	for _, c := range steps {
		have, err := s.Accept(day0, stream1, "d1", c.from, viewerLines(t, c.from, c.to))
		var gap *Gap
		if c.gap >= 0 {
			if !errors.As(err, &gap) || gap.Have != c.gap {
				t.Errorf("%+v: %d, %v", c, have, err)
			}
			continue
		}
		if err != nil || have != c.have {
			t.Errorf("%+v: %d, %v", c, have, err)
		}
	}
	l, err := s.Read(stream1, ViewerSide)
	if err != nil || l.Unread != 0 || len(l.Viewer) != 59 {
		t.Fatalf("%d seconds, %d unread, %v", len(l.Viewer), l.Unread, err)
	}
	for i, v := range l.Viewer {
		if v.T != float64(i+1) {
			t.Fatalf("second %d is of %v", i, v.T)
		}
	}
	if h := l.Header; h.Stream != stream1 || h.Side != ViewerSide || h.Device != "d1" {
		t.Errorf("the header is as the viewer claims it: %+v", h)
	}
}

func TestAcceptRefuses(t *testing.T) {
	s := OpenStore(t.TempDir(), Limits{})
	begin(t, s, day0, stream1)
	if _, err := s.Accept(day0, stream1, "d2", 0, viewerLines(t, 0, 2)); !errors.Is(err, ErrForeign) {
		t.Errorf("another device's: %v", err)
	}
	if _, err := s.Accept(day0, stream2, "d1", 0, viewerLines(t, 0, 2)); !errors.Is(err, ErrNoLog) {
		t.Errorf("no stream: %v", err)
	}
	header := string(viewerLines(t, 0, 1))
	for _, bad := range []string{"x", header + "null", header + `{"record":"aura"}`, header + header, `{"record":"second"}`,
		header + "{\"record\":\"event\",\"reason\":\"\xff\"}", header + `{"record":"second","t":"1"}`, header + `{"record":"second","t":1e999}`} {
		if _, err := s.Accept(day0, stream1, "d1", 0, []byte(bad)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, want %v", bad, err, ErrMalformed)
		}
	}
	if _, err := s.Accept(day0, stream1, "d1", -1, viewerLines(t, 0, 1)); !errors.Is(err, ErrMalformed) {
		t.Errorf("from -1: %v", err)
	}
	if _, err := s.Read(stream1, ViewerSide); !errors.Is(err, ErrNoLog) {
		t.Errorf("something was stored: %v", err)
	}
}

// What a viewer sends is bounded and plain, whatever it claims to be, and can be
// read back.
func FuzzAccept(f *testing.F) {
	f.Add(0, viewerLines(f, 0, 3))
	f.Add(0, []byte(`{"record":"header","capabilities":{"a\u0000":"`+strings.Repeat("é", 200)+`"}}`+"\n"+`{"record":"event","path":{"details":{"x":"y"}}}`))
	f.Add(5, []byte(`{"record":"frame","rtp":4294967295}`))
	f.Fuzz(func(t *testing.T, from int, data []byte) {
		records, err := viewerRecords(data, from)
		if err != nil {
			return
		}
		written := lines(t, viewerHeader)
		for _, r := range records {
			if h, ok := r.(*Header); ok {
				bounded(t, *h)
				continue
			}
			line, err := AppendLine(nil, r)
			if err != nil {
				return // too long for a line: it is refused as a whole
			}
			written += string(line)
		}
		l, err := ReadLog(strings.NewReader(written))
		if err != nil || l.Unread != 0 || l.Cut || strings.Count(written, "\n") != 1+len(l.Viewer)+len(l.Events)+len(l.Frames) {
			t.Fatalf("%d records were taken, and %+v is read, %v", len(records), l, err)
		}
	})
}

func bounded(t *testing.T, h Header) {
	t.Helper()
	for _, text := range []string{h.Version, h.Source} {
		if len(text) > mostTextBytes || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\n\x1b") {
			t.Fatalf("%q was taken", text)
		}
	}
	if len(h.Capabilities) > mostEntries {
		t.Fatalf("%d capabilities", len(h.Capabilities))
	}
}
