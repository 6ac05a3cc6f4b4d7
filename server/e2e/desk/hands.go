package desk

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// Button is a mouse button.
type Button string

// The buttons that a mouse may have.
const (
	Left    Button = "left"
	Middle  Button = "middle"
	Right   Button = "right"
	Back    Button = "back"
	Forward Button = "forward"
)

// buttonBits are the buttons as MouseEvent.buttons counts them.
var buttonBits = map[Button]int64{Left: 1, Right: 2, Middle: 4, Back: 8, Forward: 16}

// Move moves the mouse; x and y are CSS pixels of the viewport, here and below.
func (p *Page) Move(x, y float64) error {
	// A drag names its button, or Chromium keeps no pointer capture.
	e := input.DispatchMouseEventParams{Type: "mouseMoved", X: x, Y: y}
	for _, b := range []Button{Left, Right, Middle, Back, Forward} {
		if p.pressed&buttonBits[b] != 0 {
			e.Button = input.MouseButton(b)
			break
		}
	}
	return p.mouse(e)
}

// Press presses a mouse button.
func (p *Page) Press(b Button, x, y float64) error {
	p.pressed |= buttonBits[b]
	return p.mouse(input.DispatchMouseEventParams{Type: "mousePressed", X: x, Y: y, Button: input.MouseButton(b), ClickCount: 1})
}

// Release lets go of a mouse button.
func (p *Page) Release(b Button, x, y float64) error {
	p.pressed &^= buttonBits[b]
	return p.mouse(input.DispatchMouseEventParams{Type: "mouseReleased", X: x, Y: y, Button: input.MouseButton(b), ClickCount: 1})
}

// Click moves to a place, presses a button there and lets go.
func (p *Page) Click(b Button, x, y float64) error {
	if err := p.Move(x, y); err != nil {
		return err
	}
	if err := p.Press(b, x, y); err != nil {
		return err
	}
	return p.Release(b, x, y)
}

// Wheel turns the wheel; dx and dy are CSS pixels as WheelEvent counts them,
// positive dy scrolling down.
func (p *Page) Wheel(x, y, dx, dy float64) error {
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	// The typed command leaves out a delta of 0, and the browser insists on both.
	params := map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy, "buttons": p.pressed, "modifiers": p.modified}
	if err := chromedp.FromContext(p.ctx).Target.Call(ctx, "Input.dispatchMouseEvent", params, nil); err != nil {
		return fmt.Errorf("wheel at %v,%v: %w", x, y, err)
	}
	return nil
}

func (p *Page) mouse(e input.DispatchMouseEventParams) error {
	e.Buttons, e.Modifiers = p.pressed, p.modified
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, e); err != nil {
		return fmt.Errorf("%s at %v,%v: %w", e.Type, e.X, e.Y, err)
	}
	return nil
}

// modifierBits are the modifiers as the protocol counts them.
var modifierBits = map[string]int64{"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

// KeyDown presses a physical key. Code and key are the DOM's: "KeyA" and "a",
// "ShiftLeft" and "Shift".
func (p *Page) KeyDown(code, key string) error {
	p.modified |= modifierBits[key]
	e := input.DispatchKeyEventParams{Type: "rawKeyDown", Code: code, Key: key}
	if utf8.RuneCountInString(key) == 1 && p.modified&^modifierBits["Shift"] == 0 {
		e.Type, e.Text = "keyDown", key
	}
	if key == "Enter" {
		e.Type, e.Text = "keyDown", "\r"
	}
	return p.key(e)
}

// KeyUp lets go of a physical key.
func (p *Page) KeyUp(code, key string) error {
	p.modified &^= modifierBits[key]
	return p.key(input.DispatchKeyEventParams{Type: "keyUp", Code: code, Key: key})
}

// Key presses a physical key and lets go.
func (p *Page) Key(code, key string) error {
	if err := p.KeyDown(code, key); err != nil {
		return err
	}
	return p.KeyUp(code, key)
}

func (p *Page) key(e input.DispatchKeyEventParams) error {
	e.Modifiers = p.modified
	e.WindowsVirtualKeyCode = virtualKeys[e.Key]
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, e); err != nil {
		return fmt.Errorf("%s %s: %w", e.Type, e.Code, err)
	}
	return nil
}

// virtualKeys are the codes of keys without which Chromium takes no action of
// its own; the page sees code and key without them.
var virtualKeys = map[string]int64{
	"Backspace": 8, "Tab": 9, "Enter": 13, "Shift": 16, "Control": 17, "Alt": 18, "Escape": 27, " ": 32,
	"PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
	"Delete": 46, "Meta": 91,
}

// Insert enters text into the focused element as an input method or a soft
// keyboard does, without key events.
func (p *Page) Insert(text string) error {
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	if _, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		return fmt.Errorf("insert %q: %w", text, err)
	}
	return nil
}

// Finger is where a finger touches, in CSS pixels of the viewport.
type Finger struct{ X, Y float64 }

// TouchStart puts fingers down, TouchMove moves the same fingers, in the same
// order, and TouchEnd lifts them all. The viewport must have Touch set.
func (p *Page) TouchStart(fingers ...Finger) error { return p.touch("touchStart", fingers) }

// TouchMove is described at TouchStart.
func (p *Page) TouchMove(fingers ...Finger) error { return p.touch("touchMove", fingers) }

// TouchEnd is described at TouchStart.
func (p *Page) TouchEnd() error { return p.touch("touchEnd", nil) }

// Tap puts a finger down and lifts it.
func (p *Page) Tap(x, y float64) error {
	if err := p.TouchStart(Finger{x, y}); err != nil {
		return err
	}
	return p.TouchEnd()
}

func (p *Page) touch(kind input.DispatchTouchEventType, fingers []Finger) error {
	e := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}, Modifiers: p.modified}
	for i, f := range fingers {
		id := float64(i)
		e.TouchPoints = append(e.TouchPoints, &input.TouchPoint{X: f.X, Y: f.Y, ID: &id})
	}
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	if _, err := chromedp.Call(ctx, input.DispatchTouchEvent, e); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}
