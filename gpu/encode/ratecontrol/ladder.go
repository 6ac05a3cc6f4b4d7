package ratecontrol

import (
	"fmt"
	"image"
	"time"
)

// Rung is a size that pictures are encoded at: the percent of the source's that
// either side has.
type Rung int

// FullSize is the highest rung.
const FullSize Rung = 100

// rungs from the source's own size down. Three quarters leave text readable; a
// half is where a smaller picture stops being one of a desktop.
var rungs = [...]Rung{FullSize, 75, 50}

// leastSide is the shortest side that is still made smaller, in pixels: what is
// smaller already costs little at any QP.
const leastSide = 128

// Size of the pictures at this rung for a source. Below the source's own they
// have even sides.
func (r Rung) Size(source image.Point) image.Point {
	if r >= FullSize || min(source.X, source.Y) < leastSide {
		return source
	}
	return image.Pt(r.side(source.X), r.side(source.Y))
}

// side is a share of what a decoder shows, which is even, and even itself.
func (r Rung) side(source int) int {
	coded := (source + 1) &^ 1
	return (coded*int(r)/100 + 1) &^ 1
}

// Coded is what a Ladder is told of a picture that was encoded.
type Coded struct {
	Kind Kind
	QP   int
	// SizeBytes of the picture, and AllowedBytes that the budget gave it.
	SizeBytes, AllowedBytes int
}

// LadderConfig of a Ladder. The zero value of each field means its default.
type LadderConfig struct {
	// TightQP is where the QP leaves nothing more to give, default 46, two
	// below the coarsest. Text that scrolls by whole pixels needs it that high:
	// motion search finds it at the source's own size only. Measured with x264
	// at 720p, 2.2 kB a picture at QP 44 had 21.8 dB, where three quarters of
	// the size took 3.3 for 16.3.
	TightQP int
	// EasyQP is where there is room for a larger picture, default TightQP less
	// 12: the same content at twice the pixels has to fit.
	EasyQP int
	// SharpestQP is what pictures in motion are held at although the link would
	// carry more: it always counts as easy. 0 is none.
	SharpestQP int
	// Fixed keeps the source's own size.
	Fixed bool
}

// Ladder chooses the size that pictures are encoded at. When the link carries
// even the coarsest pictures no more, for a while, smaller ones are made; after
// a quiet time they grow again, one rung at a time. It is used by one goroutine.
type Ladder struct {
	config LadderConfig
	rung   int
	reason string // of the last change

	strain time.Duration // how much longer pictures were tight than not
	last   time.Time     // of the last picture that counted
	quiet  time.Time     // since when all is easy
	wait   time.Duration // how long it has to be, to rise
	roseAt time.Time
}

const (
	// strainTime is how much longer pictures have to be tight than not. A scene
	// change every other second stays far below it, full motion reaches it
	// before anyone has found the words for what is wrong.
	strainTime = 1500 * time.Millisecond
	// countedGap is the most time that one picture speaks for.
	countedGap = 250 * time.Millisecond
	// oversize is how far over its budget a picture is tight, whatever its QP.
	oversize = 2
	// quietTime without a picture that was more than easy lets it rise.
	quietTime = 8 * time.Second
	// A fall so soon after a rise says that the rise was wrong: the next one
	// waits twice as long.
	regretTime   = 30 * time.Second
	longestQuiet = 2 * time.Minute
)

// NewLadder stands on the highest rung.
func NewLadder(c LadderConfig) *Ladder {
	c.TightQP = orDefault(c.TightQP, defaultMaxQP-2)
	c.EasyQP = max(orDefault(c.EasyQP, c.TightQP-12), c.SharpestQP)
	return &Ladder{config: c, wait: quietTime}
}

// Observe learns from a picture, after it was encoded. Refinements and key
// frames say nothing: they come when there is room, or when they have to.
func (l *Ladder) Observe(now time.Time, c Coded) {
	if l.quiet.IsZero() {
		l.quiet = now
	}
	if c.Kind != Motion {
		return
	}
	tight := c.QP >= l.config.TightQP || c.SizeBytes > oversize*c.AllowedBytes
	if tight || c.QP > l.config.EasyQP {
		l.quiet = now
	}
	l.count(now, tight)
}

// count adds the time since the picture before to the strain, or takes it off.
// In a pause nothing is tight.
func (l *Ladder) count(now time.Time, tight bool) {
	gap := now.Sub(l.last)
	if l.last.IsZero() || gap < 0 {
		gap = 0
	}
	l.last = now
	counted := min(gap, countedGap)
	l.strain -= gap - counted
	if !tight {
		l.strain -= counted
	}
	l.strain = max(l.strain, 0)
	if tight {
		l.strain += counted
	}
}

// Choose gives the rung for the next picture. It changes only here.
func (l *Ladder) Choose(now time.Time) Rung {
	switch {
	case l.config.Fixed:
	case l.strain >= strainTime && l.rung < len(rungs)-1:
		l.fall(now)
	case l.due(now):
		l.rise(now)
	}
	return rungs[l.rung]
}

func (l *Ladder) fall(now time.Time) {
	if !l.roseAt.IsZero() && now.Sub(l.roseAt) < regretTime {
		l.wait = min(2*l.wait, longestQuiet)
	} else {
		l.wait = quietTime
	}
	l.rung++
	l.reason = fmt.Sprintf("down to %d %%: pictures at QP %d or over their budget for %v", rungs[l.rung], l.config.TightQP, strainTime)
	l.strain, l.quiet = 0, now
}

func (l *Ladder) rise(now time.Time) {
	l.rung--
	l.reason = fmt.Sprintf("up to %d %%: quiet for %v", rungs[l.rung], l.wait)
	l.strain, l.quiet, l.roseAt = 0, now, now
}

func (l *Ladder) due(now time.Time) bool {
	at, ok := l.Deadline()
	return ok && !now.Before(at)
}

// Deadline is when pictures may grow, should nothing happen until then: a still
// screen does it by itself. It is false on the highest rung.
func (l *Ladder) Deadline() (time.Time, bool) {
	if l.rung == 0 || l.quiet.IsZero() {
		return time.Time{}, false
	}
	return l.quiet.Add(l.wait), true
}

// Reason says in words why the rung changed last; empty before the first time.
func (l *Ladder) Reason() string { return l.reason }
