package desk

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os/exec"
	"time"

	"github.com/chromedp/chromedp"
)

// chromiumNames are tried in this order.
var chromiumNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// callTime bounds one call to the browser.
const callTime = 20 * time.Second

// BrowserOptions says how to start Chromium. The zero value is a headless
// browser with a window of 1280 by 720 pixels.
type BrowserOptions struct {
	Display string         // an X display to show a real window on; "" is headless
	Kiosk   bool           // with Display: the page fills the screen, without a frame
	Size    image.Point    // of the window, in CSS pixels
	Flags   map[string]any // more flags, by name without dashes: true, false (drop it) or a string
	Path    string         // the program, or a wrapper that starts it; "" looks in PATH
	Env     []string       // added to this process's environment
	Log     io.Writer      // receives what the browser writes; nil drops it
}

// Chromium is a running browser with a fresh profile. Its pages may be used by
// different goroutines, one each.
type Chromium struct {
	ctx    context.Context // a chromedp context whose browser runs
	cancel []context.CancelFunc
}

// StartChromium starts a browser that ends with ctx or Close. The flags keep it
// from asking the network for anything, let it run as root, and let media play
// without a gesture.
func StartChromium(ctx context.Context, o BrowserOptions) (*Chromium, error) {
	if o.Path == "" {
		var err error
		if o.Path, err = FindChromium(); err != nil {
			return nil, err
		}
	}
	alloc, endAlloc := chromedp.NewExecAllocator(ctx, o.allocator()...)
	page, endPage := chromedp.NewContext(alloc)
	b := &Chromium{ctx: page, cancel: []context.CancelFunc{endPage, endAlloc}}
	// The first call starts the browser and binds its life to the context
	// given, so the limit is a timer beside it.
	late := time.AfterFunc(60*time.Second, endPage)
	err := chromedp.Do(page)
	if !late.Stop() {
		err = errors.Join(err, errors.New("no answer within 60 s"))
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", o.Path, err)
	}
	return b, nil
}

// FindChromium gives the path of the program, for a wrapper that starts it.
func FindChromium() (string, error) {
	for _, name := range chromiumNames {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", Need(chromiumNames[0])
}

// allocator turns the options into chromedp's.
func (o BrowserOptions) allocator() []chromedp.ExecAllocatorOption {
	size := o.Size
	if size == (image.Point{}) {
		size = image.Pt(1280, 720)
	}
	list := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	list = append(list, chromedp.ExecPath(o.Path), chromedp.NoSandbox,
		chromedp.Flag("window-size", fmt.Sprintf("%d,%d", size.X, size.Y)))
	for name, value := range map[string]any{
		"disable-gpu": true, "disable-quic": true, "disable-component-update": true,
		"disable-domain-reliability": true, "no-default-browser-check": true, "hide-scrollbars": true,
		// These two keep the bars away that would cover part of a page.
		"enable-automation": false, "test-type": true,
		"autoplay-policy": "no-user-gesture-required", "mute-audio": true,
	} {
		list = append(list, chromedp.Flag(name, value))
	}
	env := o.Env
	if o.Display != "" {
		env = append(append([]string{}, env...), "DISPLAY="+o.Display, "WAYLAND_DISPLAY=")
		list = append(list, chromedp.Flag("headless", false), chromedp.Flag("window-position", "0,0"), chromedp.Flag("kiosk", o.Kiosk))
	}
	for name, value := range o.Flags {
		list = append(list, chromedp.Flag(name, value))
	}
	if o.Log != nil {
		list = append(list, chromedp.CombinedOutput(o.Log))
	}
	return append(list, chromedp.Env(env...))
}

// Close ends the browser and removes its profile.
func (b *Chromium) Close() {
	for _, cancel := range b.cancel {
		cancel()
	}
}

// NewPage opens a page with cookies and storage of its own, as another person's
// browser would have.
func (b *Chromium) NewPage() (*Page, error) {
	return openPage(b.ctx, chromedp.WithNewBrowserContext())
}

// FirstPage gives the page that the browser opened with; in kiosk mode it is
// the one that fills the screen.
func (b *Chromium) FirstPage() *Page { return &Page{ctx: b.ctx, end: func() {}} }

// Sibling opens another page that shares this one's cookies, and comes to the
// front of the same window, which hides this one.
func (p *Page) Sibling() (*Page, error) {
	return openPage(p.ctx, chromedp.WithNewWindow(false))
}

func openPage(ctx context.Context, options ...chromedp.ContextOption) (*Page, error) {
	ctx, end := chromedp.NewContext(ctx, options...)
	p := &Page{ctx: ctx, end: end}
	if err := p.Do(); err != nil {
		end()
		return nil, fmt.Errorf("open a page: %w", err)
	}
	return p, nil
}
