package main

import (
	"os"
	"strings"

	"github.com/skip2/go-qrcode"
)

// qrFlag says when a QR code is drawn.
type qrFlag struct {
	QR string `name:"qr" help:"Draw a QR code: auto (on a terminal), always or never." default:"auto" enum:"auto,always,never"`
}

func (q qrFlag) wanted(out any) bool {
	if q.QR != "auto" {
		return q.QR == "always"
	}
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	s, err := f.Stat()
	return err == nil && s.Mode()&os.ModeCharDevice != 0
}

// drawQR draws a link as a QR code in half blocks, two modules a character,
// black on white whatever the terminal's colors: cameras need that way round.
func drawQR(link string) (string, error) {
	code, err := qrcode.New(link, qrcode.Medium)
	if err != nil {
		return "", err
	}
	dots := code.Bitmap() // with the quiet zone of four modules
	var b strings.Builder
	for y := 0; y < len(dots); y += 2 {
		b.WriteString("\x1b[38;5;16;48;5;231m")
		for x := range dots[y] {
			b.WriteString(halfBlock(dots[y][x], y+1 < len(dots) && dots[y+1][x]))
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String(), nil
}

// halfBlock shows two modules, one above the other; true is dark.
func halfBlock(upper, lower bool) string {
	switch {
	case upper && lower:
		return "█"
	case upper:
		return "▀"
	case lower:
		return "▄"
	}
	return " "
}
