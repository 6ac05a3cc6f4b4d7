package telemetry

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	stream1 = "AAAAAAAAAAAAAAAAAAAAAAAAA2"
	stream2 = "BBBBBBBBBBBBBBBBBBBBBBBBB3"
	stream3 = "CCCCCCCCCCCCCCCCCCCCCCCCC4"
)

var day0 = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func begin(t testing.TB, s *Store, now time.Time, stream string) *Writer {
	t.Helper()
	w, err := s.Begin(now, Header{Stream: stream, Side: HostSide, Device: "d1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func write(t testing.TB, w *Writer, records ...any) {
	t.Helper()
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoreGivesBackWhatWasWritten(t *testing.T) {
	s := OpenStore(filepath.Join(t.TempDir(), "[odd] name"), Limits{})
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("an empty folder: %v, %v", list, err)
	}
	w := begin(t, s, day0, stream1)
	write(t, w, HostSecond{Record: KindSecond, T: 1000}, Event{Record: KindEvent, T: 1200, Name: EventEnd})
	// It can be read while it is being written.
	l, err := s.Read(stream1, HostSide)
	if err != nil || len(l.Host) != 1 || len(l.Events) != 1 || l.Header.Device != "d1" || l.Header.Schema != SchemaVersion {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := s.Read(stream1, ViewerSide); !errors.Is(err, ErrNoLog) {
		t.Errorf("the viewer's log: %v, want %v", err, ErrNoLog)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	if err := w.Write(Event{}); !errors.Is(err, errClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// No id leads out of the folder, or to a file that is not a log.
func TestStoreTakesNoOtherNames(t *testing.T) {
	s := OpenStore(t.TempDir(), Limits{})
	for _, id := range []string{"", "..", "../devices.json", "a", stream1 + "/", strings.ToLower(stream1), stream1 + "\x00", "*"} {
		if _, err := s.Begin(day0, Header{Stream: id, Side: HostSide}); err == nil {
			t.Errorf("%q: begun", id)
		}
		if _, err := s.Read(id, HostSide); !errors.Is(err, ErrNoLog) {
			t.Errorf("%q: %v, want %v", id, err, ErrNoLog)
		}
		if _, err := s.Accept(day0, id, "d1", 0, nil); !errors.Is(err, ErrNoLog) {
			t.Errorf("%q: %v, want %v", id, err, ErrNoLog)
		}
	}
}

// A day of full motion stays within the bounds, and the first and the last
// hour of it are still there.
func TestLogsAreBounded(t *testing.T) {
	l := Limits{PartBytes: 20 << 10, Parts: 4, FolderBytes: 100 << 10}
	s := OpenStore(t.TempDir(), l)
	w := begin(t, s, day0, stream1)
	const seconds = 24 * 3600
	for i := 1; i <= seconds; i += 60 {
		write(t, w, HostSecond{Record: KindSecond, T: float64(i) * 1000, Rate: Rate{State: "steady", Reason: "what the path carries"}})
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].SizeBytes > int64(l.Parts)*l.PartBytes {
		t.Fatalf("%+v, %v", list, err)
	}
	log, err := s.Read(stream1, HostSide)
	if err != nil || log.Unread != 0 || log.Host[0].T != 1000 || log.Host[len(log.Host)-1].T < (seconds-60)*1000 {
		t.Errorf("%d seconds, %d unread, %v", len(log.Host), log.Unread, err)
	}
	if got, want := w.Lines(), 1+seconds/60; got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
	w.Close()
	again, err := s.Resume(stream1, HostSide)
	if err != nil || again.Lines() != w.Lines() {
		t.Fatalf("resumed: %v", err)
	}
	again.Close()
}

func TestOldLogsGoFirst(t *testing.T) {
	dir := t.TempDir()
	s := OpenStore(dir, Limits{FolderBytes: 4500, Age: 48 * time.Hour})
	filler := Event{Record: KindEvent, Reason: strings.Repeat("x", 1500)}
	old := begin(t, s, day0, stream1)
	write(t, old, filler)
	old.Close()
	age(t, dir, stream1, day0)
	running := begin(t, s, day0, stream2)
	write(t, running, filler)
	age(t, dir, stream2, day0.Add(-time.Hour))
	begin(t, s, day0.Add(time.Hour), stream3).Close()
	if got := streams(t, s); !strings.Contains(got, stream1) || !strings.Contains(got, stream2) {
		t.Errorf("within the bounds: %s", got)
	}
	write(t, running, filler)
	begin(t, s, day0.Add(time.Hour), strings.Replace(stream3, "4", "5", 1)).Close()
	if got := streams(t, s); strings.Contains(got, stream1) || !strings.Contains(got, stream2) {
		t.Errorf("too much: %s; the oldest goes, what is being written stays", got)
	}
	running.Close()
	age(t, dir, stream2, day0)
	begin(t, s, day0.Add(72*time.Hour), strings.Replace(stream3, "4", "6", 1)).Close()
	if got := streams(t, s); strings.Contains(got, stream2) {
		t.Errorf("too old: %s", got)
	}
}

func age(t *testing.T, dir, stream string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(filepath.Join(dir, stream+".host.jsonl"), at, at); err != nil {
		t.Fatal(err)
	}
}

func streams(t *testing.T, s *Store) string {
	t.Helper()
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, st := range list {
		ids = append(ids, st.Stream)
	}
	return strings.Join(ids, " ")
}

// A log whose writer was killed in the middle of a line goes on whole.
func TestResumeMendsACutLine(t *testing.T) {
	dir := t.TempDir()
	s := OpenStore(dir, Limits{})
	w := begin(t, s, day0, stream1)
	write(t, w, Event{Record: KindEvent, T: 1})
	w.Close()
	name := filepath.Join(dir, stream1+".host.jsonl")
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, `{"record":"ev`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if w, err = s.Resume(stream1, HostSide); err != nil || w.Lines() != 2 {
		t.Fatalf("%v", err)
	}
	write(t, w, Event{Record: KindEvent, T: 2})
	w.Close()
	l, err := s.Read(stream1, HostSide)
	if err != nil || l.Unread != 0 || l.Cut || len(l.Events) != 2 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := OpenStore(filepath.Join(blocked, "streams"), Limits{})
	if _, err := s.Begin(day0, Header{Stream: stream1, Side: HostSide}); err == nil {
		t.Error("begun where nothing can be written")
	}
}

// A disk that is full costs the lines that found no room, and leaves no part of
// one. This is Linux's device that is always full.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("there is no disk that is always full here: %v", err)
	}
	defer full.Close()
	s := OpenStore(t.TempDir(), Limits{})
	w := begin(t, s, day0, stream1)
	real := w.file
	w.file = full
	if err := w.Write(Event{Record: KindEvent, T: 1}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, want %v", err, syscall.ENOSPC)
	}
	w.file = real
	write(t, w, Event{Record: KindEvent, T: 2})
	l, err := s.Read(stream1, HostSide)
	if err != nil || len(l.Events) != 1 || l.Events[0].T != 2 || w.Lines() != 2 {
		t.Errorf("%+v, %v, %d lines", l.Events, err, w.Lines())
	}
}

func BenchmarkWriteSecond(b *testing.B) {
	s := OpenStore(b.TempDir(), Limits{})
	w := begin(b, s, day0, stream1)
	spread := &Spread{60, 1.25, 2.5, 10}
	second := HostSecond{Record: KindSecond, T: 1000, SpanMs: 1000, WallMs: 1e12, QP: spread, RTT: spread,
		Delay: Delay{Wait: spread, Convert: spread, Encode: spread, Handoff: spread, Queue: spread},
		Rate:  Rate{State: "steady", Reason: "what the path carries"}}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(second); err != nil {
			b.Fatal(err)
		}
	}
}
