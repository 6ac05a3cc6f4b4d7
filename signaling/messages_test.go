package signaling

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

var spot = Spot{10.5, -3, 1920, 1080}

func TestDecode(t *testing.T) {
	tests := []struct {
		label, data string
		want        Message
	}{
		{ControlChannel, `{"type":"ping","t":12.5}`, Ping{12.5}},
		{ControlChannel, `{"type":"shown","rtp":4294967295}`, Shown{RTP: math.MaxUint32}},
		{ControlChannel, `{"type":"shown","rtp":7,"received":1,"decoding":2,"decoded":3,"shown":3}`, Shown{7, 1, 2, 3, 3}},
		{ControlChannel, `{"type":"hidden","hidden":true}`, Hidden{true}},
		{ControlChannel, `{"type":"stats","on":false}`, WantStats{false}},
		{InputChannel, `{"type":"move","x":10.5,"y":-3,"w":1920,"h":1080}`, Move{spot}},
		{InputChannel, `{"type":"button","button":4,"down":true,"x":10.5,"y":-3,"w":1920,"h":1080}`, Button{4, true, spot}},
		{InputChannel, `{"type":"wheel","dx":0,"dy":-12000,"x":10.5,"y":-3,"w":1920,"h":1080}`, Wheel{0, -12000, spot}},
		{InputChannel, `{"type":"key","code":"KeyA","key":"ä","down":false}`, Key{"KeyA", "ä", false}},
		{InputChannel, `{"type":"key","code":"","key":"日","down":true}`, Key{"", "日", true}},
		{InputChannel, `{"type":"key","code":"Enter","down":true}`, Key{"Enter", "", true}},
		{InputChannel, `{"type":"text","text":"日本語\n\t€"}`, Text{"日本語\n\t€"}},
		{InputChannel, `{"type":"release"}`, Release{}},
		{InputChannel, `{"type":"release","later":{"a":[1]}}`, Release{}},
		{InputChannel, `{"type":"mark","n":7}`, Mark{7}},
	}
	for _, tt := range tests {
		got, err := Decode(tt.label, []byte(tt.data))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %#v, %v", tt.data, got, err)
		}
		back, err := Encode(tt.want)
		if again, err2 := Decode(tt.label, back); err != nil || err2 != nil || !reflect.DeepEqual(again, tt.want) {
			t.Errorf("%s encodes as %s and back as %#v, %v, %v", tt.data, back, again, err, err2)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	at := `"x":1,"y":1,"w":10,"h":10`
	tests := map[string][]string{
		ControlChannel: {
			``, `null`, `[]`, `1`, `{}`, `{"type":1}`, `{"type":"ping"}`, `{"type":"ping","t":"1"}`, `{"type":"ping","t":1e999}`,
			`{"type":"ping","t":NaN}`, `{"type":"shown","rtp":-1}`, `{"type":"shown","rtp":4294967296}`, `{"type":"shown","rtp":1.5}`,
			`{"type":"shown","rtp":1,"received":2,"decoding":1,"decoded":3,"shown":4}`, `{"type":"shown","rtp":1,"received":-1}`,
			`{"type":"shown","rtp":1,"shown":1e11}`,
			`{"type":"hidden"}`, `{"type":"stats"}`, `{"type":"bye"}`, `{"type":"source"}`, `{"type":"mark","n":1}`, `{"type":"move",` + at + `}`,
			`{"type":"text","text":"rm"}`, `{"type":"ping","t":1}{"type":"ping","t":1}`, `{"type":"ping","t":1`,
		},
		InputChannel: {
			`{"type":"mark"}`, `{"type":"mark","n":-1}`, `{"type":"mark","n":0.5}`, `{"type":"mark","n":4294967296}`,
			`{"type":"ping","t":1}`, `{"type":"move"}`, `{"type":"move","x":1,"y":1,"w":10}`, `{"type":"move","x":1,"y":1,"w":0,"h":10}`,
			`{"type":"move","x":1,"y":1,"w":-5,"h":10}`, `{"type":"move","x":1e300,"y":1,"w":10,"h":10}`,
			`{"type":"move","x":1,"y":1,"w":1e300,"h":10}`, `{"type":"move","x":null,"y":1,"w":10,"h":10}`,
			`{"type":"button","down":true,` + at + `}`, `{"type":"button","button":0,` + at + `}`,
			`{"type":"button","button":5,"down":true,` + at + `}`, `{"type":"button","button":-1,"down":true,` + at + `}`,
			`{"type":"button","button":0.5,"down":true,` + at + `}`, `{"type":"button","button":0,"down":true}`,
			`{"type":"wheel","dx":0,` + at + `}`, `{"type":"wheel","dx":0,"dy":12001,` + at + `}`, `{"type":"wheel","dx":0,"dy":0}`,
			`{"type":"key","code":"KeyA"}`, `{"type":"key","down":true}`, `{"type":"key","code":"Key A","down":true}`,
			`{"type":"key","code":"` + strings.Repeat("A", 33) + `","down":true}`, `{"type":"key","code":"KeyÄ","down":true}`,
			`{"type":"key","code":"KeyA","key":"` + strings.Repeat("a", 33) + `","down":true}`,
			`{"type":"key","code":"KeyA","key":"\u0000","down":true}`,
			`{"type":"text"}`, `{"type":"text","text":""}`, `{"type":"text","text":"a\u001bb"}`, `{"type":"text","text":"\ud800"}`,
			`{"type":"text","text":"a\u0085b"}`, `{"type":"text","text":"` + strings.Repeat("é", 4097) + `"}`, "{\"type\":\"text\",\"text\":\"\xff\"}",
		},
		PointerChannel: {`{"type":"move",` + at + `}`, `{"type":"pointer","x":1,"y":1}`},
		"other":        {`{"type":"ping","t":1}`},
	}
	for label, list := range tests {
		for _, data := range list {
			if m, err := Decode(label, []byte(data)); err == nil || m != nil {
				t.Errorf("%s: %.80s gives %#v, %v", label, data, m, err)
			}
		}
	}
	if _, err := Decode(ControlChannel, make([]byte, MaxMessageBytes+1)); err == nil {
		t.Error("a message over the limit was read")
	}
}

func TestEncode(t *testing.T) {
	tests := []struct {
		m    Message
		want string
	}{
		{Watching{"demo", "Demo", "demo", 1280, 720, "view"}, `{"type":"source","id":"demo","title":"Demo","kind":"demo","width":1280,"height":720,"rights":"view"}`},
		{State{"ended", "the window was closed"}, `{"type":"state","state":"ended","reason":"the window was closed"}`},
		{Cursor{ID: "7", Width: 2, Height: 1, HotX: 1, PNG: []byte{1, 2, 3}}, `{"type":"cursor","id":"7","width":2,"height":1,"hotX":1,"hotY":0,"png":"AQID"}`},
		{Pointer{1.5, 2, true, "7", 9}, `{"type":"pointer","x":1.5,"y":2,"visible":true,"cursor":"7","n":9}`},
		{Pong{12.5, 7}, `{"type":"pong","t":12.5,"host":7}`},
		{Stream{"ABC", false}, `{"type":"stream","id":"ABC","trace":false}`},
		{Marked{7, 90000}, `{"type":"marked","n":7,"rtp":90000}`},
		{Bye{"bye"}, `{"type":"bye","reason":"bye"}`},
		{Stats{map[string]int{"fps": 60}}, `{"type":"stats","fps":60}`},
		{Stats{struct{}{}}, `{"type":"stats"}`},
		{Release{}, `{"type":"release"}`},
	}
	for _, tt := range tests {
		got, err := Encode(tt.m)
		if err != nil || string(got) != tt.want || !json.Valid(got) {
			t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
		}
	}
	for _, m := range []Message{Pong{T: math.NaN()}, Pong{T: math.Inf(1)}, Stats{nil}, Stats{[]int{1}}} {
		if got, err := Encode(m); err == nil {
			t.Errorf("%#v gives %s", m, got)
		}
	}
}

// FuzzDecode holds every message that is accepted to the ranges of its type.
func FuzzDecode(f *testing.F) {
	f.Add(true, []byte(`{"type":"wheel","dx":1,"dy":-2,"x":1,"y":1,"w":10,"h":10}`))
	f.Add(true, []byte(`{"type":"key","code":"KeyA","key":"a","down":true}`))
	f.Add(true, []byte(`{"type":"text","text":"a"}`))
	f.Add(false, []byte(`{"type":"ping","t":1}`))
	f.Fuzz(func(t *testing.T, input bool, data []byte) {
		label := ControlChannel
		if input {
			label = InputChannel
		}
		m, err := Decode(label, data)
		if err != nil {
			return
		}
		b, err := Encode(m)
		if err != nil {
			t.Fatalf("%#v does not encode: %v", m, err)
		}
		if again, err := Decode(label, b); err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%#v is read back as %#v, %v", m, again, err)
		}
	})
}
