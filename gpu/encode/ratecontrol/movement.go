package ratecontrol

import "math"

// movement is what is known of large changes that follow each other. Its QP is
// held as long as it can be. A movement whose QP swings is worse than one at
// either end of the swing: what a sharper picture sends again, the next coarser
// one lets go. Measured on 720p at 5 Mbit/s, a film whose QP swung from 25 to
// 39 took 1.9 Mbit/s for 38.1 dB, where QP 26 throughout takes 1.8 for 38.7; a
// scroll 2.4 Mbit/s for 39.0 dB, where QP 26 takes 2.05 for 42.6.
type movement struct {
	qp      int
	density float64 // bytes a pixel at qp, on a reference of that QP
	peak    float64 // the most that density has been of late
	swing   float64 // how far pictures are from that, on the average, as a share
	// steps are the binary logarithms of what a QP takes over the next coarser
	// one, without what it sends again. They differ between contents and QPs: 0.08
	// in a scroll, 0.15 in a film, 1 where the film's grain begins to show.
	steps [endOfScale + 1]float64

	since    int     // pictures at qp
	expected float64 // density when qp was chosen
	from     int     // QP before
	worn     int     // pictures until the reference is as coarse as qp

	resent float64               // what stepping to qp sent again, over what a picture takes
	calm   int                   // QP steps that plans in a row could go sharper
	fails  [endOfScale + 1]uint8 // how often it had to leave this QP soon
}

const (
	// usualStep is a factor of two in eight steps.
	usualStep           = 1.0 / 8
	leastStep, mostStep = 0.03, 1.5
	stepWeight          = 0.5
	swingWeight         = 0.1
	densityRise         = 0.25
	densityFall         = 0.15
	leastSince          = 6    // pictures that tell a QP's bytes
	wornAfter           = 8    // pictures: so long a coarser QP lives on a sharper reference
	failedWithin        = 40   // pictures at a QP that are too few to have paid for it
	peakFade            = 0.99 // a picture
	tells               = 1.3  // times what was expected of a QP need no more pictures to tell
	mostFails           = 8
	cheapResend         = 0.25 // of a picture: going to and fro costs little
	calmSteps           = 2
)

func newMovement(qp int) movement {
	m := movement{qp: qp, from: qp, density: traits[steady].prior * scale(steady, qp), swing: 0.3}
	m.expected = m.density
	for q := range m.steps {
		m.steps[q] = usualStep
	}
	return m
}

// at is the density to expect at a QP.
func (m *movement) at(qp int) float64 {
	sum := 0.0
	for q := qp; q < m.qp; q++ {
		sum += m.steps[q]
	}
	for q := m.qp; q < qp; q++ {
		sum -= m.steps[q]
	}
	return m.density * math.Exp2(sum)
}

// turn goes on to another QP.
func (m *movement) turn(qp int) {
	if qp == m.qp {
		m.since++
		return
	}
	m.learnSteps()
	if qp > m.qp {
		m.worn = wornAfter
		if m.from > m.qp && m.since < failedWithin && m.resent > cheapResend {
			m.fails[m.qp] = min(m.fails[m.qp]+1, mostFails)
		}
	} else if m.since >= failedWithin {
		m.fails[m.qp] = 0
	}
	density := m.at(qp)
	m.density, m.peak = density, m.peak*density/m.density
	m.from, m.qp, m.since, m.expected, m.calm = m.qp, qp, 0, m.density, 0
}

// refuse notes that the first picture at a QP was too large to be sent.
func (m *movement) refuse(qp int) {
	m.calm = 0
	if qp == m.qp-1 {
		m.fails[qp] = min(m.fails[qp]+1, mostFails)
	}
}

// learnSteps lays what a QP took other than expected to the steps between it
// and the QP before.
func (m *movement) learnSteps() {
	low, high := min(m.qp, m.from), max(m.qp, m.from)
	told := m.since >= leastSince || m.density > tells*m.expected
	if !told || m.worn > 0 || low == high {
		return
	}
	miss := math.Log2(m.density/m.expected) / float64(high-low)
	if m.qp > m.from {
		miss = -miss
	}
	for q := low; q < high; q++ {
		m.steps[q] = min(max(m.steps[q]+stepWeight*miss, leastStep), mostStep)
	}
}

// learn takes a picture at qp, whose reference had it too.
func (m *movement) learn(density float64) {
	density = min(max(density, leastCoefficient), mostCoefficient)
	if m.worn > 0 {
		m.worn--
		if density < m.density {
			return
		}
	}
	off := math.Abs(density/m.density - 1)
	m.swing += swingWeight * (min(off, 1) - m.swing)
	weight := densityFall
	if density > m.density {
		weight = densityRise
	}
	m.density += weight * (density - m.density)
	m.peak = max(m.density, m.peak*peakFade)
}

// resume is for the first picture after a rest: a page that is turned again moves
// as fast as it began to move, not as slowly as it came to rest.
func (m *movement) resume() { m.density = max(m.density, m.peak) }

// restart is for other content at another QP: what failed there may do here.
func (m *movement) restart(qp int) {
	m.density = m.at(qp)
	m.peak = m.density
	m.qp, m.from, m.since, m.expected, m.calm, m.worn = qp, qp, 0, m.density, 0, 0
	m.fails = [endOfScale + 1]uint8{}
	for q := range m.steps {
		m.steps[q] += stepWeight * (usualStep - m.steps[q])
	}
}
