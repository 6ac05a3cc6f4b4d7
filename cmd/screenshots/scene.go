package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strconv"

	"nearglass/server/e2e/desk"
)

//go:embed scene
var sceneFiles embed.FS

// The two monitors of the scene, in pixels of the screen.
var (
	left  = desk.Monitor{Name: "eDP-1", Rect: image.Rect(0, 0, 1440, 900)}
	right = desk.Monitor{Name: "DP-1", Rect: image.Rect(1440, 0, 2640, 900)}
)

// scene is a desktop of real programs.
type scene struct {
	ctx       context.Context
	x         *desk.X
	dir       string
	wallpaper *desk.Window
	terminal  uint32 // X window of the terminal to type into
}

func setScene(ctx context.Context) (*scene, error) {
	dir, err := os.MkdirTemp("", "nearglass-scene-")
	if err != nil {
		return nil, err
	}
	s := &scene{ctx: ctx, dir: dir}
	s.x, err = desk.StartXvfb(ctx, desk.Screen{Width: right.Rect.Max.X, Height: right.Rect.Max.Y})
	if err != nil {
		s.close()
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return s.x.SetMonitors(left, right) }, s.paintWallpaper, s.startManager, s.openPages, s.openTerminals, s.openClock,
	} {
		if err := step(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// close ends the X server, and with it the programs.
func (s *scene) close() {
	if s.wallpaper != nil {
		s.wallpaper.Close()
	}
	if s.x != nil {
		s.x.Close()
	}
	_ = os.RemoveAll(s.dir)
}

// paintWallpaper shows a window of the kind that holds a desktop's background,
// before there is a window manager that would give it a frame.
func (s *scene) paintWallpaper() error {
	area := image.Rectangle{Max: right.Rect.Max}
	w, err := desk.OpenWindow(s.x.Name(), area, "wallpaper")
	if err != nil {
		return err
	}
	s.wallpaper = w
	_, err = desk.Run(s.ctx, desk.Command{Name: "xprop", Env: s.env(), Args: []string{
		"-id", strconv.Itoa(int(w.ID)), "-f", "_NET_WM_WINDOW_TYPE", "32a",
		"-set", "_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_DESKTOP"}})
	if err != nil {
		return err
	}
	const step = 4
	for y := 0; y < area.Dy(); y += step {
		t := float64(y) / float64(area.Dy())
		c := color.RGBA{R: fade(0x14, 0x3d, t), G: fade(0x2f, 0x76, t), B: fade(0x44, 0x86, t), A: 0xff}
		w.Fill(image.Rect(0, y, area.Dx(), y+step), c)
	}
	return nil
}

func fade(from, to uint8, t float64) uint8 {
	return uint8(float64(from) + t*(float64(to)-float64(from)))
}

// env is the environment of the scene's programs.
func (s *scene) env() []string {
	return []string{"DISPLAY=" + s.x.Name(), "WAYLAND_DISPLAY=", "LC_ALL=C.UTF-8", "HOME=" + s.dir, "XDG_DATA_HOME=" + s.dir, "XDG_CONFIG_HOME=" + s.dir}
}

func (s *scene) start(name string, args ...string) (*desk.Process, error) {
	return desk.Start(s.ctx, desk.Command{Name: name, Args: args, Env: s.env(), Dir: s.dir})
}

// startManager starts openbox with the scene's own theme.
func (s *scene) startManager() error {
	theme := filepath.Join(s.dir, "themes", "Pane", "openbox-3")
	if err := errors.Join(os.MkdirAll(theme, 0o755), s.unpack("rc.xml", s.dir), s.unpack("themerc", theme)); err != nil {
		return err
	}
	if _, err := s.start("openbox", "--sm-disable", "--config-file", filepath.Join(s.dir, "rc.xml")); err != nil {
		return err
	}
	return desk.Poll(s.ctx, "openbox to manage the windows", func() (bool, error) {
		out, err := desk.Run(s.ctx, desk.Command{Name: "xprop", Args: []string{"-root", "_NET_CLIENT_LIST"}, Env: s.env()})
		return err == nil && len(out) > len("_NET_CLIENT_LIST(WINDOW): window id # "), nil
	})
}

func (s *scene) unpack(name, dir string) error {
	data, err := sceneFiles.ReadFile("scene/" + name)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), data, 0o600)
}

// openTerminals shows two shells that look around in the source; whoever
// watches can type into them.
func (s *scene) openTerminals() error {
	if _, err := s.terminalAt(image.Pt(40, 306), "62x29", "Terminal", "ls", "wc -l docs/*.md", "fmt -w 60 docs/ARCHITECTURE.md | head -n 8"); err != nil {
		return err
	}
	w, err := s.terminalAt(image.Pt(2208, 48), "48x42", "Packages", "go list ./gpu/... ./server/...", "ls docs", "wc -l docs/*.md")
	s.terminal = w
	return err
}

// terminalAt opens a terminal in which commands have run at a prompt.
func (s *scene) terminalAt(at image.Point, size, title string, commands ...string) (uint32, error) {
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	script := "clear; "
	for _, c := range commands {
		script += fmt.Sprintf("printf '\\033[36mnearglass\\033[0m $ %%s\\n' %q; %s; ", c, c)
	}
	script += `PS1='\[\e[36m\]nearglass\[\e[0m\] $ ' exec bash --norc`
	_, err = desk.Start(s.ctx, desk.Command{Name: "xterm", Dir: root, Env: append(s.env(), goEnv()...), Args: []string{
		"-u8", "-T", title, "-geometry", fmt.Sprintf("%s+%d+%d", size, at.X, at.Y), "+bc", "+sb", "-b", "10",
		"-fa", "DejaVu Sans Mono", "-fs", "10", "-bg", "#101a21", "-fg", "#d8e2e7", "-cr", "#62c3de",
		"-e", "bash", "--norc", "-c", script}})
	if err != nil {
		return 0, err
	}
	return desk.FindWindow(s.ctx, s.x.Name(), "^"+title+"$")
}

// goEnv lets the go command find its caches, which lie in the home folder.
func goEnv() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{"HOME=" + home}
}

func (s *scene) openClock() error {
	if _, err := s.start("xclock", "-title", "Clock", "-geometry", "196x196+40+48", "-update", "1", "-bg", "#fbfaf7", "-fg", "#22303c",
		"-hd", "#22303c", "-hl", "#22303c", "-padding", "14"); err != nil {
		return err
	}
	_, err := desk.FindWindow(s.ctx, s.x.Name(), "^Clock$")
	return err
}
