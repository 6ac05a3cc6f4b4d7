package capture

import (
	"image"
	"strings"
	"time"
	"unicode/utf8"
)

// field shows what is typed. Keys are read as on a US keyboard, because the
// demo has no layout of its own; text arrives as it is.
type field struct {
	area  image.Rectangle
	text  string
	shift map[string]bool // shift keys that are held, by their codes
}

// fieldLimit bounds the text, in bytes; older text is dropped first.
const fieldLimit = 2000

func (f *field) tick(time.Time) image.Rectangle { return image.Rectangle{} }

func (f *field) input(e demoEvent) image.Rectangle {
	switch e.kind {
	case eventText:
		f.text += e.text
	case eventKey:
		if !f.key(e.code, e.down) {
			return image.Rectangle{}
		}
	default:
		return image.Rectangle{}
	}
	for len(f.text) > fieldLimit {
		_, n := utf8.DecodeRuneInString(f.text)
		f.text = f.text[n:]
	}
	return f.area
}

// key applies one key and reports whether the text changed.
func (f *field) key(code string, down bool) bool {
	if code == "ShiftLeft" || code == "ShiftRight" {
		f.shift[code] = down
		return false
	}
	if !down {
		return false
	}
	if code == "Backspace" {
		_, n := utf8.DecodeLastRuneInString(f.text)
		f.text = f.text[:len(f.text)-n]
		return n > 0
	}
	s := keyText(code, f.shift["ShiftLeft"] || f.shift["ShiftRight"])
	f.text += s
	return s != ""
}

// usKeys gives the characters of a key without and with shift.
var usKeys = map[string]string{
	"Space": "  ", "Enter": "\n\n", "NumpadEnter": "\n\n", "Minus": "-_", "Equal": "=+", "BracketLeft": "[{",
	"BracketRight": "]}", "Backslash": "\\|", "Semicolon": ";:", "Quote": "'\"", "Backquote": "`~",
	"Comma": ",<", "Period": ".>", "Slash": "/?",
	"Digit1": "1!", "Digit2": "2@", "Digit3": "3#", "Digit4": "4$", "Digit5": "5%",
	"Digit6": "6^", "Digit7": "7&", "Digit8": "8*", "Digit9": "9(", "Digit0": "0)",
}

func keyText(code string, shift bool) string {
	if letter, ok := strings.CutPrefix(code, "Key"); ok && len(letter) == 1 {
		if shift {
			return letter
		}
		return strings.ToLower(letter)
	}
	pair, ok := usKeys[code]
	if !ok {
		return ""
	}
	if shift {
		return pair[1:]
	}
	return pair[:1]
}

func (f *field) bounds() image.Rectangle { return f.area }

func (f *field) paint(p painter) {
	p = painter{p.dst.SubImage(f.area).(*image.RGBA)}
	p.round(f.area, 8, colorLine)
	p.round(f.area.Inset(1), 7, colorPaper)
	x, y := f.area.Min.X+14, f.area.Min.Y+26
	if f.text == "" {
		p.text(fonts().body, x+7, y, colorQuiet, "Type something")
	}
	lines := wrap(f.text, f.area.Dx()-32)
	const lineHeight = 22
	if room := (f.area.Dy() - 16) / lineHeight; len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	for i, line := range lines {
		p.text(fonts().body, x, y+i*lineHeight, colorInk, line)
	}
	last := len(lines) - 1
	cx, cy := x+textWidth(fonts().body, lines[last])+1, y+last*lineHeight
	p.fill(image.Rect(cx, cy-15, cx+2, cy+4), colorAccent)
}

// wrap breaks the text into lines of at most width pixels; there is always one.
func wrap(text string, width int) []string {
	var lines []string
	for _, paragraph := range strings.Split(text, "\n") {
		start, used := 0, 0
		for i, r := range paragraph {
			advance, _ := fonts().body.GlyphAdvance(r)
			if used+advance.Ceil() > width {
				lines = append(lines, paragraph[start:i])
				start, used = i, 0
			}
			used += advance.Ceil()
		}
		lines = append(lines, paragraph[start:])
	}
	return lines
}

// readout names the newest input, so that none goes without an answer.
type readout struct {
	area image.Rectangle
	line string
}

func (r *readout) tick(time.Time) image.Rectangle { return image.Rectangle{} }

func (r *readout) input(e demoEvent) image.Rectangle {
	r.line = e.describe()
	return r.area
}

func (r *readout) bounds() image.Rectangle { return r.area }

func (r *readout) paint(p painter) {
	p.text(fonts().small, r.area.Min.X+14, r.area.Min.Y+18, colorLine, r.line)
}
