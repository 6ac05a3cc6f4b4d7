package lab

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
)

// Recording is what a real stream sent and what its viewer reported: the input
// of a controller, to be given to others that come later. Times count from its
// begin, sequence numbers from 1.
type Recording struct {
	Link      rate.Rate // what the link carried; 0: no bottleneck
	Sent      []cc.Sent // in order of sequence; At counts from the zero time
	Feedbacks []Report  // in order of At
}

// Report is one feedback.
type Report struct {
	At   time.Duration // when it came in
	Acks []cc.Ack
}

// ackStep is the resolution in which arrivals are written: transport-cc's own.
const ackStep = 250 * time.Microsecond

// The text of a recording has a line for the link, one for each row of packets
// that left together of one picture, and one for each feedback:
//
//	link BITS
//	s MICROSECONDS FRAME FLAGS SIZE[*COUNT]...
//	f MICROSECONDS FIRST ARRIVAL...
//
// MICROSECONDS count from the line before. FLAGS are "-" or r for a resend, l
// for a last packet of a picture, and pN for the train N. FIRST is a sequence
// number, and an ARRIVAL the steps since the last one, *COUNT for several, x for
// a lost packet, and @SEQUENCE before a number that does not follow.

// Write writes the recording as text.
func (r *Recording) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "link %d\n", r.Link)
	var at, arrived time.Duration
	sent := r.Sent
	for _, f := range r.Feedbacks {
		n, _ := slices.BinarySearchFunc(sent, f.At, func(s cc.Sent, at time.Duration) int { return cmp.Compare(sentAt(s), at) })
		at = writeSent(b, at, sent[:n])
		sent = sent[n:]
		fmt.Fprintf(b, "f %d", (f.At - at).Microseconds())
		at = f.At.Truncate(time.Microsecond)
		arrived = writeAcks(b, arrived, f.Acks)
	}
	writeSent(b, at, sent)
	return b.Flush()
}

// sentAt is when a packet of a recording left.
func sentAt(s cc.Sent) time.Duration { return s.At.Sub(time.Time{}) }

// flags describe what a packet is besides its picture.
func flags(s cc.Sent) string {
	text := ""
	if s.Resend {
		text += "r"
	}
	if s.Last {
		text += "l"
	}
	if s.Probe != 0 {
		text += fmt.Sprintf("p%d", s.Probe)
	}
	return cmp.Or(text, "-")
}

// writeSent writes packets, those that are alike in one line.
func writeSent(b *bufio.Writer, at time.Duration, sent []cc.Sent) time.Duration {
	alike := func(a, b cc.Sent) bool {
		return a.At.Equal(b.At) && a.Frame == b.Frame && a.Resend == b.Resend && a.Last == b.Last && a.Probe == b.Probe
	}
	for len(sent) > 0 {
		n := 1
		for n < len(sent) && alike(sent[0], sent[n]) {
			n++
		}
		t := sentAt(sent[0]).Truncate(time.Microsecond)
		fmt.Fprintf(b, "s %d %d %s", (t - at).Microseconds(), sent[0].Frame, flags(sent[0]))
		at = t
		for row := sent[:n]; len(row) > 0; {
			same := 1
			for same < len(row) && row[same].SizeBytes == row[0].SizeBytes {
				same++
			}
			b.WriteString(" " + times(strconv.Itoa(row[0].SizeBytes), same))
			row = row[same:]
		}
		b.WriteByte('\n')
		sent = sent[n:]
	}
	return at
}

// times writes a value that comes several times.
func times(value string, count int) string {
	if count == 1 {
		return value
	}
	return value + "*" + strconv.Itoa(count)
}

// writeAcks writes one feedback and gives the arrival that the next counts from.
func writeAcks(b *bufio.Writer, arrived time.Duration, acks []cc.Ack) time.Duration {
	next := uint64(0)
	last, count := "", 0
	put := func(text string) {
		if text != last && last != "" {
			b.WriteString(" " + times(last, count))
			count = 0
		}
		last = text
		count++
	}
	for i, a := range acks {
		switch {
		case i == 0:
			fmt.Fprintf(b, " %d", a.Sequence)
		case a.Sequence != next:
			put(fmt.Sprintf("@%d", a.Sequence))
		}
		next = a.Sequence + 1
		if a.Lost {
			put("x")
			continue
		}
		t := a.Arrived.Truncate(ackStep)
		put(strconv.FormatInt(int64((t-arrived)/ackStep), 10))
		arrived = t
	}
	put("")
	b.WriteByte('\n')
	return arrived
}

// recordingReader reads the text of a recording.
type recordingReader struct {
	r        Recording
	at       time.Duration
	arrived  time.Duration
	sequence uint64
}

// ReadRecording reads what Write has written. Lines that begin with # are left
// out.
func ReadRecording(text string) (*Recording, error) {
	var r recordingReader
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := r.line(strings.Fields(line)); err != nil {
			return nil, fmt.Errorf("line %d of a recording: %w", n, err)
		}
	}
	return &r.r, nil
}

var errRecording = errors.New("it is not understood")

func (r *recordingReader) line(words []string) error {
	if len(words) < 2 {
		return errRecording
	}
	number, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return err
	}
	if words[0] != "link" {
		r.at += time.Duration(number) * time.Microsecond
	}
	switch words[0] {
	case "link":
		r.r.Link = rate.Rate(number)
		return nil
	case "s":
		return r.sent(words[2:])
	case "f":
		return r.feedback(words[2:])
	}
	return errRecording
}

// sent reads a row of packets.
func (r *recordingReader) sent(words []string) error {
	if len(words) < 3 {
		return errRecording
	}
	frame, err := strconv.ParseUint(words[0], 10, 64)
	if err != nil {
		return err
	}
	s := cc.Sent{At: time.Time{}.Add(r.at), Frame: frame}
	before, train, ok := strings.Cut(words[1], "p")
	s.Resend, s.Last = strings.Contains(before, "r"), strings.Contains(before, "l")
	if ok {
		id, err := strconv.ParseUint(train, 10, 32)
		if err != nil {
			return err
		}
		s.Probe = uint32(id)
	}
	for _, w := range words[2:] {
		value, count, err := severalTimes(w)
		if err != nil {
			return err
		}
		if s.SizeBytes, err = strconv.Atoi(value); err != nil {
			return err
		}
		for range count {
			r.sequence++
			s.Sequence = r.sequence
			r.r.Sent = append(r.r.Sent, s)
		}
	}
	return nil
}

// feedback reads one report.
func (r *recordingReader) feedback(words []string) error {
	f := Report{At: r.at}
	next := uint64(0)
	for i, w := range words {
		if sequence, jump := strings.CutPrefix(w, "@"); i == 0 || jump {
			var err error
			if next, err = strconv.ParseUint(sequence, 10, 64); err != nil {
				return err
			}
			continue
		}
		value, count, err := severalTimes(w)
		if err != nil {
			return err
		}
		steps, err := strconv.ParseInt(value, 10, 64)
		if err != nil && value != "x" {
			return err
		}
		for range count {
			a := cc.Ack{Sequence: next, Lost: value == "x"}
			if !a.Lost {
				r.arrived += time.Duration(steps) * ackStep
				a.Arrived = r.arrived
			}
			f.Acks = append(f.Acks, a)
			next++
		}
	}
	r.r.Feedbacks = append(r.r.Feedbacks, f)
	return nil
}

// mostTimes bounds a count, so that a broken file cannot fill the memory.
const mostTimes = 1 << 16

// severalTimes splits VALUE*COUNT.
func severalTimes(word string) (value string, count int, err error) {
	value, text, several := strings.Cut(word, "*")
	if !several {
		return value, 1, nil
	}
	count, err = strconv.Atoi(text)
	if err == nil && (count < 1 || count > mostTimes) {
		err = errRecording
	}
	return value, count, err
}
