package lab

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nearglass/cc/rate"
)

func TestRowsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rows() {
		if seen[r.Measure] {
			t.Errorf("%q is there twice", r.Measure)
		}
		seen[r.Measure] = true
	}
	needed := Jobs(Rows(), AIMD) // panics when a scenario is missing
	if all := Scenarios(); len(needed) != len(all) {
		t.Errorf("%d of %d scenarios have rows", len(needed), len(all))
	}
}

// TestScenariosRun: each kind of scenario gives finite figures. The long ones
// and the desktop's, which are made of the same parts, are left to bench cc.
func TestScenariosRun(t *testing.T) {
	for _, j := range Jobs(Rows(), Ours("ours", 0)) {
		if j.Scenario.Length > 50*time.Second || strings.HasSuffix(j.Scenario.Name, desktopSuffix) {
			continue
		}
		t.Run(j.Scenario.Name, func(t *testing.T) {
			t.Parallel()
			for i, v := range j.Measure(1) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s is %v", j.Rows[i].Measure, v)
				}
			}
		})
	}
}

func TestSameSeedSameRun(t *testing.T) {
	s := single("", 5*time.Second, link(at(0, 3)))
	s.Forward.Loss.Random = 0.02
	logs := func(seed uint64) []Packet { return Run(s, AIMD, seed).Flows[0].Sent }
	if !reflect.DeepEqual(logs(1), logs(1)) {
		t.Error("two runs with one seed differ")
	}
	if reflect.DeepEqual(logs(1), logs(2)) {
		t.Error("two seeds give the same run")
	}
}

// TestFixedRateFillsItsShare: what the lab reports of a fixed rate is known
// beforehand.
func TestFixedRateFillsItsShare(t *testing.T) {
	r := Run(single("", 20*time.Second, link(at(0, 10))), Fixed(8*rate.Mbps), 1)
	// A picture of 16,667 bytes needs 15 packets of 76 bytes of headers.
	want := 80 * (16667.0 + 15*(overheadBytes+ipBytes)) / 16667
	if u := used(r); math.Abs(u-want) > 1 {
		t.Errorf("utilization %.1f %%, want %.1f", u, want)
	}
	if q := standing(95)(r); q > 1 {
		t.Errorf("a rate below the link's leaves a queue of %.1f ms", q)
	}
	if n := len(r.Flows[0].Dropped); n > 0 {
		t.Errorf("%d packets were dropped", n)
	}
	d := percentile(r.Flows[0].deliveries(settled, 20*time.Second), 50)
	if f := frames(d); f < 0.8 || f > 1 {
		t.Errorf("a picture takes %.2f intervals, want about 0.86: its serialisation", f)
	}
}

func TestTooFastFillsTheQueue(t *testing.T) {
	r := Run(single("", 10*time.Second, link(at(0, 5))), Fixed(8*rate.Mbps), 1)
	l := r.Flows[0]
	if w := l.worst(0, 10*time.Second); w < 240*time.Millisecond || w > queueLimit {
		t.Errorf("worst queue %v, want that of a full buffer", w)
	}
	if len(l.Dropped) == 0 || r.utilization(0, settled, 10*time.Second) > 100 {
		t.Errorf("%d dropped, %.1f %% used", len(l.Dropped), used(r))
	}
}

// TestLossIsRepaired: resends bring what the link loses.
func TestLossIsRepaired(t *testing.T) {
	s := single("", 10*time.Second, link(at(0, 10)))
	s.Forward.Loss.Random = 0.05
	l := Run(s, Fixed(4*rate.Mbps), 1).Flows[0]
	late := 0
	for _, f := range l.Frames {
		if f.Enqueued < 9*time.Second && (f.Arrived == 0 || f.Arrived-f.Enqueued > 300*time.Millisecond) {
			late++
		}
	}
	if late > len(l.Frames)/100 {
		t.Errorf("%d of %d frames did not arrive within 300 ms", late, len(l.Frames))
	}
}

func TestCoarseTickWakesAtTicks(t *testing.T) {
	s := single("", 2*time.Second, link(at(0, 20)))
	s.Tick = coarseTick
	for _, p := range Run(s, AIMD, 1).Flows[0].Sent {
		if p.Sent%coarseTick != 0 {
			t.Fatalf("a packet left at %v, between two ticks", p.Sent)
		}
	}
}

func TestReverseFlowsAndMemory(t *testing.T) {
	r := Run(congestedFeedback(), Fixed(300*rate.Kbps), 1)
	for i, l := range r.Flows {
		if u := r.capacity(i, 0, r.Scenario.Length); l.delivered(0, r.Scenario.Length) < u/10 {
			t.Errorf("stream %d delivered %d of %d bytes", i, l.delivered(0, r.Scenario.Length), u)
		}
	}
	if r := Run(reconnect("", 10), Ours("ours", 0), 1); r.Before == nil || r.Before.Flows[0].memory.Capacity == 0 {
		t.Error("the first connection left no memory")
	}
}

func TestClips(t *testing.T) {
	got, err := parseClips("# comment\nscroll 10 30\n\nscroll 20\nanimation 5\nidle 0 2 1000\n")
	want := map[string][]float64{"scroll": {0.5, 1.5, 1}, "animation": {1}, "idle": {0, 0.1, mostShare}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parseClips gave %v, %v", got, err)
	}
	for _, bad := range []string{"", "idle 1", "scroll x", "scroll -1"} {
		if _, err := parseClips(bad); err == nil {
			t.Errorf("parseClips(%q) succeeded", bad)
		}
	}
}

// TestPassedOverChangesStay: a scene change that falls between two pictures is
// in the later one.
func TestPassedOverChangesStay(t *testing.T) {
	second := time.Second
	p := Play{{0, Recorded("idle")}, {second, Once(10)}, {second + frameInterval, nil}}
	if n := p.frame(900*time.Millisecond, 3*second, 6*rate.Mbps, rand.New(rand.NewPCG(1, 1))); n < 100_000 {
		t.Errorf("the picture after the change has %d bytes, want ten times 12,500", n)
	}
	if n := p.frame(3*second, 4*second, 6*rate.Mbps, nil); n != 0 {
		t.Errorf("a picture of %d bytes though nothing changed", n)
	}
}

func TestMetrics(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	l := &Log{
		Sent: []Packet{
			{Sent: ms(100), Arrived: ms(150), Found: ms(40), Size: 1250},
			{Sent: ms(200), Arrived: ms(215), Found: ms(5), Size: 1250},
			{Sent: ms(1500), Arrived: ms(1550), Found: ms(40), Size: 1250},
		},
		Updates: []Change{{At: 0, Target: 9}, {At: ms(300), Target: 2}, {At: ms(400), Target: 5}, {At: ms(600), Target: 2}},
	}
	if d := l.drained(0, ms(3000), ms(20)); d != ms(120) {
		t.Errorf("drained after %v, want 120ms: the queue of 40 ms met at 100 ms has 20 left then", d)
	}
	if d := l.targetBelow(0, ms(3000), 3); d != ms(600) {
		t.Errorf("target below after %v, want 600ms: the dip at 300 does not last", d)
	}
	if d := l.reached(0, ms(1000), 200*rate.Kbps); d != ms(215) {
		t.Errorf("reached after %v, want 215ms: two packets within 100 ms", d)
	}
	if n := l.delivered(ms(100), ms(300)); n != 2500 {
		t.Errorf("%d bytes delivered, want 2500", n)
	}
	if p := percentile([]time.Duration{4, 1, 3, 2}, 50); p != 2 {
		t.Errorf("median %d, want 2 by nearest rank", p)
	}
	row := Row{Higher: true}
	if w, b := row.Worst([]float64{3, 1, 2}), row.Best([]float64{3, 1, 2}); w != 1 || b != 3 {
		t.Errorf("worst %v, best %v", w, b)
	}
}

// TestPlotIsXML keeps the plot readable, whatever a scenario is called.
func TestPlotIsXML(t *testing.T) {
	r := Run(single("a < b & c", 3*time.Second, link(at(0, 2))), AIMD, 1)
	data := r.SVG(0, 0, 3*time.Second)
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Contains(data, []byte("NaN")) {
		t.Error("a point is not a number")
	}
	var out bytes.Buffer
	r.Trace(&out, 0, 0, 3*time.Second, 0)
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 31 {
		t.Errorf("the trace has %d lines, want a head and 30", n)
	}
}

func TestKindsHaveNames(t *testing.T) {
	for _, k := range Kinds() {
		if got, ok := KindOf(k.Name); !ok || got.Name != k.Name {
			t.Errorf("%q is not found", k.Name)
		}
	}
	if _, ok := KindOf("nobody"); ok {
		t.Error("a controller that does not exist was found")
	}
	if !slices.ContainsFunc(Ablation(), func(k Kind) bool { return k.Name == "no probes" }) {
		t.Error("the ablation leaves the probes out")
	}
}
