package server

import (
	"image"
	"math"
	"testing"

	"nearglass/server/input"
	"nearglass/signaling"
)

func TestPixelOf(t *testing.T) {
	for _, c := range []struct {
		name string
		spot signaling.Spot
		size image.Point
		want image.Point
	}{
		{"as it is", signaling.Spot{X: 10.7, Y: 20.2, W: 100, H: 100}, image.Pt(100, 100), image.Pt(10, 20)},
		{"the picture has grown since", signaling.Spot{X: 50, Y: 50, W: 100, H: 100}, image.Pt(200, 400), image.Pt(100, 200)},
		{"an odd side is sent as an even one", signaling.Spot{X: 998.5, Y: 3.5, W: 1002, H: 8}, image.Pt(1001, 7), image.Pt(998, 3)},
		{"the column that pads it", signaling.Spot{X: 1001.5, Y: 7.5, W: 1002, H: 8}, image.Pt(1001, 7), image.Pt(1000, 6)},
		{"the last pixel", signaling.Spot{X: 99.999, Y: 99.5, W: 100, H: 100}, image.Pt(100, 100), image.Pt(99, 99)},
		{"outside", signaling.Spot{X: -5, Y: 1e6, W: 100, H: 100}, image.Pt(100, 100), image.Pt(0, 99)},
		{"no size given", signaling.Spot{X: 5, Y: 5}, image.Pt(100, 100), image.Pt(0, 0)},
		{"no picture yet", signaling.Spot{X: 5, Y: 5, W: 10, H: 10}, image.Pt(0, 0), image.Pt(0, 0)},
		{"huge", signaling.Spot{X: math.MaxFloat64, Y: -math.MaxFloat64, W: 1, H: 1}, image.Pt(100, 100), image.Pt(99, 0)},
	} {
		if got := pixelOf(c.spot, c.size); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestEventOfIsInDesktopCoordinates(t *testing.T) {
	spot := signaling.Spot{X: 5, Y: 6, W: 100, H: 100}
	size, origin := image.Pt(100, 100), image.Pt(1280, 40)
	for _, c := range []struct {
		m     signaling.Message
		want  input.Event
		focus bool
	}{
		{signaling.Move{Spot: spot}, input.Event{Kind: input.Move, X: 1285, Y: 46}, false},
		{signaling.Button{Spot: spot, Button: 2, Down: true}, input.Event{Kind: input.Button, X: 1285, Y: 46, Button: 2, Down: true}, true},
		{signaling.Button{Spot: spot, Button: 2}, input.Event{Kind: input.Button, X: 1285, Y: 46, Button: 2}, false},
		{signaling.Wheel{Spot: spot, DY: 120}, input.Event{Kind: input.Wheel, X: 1285, Y: 46, DY: 120}, false},
		{signaling.Key{Code: "KeyA", Key: "a", Down: true}, input.Event{Kind: input.Key, Code: "KeyA", Key: "a", Down: true}, true},
		{signaling.Text{Text: "ä"}, input.Event{Kind: input.Text, Text: "ä"}, true},
		{signaling.Release{}, input.Event{Kind: input.Release}, false},
	} {
		got := eventOf(c.m, size, origin)
		if got != c.want || takesFocus(got) != c.focus {
			t.Errorf("%T: %+v (takes focus: %v), want %+v", c.m, got, takesFocus(got), c.want)
		}
	}
}

func TestDemoLetsGoOfWhatAViewerHeld(t *testing.T) {
	desk := newDemoDesk()
	h := desk.hands().(*demoHands)
	spot := signaling.Spot{X: 1, Y: 1, W: 10, H: 10}
	for _, m := range []signaling.Message{
		signaling.Key{Code: "ShiftLeft", Down: true}, signaling.Button{Spot: spot, Down: true}, signaling.Key{Code: "KeyA", Down: true},
		signaling.Key{Code: "KeyA"},
	} {
		if err := h.do(m, image.Pt(1280, 720)); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.keys) != 1 || len(h.buttons) != 1 {
		t.Errorf("held: %v, %v", h.keys, h.buttons)
	}
	h.release()
	if len(h.keys)+len(h.buttons) != 0 {
		t.Errorf("after the release: %v, %v", h.keys, h.buttons)
	}
}
