package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"nearglass/gpu"
	"nearglass/gpu/encode"
)

// ccRecordCmd encodes desktop content and writes the sizes of its pictures, for
// the desktop rows of bench cc. It is run by hand when the encoder changes.
type ccRecordCmd struct {
	File string `help:"Where to write." default:"cc/lab/testdata/desktop.txt"`
}

// What is recorded: 720p, at the quality that the host gives motion.
var recordSize = image.Pt(1280, 720)

const (
	recordQP   = 26
	lineHeight = 18
)

// clip is one kind of content: paint changes the screen for picture n.
type clip struct {
	name     string
	pictures int
	paint    func(s *recordScreen, n int)
}

var recordedClips = []clip{
	{"idle", 120, func(s *recordScreen, n int) {
		if n%32 == 0 { // a caret blinks about twice a second
			s.box(image.Rect(400, 300, 402, 316), n/32%2 == 0)
		}
	}},
	{"typing", 600, (*recordScreen).typeKey},
	{"scroll", 300, func(s *recordScreen, n int) { s.scroll(6 + 4*(n/60%3)) }},
	{"animation", 300, (*recordScreen).animate},
	{"switch", 300, func(s *recordScreen, n int) {
		if n%60 == 30 { // another window comes to the front
			s.page(uint64(100 + n))
		}
	}},
}

// Run records all clips.
func (c ccRecordCmd) Run() error {
	var out strings.Builder
	fmt.Fprintf(&out, `# Bytes of pictures at 60 a second, encoded at QP %d from %dx%d by the project's
# encoder; 0: nothing changed and none was made. Written by "bench cc-record".
#
# idle: a blinking caret. typing: about eight keys a second. scroll: a page of
# text moves. animation: boxes move over a textured ground. switch: another
# window covers the screen once a second.
`, recordQP, recordSize.X, recordSize.Y)
	for _, c := range recordedClips {
		if err := c.record(&out); err != nil {
			return fmt.Errorf("record %s: %w", c.name, err)
		}
	}
	return os.WriteFile(c.File, []byte(out.String()), 0o644)
}

// record encodes one clip. The key frame at its start is left out.
func (c clip) record(out io.Writer) error {
	s := newRecordScreen()
	encoder, err := encode.Open(encode.Config{Size: recordSize})
	if err != nil {
		return err
	}
	defer encoder.Close()
	c.paint(s, 0)
	if _, err := s.encode(encoder); err != nil {
		return err
	}
	var sizes []string
	for n := range c.pictures {
		s.changed = false
		c.paint(s, n)
		size := 0
		if s.changed {
			if size, err = s.encode(encoder); err != nil {
				return err
			}
		}
		sizes = append(sizes, fmt.Sprint(size))
	}
	for i := 0; i < len(sizes); i += 15 {
		fmt.Fprintln(out, c.name, strings.Join(sizes[i:min(i+15, len(sizes))], " "))
	}
	return nil
}

// recordScreen is a desktop that is painted by rules.
type recordScreen struct {
	picture *image.RGBA
	tall    *image.RGBA // the page that scrolls
	texture *image.RGBA
	face    font.Face
	rand    *rand.Rand
	top     int
	caret   fixed.Point26_6
	changed bool
}

func newRecordScreen() *recordScreen {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // it is compiled in
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 14, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		panic(err)
	}
	s := &recordScreen{
		picture: image.NewRGBA(image.Rectangle{Max: recordSize}), face: face,
		tall: image.NewRGBA(image.Rect(0, 0, recordSize.X, 4*recordSize.Y)),
		rand: rand.New(rand.NewPCG(1, 1)), caret: fixed.P(60, 60),
	}
	s.texture = image.NewRGBA(image.Rect(0, 0, recordSize.X+64, recordSize.Y))
	for i := range s.texture.Pix {
		s.texture.Pix[i] = byte(96 + i/4%(recordSize.X+64)/16 + s.rand.IntN(24))
	}
	s.write(s.tall, 2)
	s.page(1)
	return s
}

// write fills a picture with lines of text.
func (s *recordScreen) write(dst *image.RGBA, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	paper := color.RGBA{byte(225 + r.IntN(30)), byte(225 + r.IntN(30)), 250, 255}
	draw.Draw(dst, dst.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	for y := lineHeight; y < dst.Rect.Max.Y; y += lineHeight {
		d := font.Drawer{Dst: dst, Src: image.Black, Face: s.face, Dot: fixed.P(30+30*r.IntN(3), y)}
		for end := r.IntN(dst.Rect.Max.X); d.Dot.X.Round() < end; {
			d.DrawString(word(r))
		}
	}
}

func word(r *rand.Rand) string {
	const letters = "etaoinshrdlucmfwypvbgkj"
	b := make([]byte, 1+r.IntN(9))
	for i := range b {
		b[i] = letters[min(r.IntN(len(letters)), r.IntN(len(letters)))]
	}
	return string(b) + " "
}

func (s *recordScreen) page(seed uint64) { s.write(s.picture, seed); s.changed = true }

func (s *recordScreen) box(r image.Rectangle, black bool) {
	ink := map[bool]image.Image{true: image.Black, false: image.White}[black]
	draw.Draw(s.picture, r, ink, image.Point{}, draw.Src)
	s.changed = true
}

// typeKey puts a letter on the screen about eight times a second.
func (s *recordScreen) typeKey(n int) {
	if n%7 != 0 || s.rand.IntN(8) == 0 {
		return
	}
	d := font.Drawer{Dst: s.picture, Src: image.Black, Face: s.face, Dot: s.caret}
	d.DrawString(word(s.rand)[:1])
	s.caret = d.Dot
	if s.caret.X.Round() > 600 {
		s.caret.X, s.caret.Y = fixed.I(60), s.caret.Y+fixed.I(lineHeight)
	}
	s.changed = true
}

// scroll moves the tall page, and back at its ends.
func (s *recordScreen) scroll(rows int) {
	s.top = (s.top + rows) % (2 * (s.tall.Rect.Max.Y - recordSize.Y))
	draw.Draw(s.picture, s.picture.Rect, s.tall, image.Pt(0, bounce(s.top, s.tall.Rect.Max.Y-recordSize.Y)), draw.Src)
	s.changed = true
}

// animate moves twelve boxes over a texture that drifts.
func (s *recordScreen) animate(n int) {
	draw.Draw(s.picture, s.picture.Rect, s.texture, image.Pt(bounce(n, 64), 0), draw.Src)
	for i := range 12 {
		at := image.Pt(bounce(i*97+n*(3+i), recordSize.X-160), bounce(i*53+n*(2+i%5), recordSize.Y-120))
		shade := image.NewUniform(color.RGBA{byte(i * 20), byte(255 - i*20), byte(n), 255})
		draw.Draw(s.picture, image.Rectangle{Min: at, Max: at.Add(image.Pt(160, 120))}, shade, image.Point{}, draw.Src)
	}
	s.changed = true
}

// encode gives the size of the present picture.
func (s *recordScreen) encode(e encode.Encoder) (int, error) {
	f := &gpu.Frame{Size: recordSize, Stride: s.picture.Stride, Format: gpu.BGRA, Captured: time.Now()}
	f.Pix = make([]byte, len(s.picture.Pix))
	for i := 0; i < len(f.Pix); i += 4 {
		f.Pix[i], f.Pix[i+1], f.Pix[i+2] = s.picture.Pix[i+2], s.picture.Pix[i+1], s.picture.Pix[i]
	}
	if err := e.Load(f); err != nil {
		return 0, err
	}
	au, err := e.Encode(encode.Order{QP: recordQP})
	return au.SizeBytes, err
}
