package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nearglass/gpu/capture"
	"nearglass/server/e2e/desk"
)

// screen is an Xvfb whose framebuffer is a file mapped into this process: what
// stands on it is read without asking the server, so that reading it 2,000
// times a second costs neither side anything.
type screen struct {
	name   string // of the display
	size   image.Point
	proc   *desk.Process
	dir    string
	file   []byte
	pix    []byte // B, G, R, X
	stride int
}

// shownIn is where file systems in memory are; the framebuffer must not wait
// for a disk.
const shownIn = "/dev/shm"

func startScreen(ctx context.Context, size image.Point) (*screen, error) {
	root := shownIn
	if _, err := os.Stat(root); err != nil {
		root = ""
	}
	dir, err := os.MkdirTemp(root, "nearglass-bench-")
	if err != nil {
		return nil, err
	}
	s := &screen{size: size, dir: dir}
	if err := s.start(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *screen) start(ctx context.Context) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	s.proc, err = desk.Start(ctx, desk.Command{Name: "Xvfb", ExtraFiles: []*os.File{w}, Args: []string{
		"-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", s.size.X, s.size.Y), "-fbdir", s.dir,
		"-nolisten", "tcp", "-noreset", "+extension", "Composite", "-dpi", "96"}})
	w.Close()
	if err != nil {
		return err
	}
	_ = r.SetReadDeadline(time.Now().Add(20 * time.Second))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return fmt.Errorf("start Xvfb: %w; it said last:\n%s", err, s.proc.Output.Tail(10))
	}
	s.name = ":" + strings.TrimSpace(line)
	return s.open()
}

// open maps the framebuffer. The file is an XWD dump: a header of big-endian
// words, a color map of 12 bytes an entry, the pixels.
func (s *screen) open() error {
	var err error
	if s.file, err = mapFile(filepath.Join(s.dir, "Xvfb_screen0")); err != nil {
		return err
	}
	word := func(i int) int { return int(binary.BigEndian.Uint32(s.file[4*i:])) }
	const headerSize, bitsPerPixel, bytesPerLine, colors = 0, 11, 12, 19
	if word(bitsPerPixel) != 32 {
		return fmt.Errorf("the framebuffer has %d bits a pixel, not 32", word(bitsPerPixel))
	}
	s.stride = word(bytesPerLine)
	s.pix = s.file[word(headerSize)+12*word(colors):]
	if len(s.pix) < s.stride*s.size.Y {
		return fmt.Errorf("the framebuffer has %d bytes, not %d", len(s.pix), s.stride*s.size.Y)
	}
	return nil
}

// number reads the patch whose top left corner is at a place of the screen.
func (s *screen) number(at image.Point) (uint32, bool) {
	return capture.ReadPatch(s.pix[at.Y*s.stride+4*at.X:], s.stride)
}

// close ends the server and every program on it.
func (s *screen) close() {
	if s.proc != nil {
		s.proc.Stop()
	}
	if s.file != nil {
		unmap(s.file)
	}
	_ = os.RemoveAll(s.dir)
}
