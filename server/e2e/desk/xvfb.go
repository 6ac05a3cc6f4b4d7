package desk

import (
	"bufio"
	"context"
	"fmt"
	"image"
	"os"
	"strconv"
	"strings"
	"time"
)

// Screen says what Xvfb shall show. Width and Height in pixels are also the
// most that Resize can reach; zero means 1920 by 1080. Number is the display
// number; zero takes a free one.
type Screen struct {
	Width, Height int
	Number        int
}

// X is a running Xvfb with 24 bits a pixel. Its methods are not safe for
// concurrent use, except Name.
type X struct {
	screen Screen
	ctx    context.Context // of StartXvfb; Restart starts under it again
	proc   *Process
	modes  map[image.Point]bool
	names  []string // monitors that SetMonitors made
}

// StartXvfb starts an X server and waits until it answers. The server keeps
// its state when the last client leaves, as a desktop's does.
func StartXvfb(ctx context.Context, s Screen) (*X, error) {
	if s.Width == 0 || s.Height == 0 {
		s.Width, s.Height = 1920, 1080
	}
	x := &X{screen: s, ctx: ctx}
	return x, x.start()
}

func (x *X) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	args := []string{"-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", x.screen.Width, x.screen.Height),
		"-nolisten", "tcp", "-noreset", "+extension", "Composite", "-dpi", "96"}
	if x.screen.Number != 0 {
		args = append([]string{":" + strconv.Itoa(x.screen.Number)}, args...)
	}
	x.modes, x.names = map[image.Point]bool{}, nil
	x.proc, err = Start(x.ctx, Command{Name: "Xvfb", Args: args, ExtraFiles: []*os.File{w}})
	w.Close()
	if err != nil {
		return err
	}
	number, err := readNumber(r)
	if err != nil {
		x.proc.Stop()
		return fmt.Errorf("start Xvfb: %w; it said last:\n%s", err, x.proc.Output.Tail(20))
	}
	x.screen.Number = number
	return nil
}

// readNumber reads the line with the display number that Xvfb writes when it
// is ready. The line comes in pieces, and Xvfb ends when nobody reads the last.
func readNumber(r *os.File) (int, error) {
	_ = r.SetReadDeadline(time.Now().Add(20 * time.Second))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("no display number: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

// Name is the display's name, such as ":7".
func (x *X) Name() string { return ":" + strconv.Itoa(x.screen.Number) }

// Close ends the server, and with it every program on it.
func (x *X) Close() { x.proc.Stop() }

// Kill ends the server as a crash would.
func (x *X) Kill() {
	x.proc.Kill()
	// A killed server leaves these behind, and the next one would be refused.
	_ = os.Remove(fmt.Sprintf("/tmp/.X%d-lock", x.screen.Number))
	_ = os.Remove(fmt.Sprintf("/tmp/.X11-unix/X%d", x.screen.Number))
}

// Restart starts a fresh server under the same name after Close or Kill.
func (x *X) Restart() error { return x.start() }
