package desk

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Page is one tab of a browser. It is not safe for concurrent use.
type Page struct {
	ctx      context.Context
	end      context.CancelFunc
	pressed  int64 // mouse buttons that are down, as DOM counts them
	modified int64 // modifier keys that are down, as the protocol counts them
}

// Close closes the page.
func (p *Page) Close() { p.end() }

// Context is the page's chromedp context, for what Page does not offer.
func (p *Page) Context() context.Context { return p.ctx }

// Do runs chromedp actions, within 20 seconds.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) error {
	// The first call on a context binds the page to the context given.
	if chromedp.FromContext(p.ctx).Target == nil {
		return chromedp.Do(p.ctx, actions...)
	}
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// Open loads an address and waits until the page has loaded.
func (p *Page) Open(url string) error {
	if err := p.Do(chromedp.Navigate(url)); err != nil {
		return fmt.Errorf("open %s: %w", url, err)
	}
	return nil
}

// Eval evaluates an expression in the page, waits for it when it is a promise,
// and decodes its value. A page's content security policy does not apply.
func Eval[T any](p *Page, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		return v, fmt.Errorf("evaluate %s: %w", brief(expression), err)
	}
	return v, nil
}

// Run evaluates statements for their effect.
func (p *Page) Run(statements string) error {
	_, err := Eval[bool](p, "(async () => {"+statements+"; return true })()")
	return err
}

// WaitFor waits until an expression is true in the page.
func (p *Page) WaitFor(expression string, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(p.ctx, limit, fmt.Errorf("not true within %v", limit))
	defer cancel()
	return Poll(ctx, brief(expression), func() (bool, error) { return Eval[bool](p, "!!("+expression+")") })
}

func brief(expression string) string {
	line := strings.Join(strings.Fields(expression), " ")
	if len(line) > 120 {
		line = line[:117] + "..."
	}
	return line
}

// Viewport is the size and kind of screen that a page believes in. Width and
// Height are CSS pixels; Scale is device pixels for each, 0 meaning 1.
type Viewport struct {
	Width, Height int
	Scale         float64
	Mobile, Touch bool
	Landscape     bool
}

// Phone is a small phone held upright.
var Phone = Viewport{Width: 360, Height: 740, Scale: 3, Mobile: true, Touch: true}

// Viewport makes the page believe in another screen.
func (p *Page) Viewport(v Viewport) error {
	options := []chromedp.EmulateViewportOption{chromedp.EmulatePortrait}
	if v.Landscape {
		options = []chromedp.EmulateViewportOption{chromedp.EmulateLandscape}
	}
	if v.Scale != 0 {
		options = append(options, chromedp.EmulateScale(v.Scale))
	}
	if v.Mobile {
		options = append(options, chromedp.EmulateMobile)
	}
	if v.Touch {
		options = append(options, chromedp.EmulateTouch)
	}
	return p.Do(chromedp.EmulateViewport(int64(v.Width), int64(v.Height), options...))
}

// ToFront brings the page to the front of its window; siblings are hidden then.
func (p *Page) ToFront() error {
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	_, err := chromedp.Call(ctx, page.BringToFront, cdp.Empty{})
	return err
}

// Screenshot takes a picture of what the page shows, in device pixels.
func (p *Page) Screenshot() (*image.RGBA, error) {
	ctx, cancel := context.WithTimeout(p.ctx, callTime)
	defer cancel()
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return nil, fmt.Errorf("take a screenshot: %w", err)
	}
	return decodePNG(data)
}

// VideoPicture takes the picture that a video element shows now, at the size
// of the video itself and with nothing drawn over it. The colors are the
// browser's own conversion to sRGB.
func (p *Page) VideoPicture(selector string) (*image.RGBA, error) {
	img, err := p.CanvasPicture(`(() => {
		const v = document.querySelector(` + strconv.Quote(selector) + `);
		if (!v) throw new Error("no such element");
		if (!v.videoWidth) throw new Error("the video has no picture yet");
		const c = document.createElement("canvas");
		c.width = v.videoWidth; c.height = v.videoHeight;
		c.getContext("2d", { colorSpace: "srgb", willReadFrequently: true }).drawImage(v, 0, 0);
		return c;
	})()`)
	if err != nil {
		return nil, fmt.Errorf("picture of %s: %w", selector, err)
	}
	return img, nil
}

// CanvasPicture takes the picture of the canvas element that an expression
// gives.
func (p *Page) CanvasPicture(expression string) (*image.RGBA, error) {
	text, err := Eval[string](p, "("+expression+`).toDataURL("image/png").split(",")[1]`)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("decode a picture: %w", err)
	}
	return decodePNG(data)
}

func decodePNG(data []byte) (*image.RGBA, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decode a picture: %w", err)
	}
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out, nil
}
