package ratecontrol

import "math"

// class separates pictures whose bytes for a changed pixel differ by more
// than any smoothing would follow.
type class uint8

const (
	// small changes under a quarter of the picture: typing, a caret, a menu.
	small class = iota
	// scene is a large change that follows none: another window, a page, or
	// the first step of a scroll, which cannot be told apart beforehand.
	scene
	// steady is a large change that follows another: scrolling, dragging,
	// a film. Motion search finds most of it.
	steady
	// key codes the whole picture from nothing.
	key
	// refine sends again what a coarser QP lost.
	refine
	// resent is the part of a movement that does so, when it gets sharper.
	resent
	classes
)

// referenceQP is where a coefficient is in plain bytes a pixel.
const referenceQP = 26

// traits of a class, measured with x264 on 1080p text, tiny text and grain at
// QP 14 to 48. Text halves every 12 to 14 QP, because its edges stay
// expensive, and so does refining it; what motion search leaves over halves
// faster, toward the 6 of theory.
var traits = [classes]struct {
	prior   float64 // bytes a pixel at referenceQP before anything is learned
	halving float64 // QP steps that halve the bytes
}{
	small:  {0.10, 12},
	scene:  {0.05, 12},
	steady: {0.02, 8},
	key:    {0.05, 12},
	refine: {0.05, 12},
	resent: {0.05, 12},
}

// Learning: a picture much larger than expected counts at once, because the
// next would overfill the link too. Everything else counts slowly, so that
// noise does not move the QP.
const (
	riseWeight = 0.7
	calmWeight = 0.2
	surprise   = 1.25
	// partWeight is for refinements, each of another part of the picture: a wall of
	// text says little of the empty page below it.
	partWeight = 0.5

	leastCoefficient = 1e-5
	mostCoefficient  = 4 // bytes a pixel: raw BGRA
)

// headBytes is what a picture with no changed macroblock takes: slice
// headers, the run of skipped macroblocks, and the packet that carries them.
const headBytes = 100

// model learns the bytes of each class.
type model struct{ coefficient [classes]float64 }

func newModel() model {
	var m model
	for c := range m.coefficient {
		m.coefficient[c] = traits[c].prior
	}
	return m
}

// scale is the bytes at qp relative to those at referenceQP.
func scale(c class, qp int) float64 {
	return math.Exp2(float64(referenceQP-qp) / traits[c].halving)
}

// change is the bytes of pixels new pixels at qp.
func (m *model) change(c class, pixels float64, qp int) float64 {
	return m.coefficient[c] * pixels * scale(c, qp)
}

// lost is the bytes of bringing a movement of so many pixels from one QP to a
// sharper one.
func (m *model) lost(pixels float64, from, to int) float64 {
	return m.coefficient[resent] * pixels * lostScale(from, to)
}

func lostScale(from, to int) float64 {
	return max(scale(refine, to)-scale(refine, from), 0)
}

// refineDensity is how much refining costs against coding anew, for the same
// pixels between the same two QPs: a wall of text from QP 42 to 25 took 310
// KB where its key picture foretold 220, from 30 to 20 it took 256 of 290.
const refineDensity = 1.2

// foresee takes what a picture of new content showed as the cost of refining
// it, of which it is a share: a dense page is dear at every QP.
func (m *model) foresee(from class, share float64) {
	for _, c := range []class{refine, resent} {
		m.coefficient[c] += share * (min(refineDensity*m.coefficient[from], mostCoefficient) - m.coefficient[c])
	}
}

// learn moves a coefficient toward what one picture showed: sizeBytes for
// unit, which is its pixels times its scale.
func (m *model) learn(c class, sizeBytes, unit float64) {
	if unit < 1 {
		return
	}
	seen := min(max(sizeBytes/unit, leastCoefficient), mostCoefficient)
	weight := calmWeight
	if c == refine {
		weight = partWeight
	}
	if seen > surprise*m.coefficient[c] {
		weight = riseWeight
	}
	m.coefficient[c] += weight * (seen - m.coefficient[c])
}

// teachWeight is how much one step of a movement says of the next: steps are rare,
// and each is of its own content.
const teachWeight = 0.5

// teach takes what a movement sent again.
func (m *model) teach(sizeBytes, unit float64) {
	if unit < 1 {
		return
	}
	seen := min(max(sizeBytes/unit, leastCoefficient), mostCoefficient)
	m.coefficient[resent] += teachWeight * (seen - m.coefficient[resent])
}
