package main

import (
	"encoding/json"
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/cmd/bench/wire"
)

const testSSRC = 7

// flow appends packets of 1,250 bytes (10 kbit) at a rate; each takes oneWay.
func flow(to []wire.Packet, kind wire.Kind, ssrc uint32, r rate.Rate, from, until, found time.Duration) []wire.Packet {
	each := r.Duration(1250)
	for at := from; at < until; at += each {
		to = append(to, wire.Packet{Kind: kind, SSRC: ssrc, Size: 1250, In: at, Out: at + found + linkOneWay, Found: found,
			Timestamp: uint32(at / (10 * time.Millisecond))})
	}
	return to
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

func check(t *testing.T, f linkFigures, want map[string]float64) {
	t.Helper()
	for key, v := range want {
		if got, ok := f[key]; !ok || !near(got, v, 0.02*math.Abs(v)+0.011) {
			t.Errorf("%s is %v (%v), not about %v", key, got, ok, v)
		}
	}
}

func TestFiguresOfASteadyRun(t *testing.T) {
	r := linkRun{linkCase: linkCase{rate: 5 * rate.Mbps}, length: 20 * time.Second, origin: time.Unix(1_700_000_000, 0)}
	// It starts at 500 ms, has 1 Mbit/s for two seconds, then 4.5.
	r.packets = flow(nil, wire.Media, testSSRC, rate.Mbps, 500*time.Millisecond, 2500*time.Millisecond, 30*time.Millisecond)
	r.packets = flow(r.packets, wire.Media, testSSRC, 4500*rate.Kbps, 2500*time.Millisecond, 21*time.Second, 4*time.Millisecond)
	r.packets = flow(r.packets, wire.Media, testSSRC+1, 50*rate.Kbps, 6*time.Second, 20*time.Second, 10*time.Millisecond)
	r.packets = flow(r.packets, wire.Other, 0, 200*rate.Kbps, 0, 20*time.Second, 100*time.Millisecond)
	for i := range 81 {
		at := float64(i) * 250
		r.samples = append(r.samples, sample{At: 1_700_000_000_000 + at, Shown: at / 20, Freezes: math.Floor(at / 8000), Frozen: at / 1e5})
	}
	f, err := r.figures()
	if err != nil {
		t.Fatal(err)
	}
	check(t, f, map[string]float64{usedShare: 90, queueP50: 4, queueP95: 4, frontP95: 4, tailShare: 0, otherShare: 1.06,
		fillPeak: 30, shownFPS: 50, freezeCount: 2, frozenTime: 0.14, pictureP95: 12.89})
	// 4 of 5 Mbit/s over half a second need 0.43 s of 4.5 after 1.
	check(t, f, map[string]float64{fillTime: 2 + 0.43 + 0.02})
	if _, ok := f[fallPeak]; ok {
		t.Error("a steady run has a fall")
	}
}

// TestFiguresOfADip: the stream goes on for 300 ms as if nothing had happened.
func TestFiguresOfADip(t *testing.T) {
	r := linkRun{linkCase: linkCase{rate: 10 * rate.Mbps, dip: 3 * rate.Mbps}, length: 30 * time.Second}
	down, up := r.dipped(r.length)
	ms := time.Millisecond
	r.packets = flow(nil, wire.Media, testSSRC, 9*rate.Mbps, 0, down+300*ms, ms)
	for i := range r.packets { // the queue grows by two thirds of the time
		if p := &r.packets[i]; p.In > down {
			p.Found = (p.In - down) * 2 / 3
			p.Out = p.In + p.Found + linkOneWay
		}
	}
	r.packets = flow(r.packets, wire.Media, testSSRC, rate.Mbps, down+300*ms, down+500*ms, 100*ms)
	r.packets = flow(r.packets, wire.Media, testSSRC, 2500*rate.Kbps, down+500*ms, up+time.Second, 5*ms)
	r.packets = flow(r.packets, wire.Media, testSSRC, 9*rate.Mbps, up+time.Second, 31*time.Second, 2*ms)
	f, err := r.figures()
	if err != nil {
		t.Fatal(err)
	}
	check(t, f, map[string]float64{fallPeak: 200, fallBelow: 0.29, fallSettle: 0.5, riseTime: 1 + 0.42 + 0.02})
}

func TestFiguresBesideTCP(t *testing.T) {
	r := linkRun{linkCase: linkCase{rate: 20 * rate.Mbps, bulk: true}, length: 40 * time.Second}
	begin, end := r.bulked(r.length)
	r.packets = flow(nil, wire.Media, testSSRC, 18*rate.Mbps, 0, begin, 0)
	r.packets = flow(r.packets, wire.Media, testSSRC, 8*rate.Mbps, begin, end+2*time.Second, 0)
	r.packets = flow(r.packets, wire.Media, testSSRC, 18*rate.Mbps, end+2*time.Second, r.length, 0)
	r.packets = flow(r.packets, wire.Bulk, 0, 12*rate.Mbps, begin, end, 0)
	f, err := r.figures()
	if err != nil {
		t.Fatal(err)
	}
	check(t, f, map[string]float64{besideShare: 40, bulkShare: 60, backTime: 2 + 0.42})
}

// TestRefusedPacketsFoundAFullQueue, or a sender that overruns every queue
// would have a short one.
func TestRefusedPacketsFoundAFullQueue(t *testing.T) {
	r := linkRun{linkCase: linkCase{rate: 5 * rate.Mbps}, length: 20 * time.Second}
	r.packets = flow(nil, wire.Media, testSSRC, 5*rate.Mbps, 0, 20*time.Second, time.Millisecond)
	for i := range r.packets {
		if i%10 == 0 {
			r.packets[i].Tail, r.packets[i].Out = true, 0
		}
	}
	f, err := r.figures()
	if err != nil {
		t.Fatal(err)
	}
	check(t, f, map[string]float64{tailShare: 10, queueP50: 1, queueP95: 250, usedShare: 90})
}

func TestFiguresOfNothing(t *testing.T) {
	r := linkRun{linkCase: linkCase{rate: rate.Mbps}, length: time.Second}
	r.packets = flow(nil, wire.Other, 0, rate.Mbps, 0, time.Second, 0)
	if _, err := r.figures(); err != errNoMedia {
		t.Errorf("of a run without video: %v", err)
	}
}

// TestLossIsNoCapacity: what the link loses at random nobody can use.
func TestLossIsNoCapacity(t *testing.T) {
	r := linkRun{linkCase: linkCase{rate: 10 * rate.Mbps, loss: 0.1}, length: 20 * time.Second}
	r.packets = flow(nil, wire.Media, testSSRC, 9*rate.Mbps, 0, 20*time.Second, 0)
	f, _ := r.figures()
	check(t, f, map[string]float64{usedShare: 100})
}

func TestLinkRows(t *testing.T) {
	c, _ := caseNamed(t, "step")
	runs := linkRuns{"step": {
		ours:        {{usedShare: 80, queueP95: 5, riseTime: 1}, {usedShare: 90, queueP95: 9, riseTime: 3}, {usedShare: 85, queueP95: 4}},
		chromiumVP8: {{usedShare: 85, queueP95: 4}, {usedShare: 70, queueP95: 40}, {usedShare: 89, queueP95: 20, riseTime: 5}},
	}}
	peers, rep := defaultPeers(true), &report{}
	runs.rows(rep, []linkCase{c}, peers, nil)
	byName := map[string]row{}
	for _, w := range rep.Rows {
		byName[w.Measure] = w
	}
	used := byName["10-3-10 Mbit/s: used, from 5 s on"]
	if *used.Ours != 85 || used.Baselines[chromiumVP8] != 85 || *used.Must != 85 || !used.Holds {
		t.Errorf("%+v", used)
	}
	queue := byName["10-3-10 Mbit/s: queue found, p95"]
	if *queue.Ours != 5 || *queue.Must != 20 || !queue.Holds {
		t.Errorf("%+v", queue)
	}
	// One of our runs never rose, and two of theirs.
	rise := byName["10-3-10 Mbit/s: 3 to 10: 8 carried after"]
	if _, known := rise.Baselines[chromiumVP8]; *rise.Ours != 3 || known {
		t.Errorf("%+v", rise)
	}
	if _, there := byName["10-3-10 Mbit/s: share beside the TCP flow"]; there {
		t.Error("a step has a row about TCP")
	}
	shown := byName["10-3-10 Mbit/s: shown of 60"]
	if shown.Ours != nil || shown.Holds || shown.Reason == "" {
		t.Errorf("%+v", shown)
	}
}

// TestJudgeIsTheFuller: with two baselines the one that fills the link counts.
func TestJudgeIsTheFuller(t *testing.T) {
	c, _ := caseNamed(t, "5")
	runs := linkRuns{"5": {
		ours:         {{usedShare: 99}},
		chromiumVP8:  {{usedShare: 70, queueP95: 9}},
		chromiumH264: {{usedShare: 80, queueP95: 30}},
	}}
	w, _, err := runs.row(c, linkRow{key: queueP95, judged: true}, linkPeers)
	if err == nil || *w.Must != 30 || w.Baselines[chromiumVP8] != 9 {
		t.Errorf("%+v, %v", w, err)
	}
}

func caseNamed(t *testing.T, name string) (linkCase, []linkPeer) {
	t.Helper()
	cases, peers, err := chosen([]string{name}, true)
	if err != nil || len(cases) != 1 {
		t.Fatalf("%v, %v", cases, err)
	}
	return cases[0], peers
}

func TestOnlyChoosesCasesAndPeers(t *testing.T) {
	c, peers := caseNamed(t, "loss")
	if c.loss != 0.02 || len(peers) != len(defaultPeers(true)) {
		t.Errorf("%+v, %d peers", c, len(peers))
	}
	cases, peers, err := chosen([]string{chromiumH264}, false)
	if err != nil || len(cases) != len(linkCases) || len(peers) != 1 || peers[0].name != chromiumH264 {
		t.Errorf("%d cases, %d peers, %v", len(cases), len(peers), err)
	}
	if cases, _, _ := chosen(nil, true); len(cases) != len(quickCases) {
		t.Errorf("%d cases in a quick run", len(cases))
	}
	if _, _, err := chosen([]string{"7"}, false); err == nil || !strings.Contains(err.Error(), chromiumVP8) {
		t.Errorf("of an unknown name: %v", err)
	}
}

func TestGrainIsNewInEveryPicture(t *testing.T) {
	g := newGrain()
	size := 4 * grainSize.X * grainSize.Y
	pix := make([]byte, size)
	g.draw(pix, 4*grainSize.X, grainPictures+5)
	sum, changed := 0, 0
	for i := 0; i < size; i += 4 {
		sum += int(pix[i])
		if g.pictures[6][i] != pix[i] {
			changed++
		}
	}
	if sum != grainSum(5) {
		t.Errorf("picture 5 sums up to %d, not %d", sum, grainSum(5))
	}
	if share := float64(changed) / float64(size/4); share < 0.9 {
		t.Errorf("%.0f %% of the pixels change", 100*share)
	}
	// A wider picture in memory, as a screen may have it.
	wide := make([]byte, 2*size)
	g.draw(wide, 8*grainSize.X, 5)
	at := image.Pt(11, 7)
	if wide[at.Y*8*grainSize.X+4*at.X] != grainLuma(at.X, at.Y, 5) {
		t.Error("the stride is not kept")
	}
}

func TestSeriesFile(t *testing.T) {
	r := linkRun{linkCase: linkCase{rate: 10 * rate.Mbps}, length: time.Second}
	r.packets = flow(nil, wire.Media, testSSRC, 5*rate.Mbps, 0, time.Second, 3*time.Millisecond)
	r.packets = flow(r.packets, wire.Bulk, 0, 2*rate.Mbps, 0, time.Second, 9*time.Millisecond)
	r.packets[20].Tail, r.packets[20].Out = true, 0
	path := filepath.Join(t.TempDir(), "a", "b.csv")
	if err := r.writeSeries(path); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 11 || lines[6] != "0.5,5.000,5.000,2.000,3.0,0" || lines[1] != "0.0,5.000,3.800,1.500,250.0,1" {
		t.Errorf("%d lines:\n%s", len(lines), data)
	}
}

// TestNotesAreJSON: figures that are not there must not become NaN.
func TestNotesAreJSON(t *testing.T) {
	b := linkBench{settings: settings{Out: t.TempDir()}, notes: []linkNote{{Case: "5", Peer: ours, Figures: linkFigures{usedShare: 80}}, {Error: "x"}}}
	if err := b.writeNotes(); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(filepath.Join(b.Out, "link-runs.json"))
	var back []linkNote
	if err := json.Unmarshal(data, &back); err != nil || len(back) != 2 || back[0].Figures[usedShare] != 80 {
		t.Errorf("%s, %v", data, err)
	}
}

func TestFamilyCPUCountsOurselves(t *testing.T) {
	begin := familyCPU(os.Getpid())
	for end := ownCPU() + 50*time.Millisecond; ownCPU() < end; {
	}
	if used := familyCPU(os.Getpid()) - begin; used < 20*time.Millisecond {
		t.Errorf("%v after 50 ms of work", used)
	}
}
