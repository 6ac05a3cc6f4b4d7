package main

import (
	"encoding/json"
	"errors"
	"image"
	"testing"
	"time"

	"nearglass/gpu/capture"
)

func TestPercentileIsTheNearestRank(t *testing.T) {
	var s series
	for i := 20; i >= 1; i-- {
		s = append(s, time.Duration(i)*time.Millisecond)
	}
	for p, want := range map[int]float64{50: 10, 95: 19, 100: 20, 1: 1} {
		if got, err := s.percentile(p); got != want || err != nil {
			t.Errorf("p%d is %v, %v; want %v", p, got, err, want)
		}
	}
	if _, err := (series{}).percentile(50); !errors.Is(err, errNone) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestRowsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name string
		row  row
		ours float64
		err  error
		want bool
	}{
		{"below a ceiling", lower("a", "ms", limit(8), nil), 7.9, nil, true},
		{"at a ceiling", lower("a", "ms", limit(8), nil), 8, nil, true},
		{"above a ceiling", lower("a", "ms", limit(8), nil), 8.1, nil, false},
		{"above a floor", higher("a", "fps", limit(56), nil), 56.5, nil, true},
		{"below a floor", higher("a", "fps", limit(56), nil), 55, nil, false},
		{"without a limit", lower("a", "ms", nil, nil), 1e9, nil, true},
		{"not measured", lower("a", "ms", nil, nil), 0, errNone, false},
	} {
		var r report
		r.add(c.row, c.ours, c.err)
		got := r.Rows[0]
		if got.Holds != c.want || (got.Ours == nil) != (c.err != nil) || (got.Reason == "") != (c.err == nil) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestFailedRowIsNull: who reads the JSON must not take a failure for a zero.
func TestFailedRowIsNull(t *testing.T) {
	var r report
	r.add(lower("a", "ms", limit(1), nil), 0, errNone)
	data, err := json.Marshal(r.Rows[0])
	want := `{"measure":"a","unit":"ms","better":"lower","ours":null,"baselines":{},"must":1,"goal":null,"holds":false,"reason":"nothing arrived"}`
	if err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
}

func TestMovingPictureIsRepeatable(t *testing.T) {
	m := newMoving(image.Pt(1280, 720), image.Pt(2, 1))
	a, b := m.rgba(100, 7), m.rgba(101, 8)
	if string(a.Pix) != string(m.rgba(100, 7).Pix) {
		t.Error("one state gave two pictures")
	}
	if n, ok := readShot(b); n != 8 || !ok {
		t.Errorf("the number read is %d, %v", n, ok)
	}
	changed := 0
	for i := 0; i < len(a.Pix); i += 4 {
		if a.Pix[i] != b.Pix[i] || a.Pix[i+1] != b.Pix[i+1] {
			changed++
		}
	}
	if share := float64(changed) / (1280 * 720); share < 0.5 {
		t.Errorf("only %.0f %% of the pixels change from picture to picture", 100*share)
	}
	if !patchRect().In(image.Rectangle{Max: m.size}) || patchRect().Size() != capture.PatchBounds.Size() {
		t.Errorf("the patch lies at %v", patchRect())
	}
}

func TestDelaysCountOnlyWhatWasPainted(t *testing.T) {
	start := time.Now()
	seen := sightings{1: start.Add(5 * time.Millisecond), 2: start.Add(-time.Millisecond), 9: start}
	painted := map[uint32]time.Time{1: start, 2: start, 3: start}
	if d := seen.delays(painted); len(d) != 1 || d[0] != 5*time.Millisecond {
		t.Errorf("delays %v", d)
	}
}
