package telemetry

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLineBytes bounds one line of a log. The longest record is a host's second
// at full motion with every optional field, about 3 KB.
const MaxLineBytes = 16 << 10

// Log is what one end wrote of one stream, in order of time.
type Log struct {
	Header Header
	Host   []HostSecond   // of a host's log
	Viewer []ViewerSecond // of a viewer's log
	Events []Event
	Frames []FrameTrace
	// Unread counts the lines that could not be understood: of a newer
	// nearglass, or damaged. A last line that was cut off is not among them.
	Unread int
	// Cut says that the last line ends in its middle, as when the writer was
	// killed.
	Cut bool
}

// ErrNoHeader means that a log does not begin with a header.
var ErrNoHeader = errors.New("the log has no header")

// ReadLog reads a log, or its parts one behind the other. Fields and kinds of
// record that it does not know are passed over, and so is a damaged line: what
// is there is worth more than none. It fails when there is no header, or when
// reading fails.
func ReadLog(r io.Reader) (Log, error) {
	var l Log
	in := bufio.NewReaderSize(r, MaxLineBytes)
	for {
		line, err := in.ReadSlice('\n')
		whole := err == nil
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.Unread++
			err = discardLine(in)
		case whole:
			l.add(line)
		case err == io.EOF && len(line) > 0:
			// A line is whole when its end says so; a cut number is a number.
			l.Cut = true
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return l, fmt.Errorf("reading a stream log: %w", err)
		}
	}
	if l.Header.Record != KindHeader {
		return l, ErrNoHeader
	}
	return l, nil
}

// discardLine passes over the rest of a line.
func discardLine(in *bufio.Reader) error {
	for {
		_, err := in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// add takes one line.
func (l *Log) add(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	var k struct {
		Record Kind `json:"record"`
	}
	if json.Unmarshal(line, &k) != nil {
		l.Unread++
		return
	}
	var err error
	switch k.Record {
	case KindHeader:
		err = l.addHeader(line)
	case KindSecond:
		err = l.addSecond(line)
	case KindEvent:
		l.Events, err = appendTo(l.Events, line)
	case KindFrame:
		l.Frames, err = appendTo(l.Frames, line)
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		l.Unread++
	}
}

// addHeader takes a log's header; the one at the head of a later part says
// nothing new.
func (l *Log) addHeader(line []byte) error {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return err
	}
	if l.Header.Record == "" {
		l.Header = h
	}
	return nil
}

func (l *Log) addSecond(line []byte) (err error) {
	if l.Header.Side == ViewerSide {
		l.Viewer, err = appendTo(l.Viewer, line)
		return err
	}
	l.Host, err = appendTo(l.Host, line)
	return err
}

func appendTo[T any](list []T, line []byte) ([]T, error) {
	var v T
	if err := json.Unmarshal(line, &v); err != nil {
		return list, err
	}
	return append(list, v), nil
}

// AppendLine appends a record as a line, its end included.
func AppendLine(to []byte, record any) ([]byte, error) {
	b, err := json.Marshal(record)
	if err != nil {
		return to, fmt.Errorf("writing a record of the stream log: %w", err)
	}
	if len(b) >= MaxLineBytes {
		return to, fmt.Errorf("writing a record of the stream log: its %d bytes are more than %d", len(b), MaxLineBytes)
	}
	return append(append(to, b...), '\n'), nil
}
