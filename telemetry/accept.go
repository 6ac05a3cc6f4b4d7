package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Errors of Accept that callers tell apart.
var (
	// ErrForeign means that the stream is none of this device's.
	ErrForeign = errors.New("this device had no such stream")
	// ErrMalformed means that the lines are no viewer's log.
	ErrMalformed = errors.New("that is no part of a viewer's log")
)

// Gap means that lines are missing between what is stored and what came.
type Gap struct{ Have int }

func (e *Gap) Error() string {
	return fmt.Sprintf("%d lines of the log are here, and the next ones are missing", e.Have)
}

// Accept appends lines of a viewer's log, of which the first is the line from,
// counted from 0. Lines that are here already are passed over, so a viewer that
// did not hear the answer sends them again. It returns how many lines are here
// afterwards. Everything in them is taken apart and written anew, with bounds on
// what it may be: what a viewer sends is not trusted.
func (s *Store) Accept(now time.Time, stream, device string, from int, lines []byte) (int, error) {
	host, err := s.Header(stream)
	if err != nil {
		return 0, err
	}
	if host.Device != device {
		return 0, ErrForeign
	}
	records, err := viewerRecords(lines, from)
	if err != nil {
		return 0, err
	}
	s.accept.Lock()
	defer s.accept.Unlock()
	w, err := s.viewerWriter(now, host, from, records)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	if from > w.Lines() {
		return 0, &Gap{w.Lines()}
	}
	for _, r := range records[min(w.Lines()-from, len(records)):] {
		if err := w.Write(r); err != nil {
			return w.Lines(), err
		}
	}
	return w.Lines(), nil
}

// viewerWriter opens the viewer's log, or begins it with the header that came.
func (s *Store) viewerWriter(now time.Time, host Header, from int, records []any) (*Writer, error) {
	w, err := s.Resume(host.Stream, ViewerSide)
	if err == nil || !errors.Is(err, ErrNoLog) {
		return w, err
	}
	if from != 0 || len(records) == 0 {
		return nil, &Gap{0}
	}
	h := *records[0].(*Header)
	h.Stream, h.Side, h.Device, h.Part, h.First = host.Stream, ViewerSide, host.Device, 0, 0
	return s.Begin(now, h)
}

// Header reads the head of a stream's log of the host. It wraps ErrNoLog when
// there is none.
func (s *Store) Header(stream string) (Header, error) {
	r, err := s.Open(stream, HostSide)
	if err != nil {
		return Header{}, err
	}
	defer r.Close()
	var h Header
	if err := json.NewDecoder(r).Decode(&h); err != nil {
		return h, fmt.Errorf("reading the header of a stream log: %w", err)
	}
	return h, nil
}

// viewerRecords takes lines apart. The line 0, and no other, is a header.
func viewerRecords(lines []byte, from int) ([]any, error) {
	if from < 0 || !utf8.Valid(lines) {
		return nil, ErrMalformed
	}
	var records []any
	for line := range bytes.Lines(lines) {
		r, err := viewerRecord(bytes.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrMalformed, from+len(records), err)
		}
		if _, isHeader := r.(*Header); isHeader != (from+len(records) == 0) {
			return nil, fmt.Errorf("%w: line %d: a header stands at the head and nowhere else", ErrMalformed, from+len(records))
		}
		records = append(records, r)
	}
	return records, nil
}

func viewerRecord(line []byte) (any, error) {
	if len(line) > MaxLineBytes {
		return nil, fmt.Errorf("it has more than %d bytes", MaxLineBytes)
	}
	var k struct {
		Record Kind `json:"record"`
	}
	if err := json.Unmarshal(line, &k); err != nil {
		return nil, err
	}
	var r any
	switch k.Record {
	case KindHeader:
		r = &Header{}
	case KindSecond:
		r = &ViewerSecond{}
	case KindEvent:
		r = &Event{}
	case KindFrame:
		r = &FrameTrace{}
	default:
		return nil, errors.New("its kind is unknown")
	}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, err
	}
	clean(reflect.ValueOf(r))
	return r, nil
}

// Bounds of what a viewer's words may be: a reason or a user agent fits.
const (
	mostTextBytes = 256
	mostEntries   = 32
)

// clean bounds every text and every map in a record.
func clean(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			clean(v.Field(i))
		}
	case reflect.String:
		v.SetString(cleanText(v.String()))
	case reflect.Map:
		cleanMap(v)
	}
}

// cleanMap keeps the first entries in no order that a sender could rely on.
func cleanMap(v reflect.Value) {
	if v.IsNil() {
		return
	}
	out := reflect.MakeMap(v.Type())
	for _, k := range v.MapKeys() {
		if out.Len() == mostEntries {
			break
		}
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(k))
		clean(value)
		key := reflect.New(v.Type().Key()).Elem()
		key.SetString(cleanText(k.String()))
		out.SetMapIndex(key, value)
	}
	v.Set(out)
}

// cleanText drops what is not printed and cuts what is too long.
func cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	if len(s) <= mostTextBytes {
		return s
	}
	cut := mostTextBytes
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
