package capture

import (
	"encoding/json"
	"image"
	"testing"
)

func TestSourceAsJSON(t *testing.T) {
	s := Source{ID: "display:HDMI-1", Kind: KindDisplay, Title: "Display HDMI-1", Bounds: image.Rect(800, 100, 1280, 740), Scale: 1.5}
	got, err := json.Marshal(s)
	want := `{"id":"display:HDMI-1","kind":"display","title":"Display HDMI-1","app":"",` +
		`"bounds":{"x":800,"y":100,"width":480,"height":640},"scale":1.5}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestFit(t *testing.T) {
	for _, test := range []struct{ size, most, want image.Point }{
		{image.Pt(1920, 1080), image.Pt(480, 480), image.Pt(480, 270)},
		{image.Pt(1080, 1920), image.Pt(480, 480), image.Pt(270, 480)},
		{image.Pt(100, 100), image.Pt(480, 480), image.Pt(100, 100)},
		{image.Pt(5000, 3), image.Pt(480, 480), image.Pt(480, 1)},
		{image.Pt(1920, 1080), image.Point{}, image.Pt(1920, 1080)},
	} {
		if got := fit(test.size, test.most); got != test.want {
			t.Errorf("%v into %v: %v, want %v", test.size, test.most, got, test.want)
		}
	}
}
