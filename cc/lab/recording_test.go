package lab

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
)

func TestRecordingIsReadAsWritten(t *testing.T) {
	at := func(d time.Duration) time.Time { return time.Time{}.Add(d) }
	r := Recording{Link: 5 * rate.Mbps}
	add := func(d time.Duration, s cc.Sent) {
		s.At, s.Sequence = at(d), uint64(len(r.Sent)+1)
		r.Sent = append(r.Sent, s)
	}
	add(time.Millisecond, cc.Sent{SizeBytes: 1190, Frame: 1})
	add(time.Millisecond, cc.Sent{SizeBytes: 1190, Frame: 1})
	add(time.Millisecond, cc.Sent{SizeBytes: 600, Frame: 1, Last: true})
	add(2500*time.Microsecond, cc.Sent{SizeBytes: 1192, Frame: 1, Resend: true, Probe: 12})
	add(30*time.Millisecond, cc.Sent{SizeBytes: 303, Probe: 12})
	add(90*time.Millisecond, cc.Sent{SizeBytes: 700, Frame: 2, Last: true})
	r.Feedbacks = []Report{
		{At: 50 * time.Millisecond, Acks: []cc.Ack{{Sequence: 1, Arrived: time.Second}, {Sequence: 2, Lost: true}, {Sequence: 3, Lost: true},
			{Sequence: 5, Arrived: 990 * time.Millisecond}}},
		{At: 80 * time.Millisecond, Acks: []cc.Ack{{Sequence: 2, Arrived: 1010 * time.Millisecond}}},
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRecording("# what it is\n\n" + b.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if !reflect.DeepEqual(got, &r) {
		t.Errorf("written was\n%s\nread is  %+v\nwant %+v", b.String(), got, r)
	}
}

func TestBrokenRecordingsAreRefused(t *testing.T) {
	for _, text := range []string{
		"link", "link fast", "q 1 2", "s 1 2 -", "s 1 x - 3", "s 1 2 px 3", "s 1 2 - 3*0", "s 1 2 - 3*9999999", "s 1 2 - large", "f 1 x", "f 1 1 y", "f 1 1 2*x", "f 1 1 @x",
	} {
		if _, err := ReadRecording(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// TestControllerOnRecordings gives the controller what browsers really reported.
func TestControllerOnRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/feedback/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := ReadRecording(string(text))
			if err != nil {
				t.Fatal(err)
			}
			replay(t, r)
		})
	}
}

// replay checks every answer, and that the targets of the second half suit the
// link. They judge packets that another controller sent, perhaps too few to show
// all that the link carries: so the bounds are wide.
func replay(t *testing.T, r *Recording) {
	const least, most = 150 * rate.Kbps, 50 * rate.Mbps
	var targets []rate.Rate
	half := r.Feedbacks[len(r.Feedbacks)-1].At / 2
	probes := map[uint32]bool{}
	r.Replay(cc.New(cc.Config{Min: least, Max: most}), func(at time.Duration, u cc.Update) {
		switch {
		case u.Target < least || u.Target > most:
			t.Fatalf("at %v the target is %v", at, u.Target)
		case u.Pace <= 0 || u.Pace > 400*rate.Mbps || u.Pad < 0 || u.Pad > most:
			t.Fatalf("at %v the pace is %v and padding %v", at, u.Pace, u.Pad)
		case u.Path.Rate < 0 || u.Path.Depth < 0 || u.Path.Queue < 0 || u.Path.Queue > 2*time.Second:
			t.Fatalf("at %v the path is %+v", at, u.Path)
		case u.Probe.ID != 0 && (u.Probe.Rate <= 0 || u.Probe.Bytes <= 0 || u.Probe.Bytes > 1<<20):
			t.Fatalf("at %v a train of %+v", at, u.Probe)
		case u.State == "" || u.Reason == "":
			t.Fatalf("at %v no reason is given: %+v", at, u)
		}
		if u.Probe.ID != 0 {
			probes[u.Probe.ID] = true
		}
		if at >= half {
			targets = append(targets, u.Target)
		}
	})
	slices.Sort(targets)
	median := targets[len(targets)/2]
	t.Logf("%d packets, %d reports, %d trains; in the second half the target was %v (median), %v to %v",
		len(r.Sent), len(r.Feedbacks), len(probes), median, targets[0], targets[len(targets)-1])
	if r.Link > 0 && (median < r.Link.Scale(0.4) || median > r.Link.Scale(1.1)) {
		t.Errorf("on a link of %v the target is %v", r.Link, median)
	}
}
