package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
)

// patience bounds the wait for anything that works.
const patience = 40 * time.Second

// The screens that the pictures are taken on.
var (
	desktop   = desk.Viewport{Width: 1440, Height: 900}
	phone     = desk.Viewport{Width: 390, Height: 844, Scale: 2, Mobile: true, Touch: true}
	landscape = desk.Viewport{Width: 844, Height: 390, Scale: 2, Mobile: true, Touch: true, Landscape: true}
)

// phoneAgent is what Chrome on Android says of itself; the page names the
// device after it.
const phoneAgent = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"

// studio takes the pictures.
type studio struct {
	ctx     context.Context
	scene   *scene
	host    *desk.Host
	browser *desk.Chromium
	out     string
	only    string
}

// shot is one picture: what it is called, the screen, and how to get there
// from a page that is paired and shows the list, or from a new page.
type shot struct {
	name string
	on   desk.Viewport
	dark bool
	new  bool // a page that is not paired yet
	do   func(*studio, *desk.Page) error
}

// shots are all pictures of the README.
var shots = []shot{
	{"desktop-pair", desktop, false, true, (*studio).typeCode},
	{"desktop-sources", desktop, false, false, (*studio).list},
	{"desktop-sources-dark", desktop, true, false, (*studio).list},
	{"desktop-watch", desktop, true, false, (*studio).toolbar},
	{"desktop-stats", desktop, true, false, (*studio).stats},
	{"phone-stats", phone, true, false, (*studio).stats},
	{"desktop-stats-report", paper, false, false, (*studio).report},
	{"phone-stats-report", phone, true, false, (*studio).report},
	{"phone-pair", phone, true, true, (*studio).typeCode},
	{"phone-sources", phone, true, false, (*studio).list},
	{"phone-keys", phone, true, false, (*studio).keys},
	{"phone-landscape", landscape, true, false, (*studio).watch},
}

func (s *studio) all() error {
	for _, sh := range shots {
		if !strings.Contains(sh.name, s.only) {
			continue
		}
		if err := s.take(sh); err != nil {
			return fmt.Errorf("%s: %w", sh.name, err)
		}
	}
	return nil
}

func (s *studio) take(sh shot) error {
	p, err := s.page(sh)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := sh.do(s, p); err != nil {
		state, _ := desk.Eval[string](p, "nearglass.state + ': ' + document.body.innerText.slice(0, 300)")
		return fmt.Errorf("%w; the page shows %s", err, state)
	}
	img, err := p.Screenshot()
	if err != nil {
		return err
	}
	path := filepath.Join(s.out, sh.name+".png")
	if err := save(path, img); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Printf("%-36s %4d x %4d %4d kB\n", path, img.Rect.Dx(), img.Rect.Dy(), info.Size()/1000)
	return nil
}

// page opens a page of its own, paired unless the picture wants it new.
func (s *studio) page(sh shot) (*desk.Page, error) {
	p, err := s.browser.NewPage()
	if err != nil {
		return nil, err
	}
	scheme := map[bool]string{true: "dark", false: "light"}[sh.dark]
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(p.Context(), emulation.SetEmulatedMedia, media); err != nil {
		return nil, err
	}
	if sh.on.Mobile {
		agent := emulation.SetUserAgentOverrideParams{UserAgent: phoneAgent, Platform: "Linux armv8l"}
		if _, err := chromedp.Call(p.Context(), emulation.SetUserAgentOverride, agent); err != nil {
			return nil, err
		}
	}
	if err := p.Viewport(sh.on); err != nil {
		return nil, err
	}
	if sh.new {
		return p, p.Open(s.host.URL)
	}
	link, err := s.host.Pair(s.ctx, "control")
	if err != nil {
		return nil, err
	}
	if err := p.Open(link); err != nil {
		return nil, err
	}
	return p, p.WaitFor("window.nearglass?.state == 'sources'", patience)
}

// typeCode types a code and leaves it at that.
func (s *studio) typeCode(p *desk.Page) error {
	if err := p.WaitFor("window.nearglass?.state == 'pairing'", patience); err != nil {
		return err
	}
	if err := p.Run("document.querySelector('[data-testid=pair-code]').focus()"); err != nil {
		return err
	}
	return p.Insert("482913")
}

// list waits until the cards in sight have their stills, and the skeletons
// and the stills have come in.
func (s *studio) list(p *desk.Page) error {
	if err := p.WaitFor(`(() => {
		const seen = [...document.querySelectorAll('[data-testid=source]')].filter((c) => c.getBoundingClientRect().top < innerHeight);
		return seen.length > 2 && seen.every((c) => !c.querySelector('img').hidden);
	})()`, patience); err != nil {
		return err
	}
	return settle(p, 1)
}

func (s *studio) watch(p *desk.Page) error {
	return s.show(p, "display:"+left.Name)
}

// toolbar watches with the mouse on the toolbar, which keeps it open.
func (s *studio) toolbar(p *desk.Page) error {
	if err := s.watch(p); err != nil {
		return err
	}
	// The desktop's own pointer goes where it hides nothing.
	if err := p.Move(1300, 820); err != nil {
		return err
	}
	if err := press(p, "toolbar-tab"); err != nil {
		return err
	}
	if err := settle(p, 0.5); err != nil {
		return err
	}
	if err := p.Move(610, 36); err != nil {
		return err
	}
	return settle(p, 0.8)
}

// show watches a source until its picture has become sharp.
func (s *studio) show(p *desk.Page, source string) error {
	if err := p.Run("location.hash = '#/watch/" + url.PathEscape(source) + "'"); err != nil {
		return err
	}
	if err := p.WaitFor("nearglass.state == 'live' && nearglass.frames > 0", patience); err != nil {
		return err
	}
	return settle(p, 2)
}

// settle lets what moves on the page come to rest.
func settle(p *desk.Page, seconds float64) error {
	return p.Run(fmt.Sprintf("await new Promise((go) => setTimeout(go, %v))", seconds*1000))
}

// stats watches with the figures open, while a terminal shows something that goes
// on for a while.
func (s *studio) stats(p *desk.Page) error {
	if err := s.watch(p); err != nil {
		return err
	}
	if err := press(p, "btn-stats"); err != nil {
		return err
	}
	// Below the figures, wherever the picture lies.
	type spot struct{ X, Y float64 }
	at, err := desk.Eval[spot](p, "(v => ({ X: v.left + v.width / 3, Y: v.top + v.height * 0.8 }))(nearglass.view)")
	if err != nil {
		return err
	}
	if err := p.Click(desk.Left, at.X, at.Y); err != nil {
		return err
	}
	if err := p.Run("document.querySelector('[data-testid=keyboard-input]').focus()"); err != nil {
		return err
	}
	for _, key := range [][2]string{{"KeyL", "l"}, {"KeyS", "s"}, {"Enter", "Enter"}} {
		if err := errors.Join(p.Key(key[0], key[1]), settle(p, 0.3)); err != nil {
			return err
		}
	}
	if err := p.Insert("for f in docs/[BC]*.md; do fmt -w 58 $f | while IFS= read -r l; do echo \"$l\"; sleep .03; done; done"); err != nil {
		return err
	}
	if err := errors.Join(settle(p, 1), p.Key("Enter", "Enter")); err != nil {
		return err
	}
	return settle(p, 9)
}

// keys watches the terminal with the strip of keys open.
func (s *studio) keys(p *desk.Page) error {
	if err := s.show(p, fmt.Sprintf("window:0x%x", s.scene.terminal)); err != nil {
		return err
	}
	if err := press(p, "btn-keys"); err != nil {
		return err
	}
	if err := p.Run("document.querySelector('[data-testid=keyboard-input]').focus()"); err != nil {
		return err
	}
	if err := p.Insert("echo typed on a phone"); err != nil {
		return err
	}
	if err := p.Key("Enter", "Enter"); err != nil {
		return err
	}
	return settle(p, 2)
}

func press(p *desk.Page, testid string) error {
	return p.Run("document.querySelector('[data-testid=" + testid + "]').click()")
}
