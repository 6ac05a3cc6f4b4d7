package main

import (
	"fmt"
	"html/template"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"nearglass/server/e2e/desk"
)

// article is what the browser in the scene shows.
type article struct {
	Title string
	Live  bool // with a drawing that moves
	Parts []part
}

// part is a heading or a paragraph.
type part struct{ Heading, Text string }

// openPages shows two pages in windows of a browser on the scene's desktop.
func (s *scene) openPages() error {
	rationale, err := rationale()
	if err != nil {
		return err
	}
	tides := article{Title: "Tides", Live: true, Parts: []part{
		{Text: "The curve is the sum of two waves, one that follows the moon and one that follows the sun. The dot runs along it, one day in half a minute, so that something on this desktop always moves."},
		{Heading: "Spring and neap"},
		{Text: "When the two waves are in step the water comes highest, and a week later, when they are not, it hardly moves. The moon's wave takes 12 hours and 25 minutes, the sun's 12 hours."},
		{Text: "The page is drawn by a browser on the desktop, then captured, encoded, sent, and shown by the browser that you look at."},
	}}
	if err := s.openPage("tides", tides, image.Rect(600, 48, 1400, 760)); err != nil {
		return err
	}
	return s.openPage("rationale", rationale, image.Rect(1480, 48, 2180, 850))
}

// openPage writes a page and opens it at a place on the desktop.
func (s *scene) openPage(name string, a article, at image.Rectangle) error {
	file := filepath.Join(s.dir, name+".html")
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	page, err := template.ParseFS(sceneFiles, "scene/page.html")
	if err != nil {
		return err
	}
	if err := page.Execute(f, a); err != nil {
		return err
	}
	if _, err := s.start(browserName(), "--app=file://"+file, "--user-data-dir="+filepath.Join(s.dir, "profile"), "--no-sandbox",
		"--no-first-run", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--test-type",
		"--hide-scrollbars", "--password-store=basic"); err != nil {
		return err
	}
	return s.place("^"+a.Title+"$", at)
}

// browserName is the browser that is there, under one of its names.
func browserName() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return "google-chrome-stable"
}

// place moves and sizes the window with this title.
func (s *scene) place(title string, at image.Rectangle) error {
	id, err := desk.FindWindow(s.ctx, s.x.Name(), title)
	if err != nil {
		return err
	}
	window := strconv.Itoa(int(id))
	for _, step := range []struct {
		verb string
		to   image.Point
	}{{"windowsize", at.Size()}, {"windowmove", at.Min}} {
		if _, err := desk.Xdotool(s.ctx, s.x.Name(), step.verb, window, strconv.Itoa(step.to.X), strconv.Itoa(step.to.Y)); err != nil {
			return fmt.Errorf("place %s: %w", title, err)
		}
	}
	return nil
}

// rationale reads the page that says why nearglass is as it is.
func rationale() (article, error) {
	data, err := os.ReadFile("docs/RATIONALE.md")
	if err != nil {
		return article{}, err
	}
	a := article{Title: "Rationale"}
	for _, block := range strings.Split(string(data), "\n\n") {
		block = strings.TrimSpace(block)
		if heading, ok := strings.CutPrefix(block, "## "); ok {
			a.Parts = append(a.Parts, part{Heading: plain(heading)})
		} else if !strings.HasPrefix(block, "# ") {
			a.Parts = append(a.Parts, part{Text: plain(block)})
		}
	}
	return a, nil
}

// plain drops the marks for code.
func plain(markdown string) string { return strings.ReplaceAll(markdown, "`", "") }
