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
	swing   float64 // how far pictures are from the one before, on the average, as a share
	// steps are the binary logarithms of what a QP takes over the next coarser
	// one, without what it sends again. They differ between contents and QPs: 0.08
	// in a scroll, 0.15 in a film, 1 where the film's grain begins to show.
	steps [endOfScale + 1]float64

	since    int     // pictures at qp
	expected float64 // density when qp was chosen
	from     int     // QP before
	noise    float64 // swing when qp was chosen
	told     bool    // what qp takes was learned
	newest   float64 // density of the picture that was learned last
	worn     int     // pictures until the reference is as coarse as qp

	resent float64               // what stepping to qp sent again, over what a picture takes
	spare  float64               // bytes that pictures left of their intervals since the last step
	fails  [endOfScale + 1]uint8 // how often it had to leave this QP soon, of late
	age    int                   // pictures
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
	mostFails           = 4
	forgets             = 120  // pictures after which one failure is forgotten
	cheapResend         = 0.25 // of a picture: going to and fro costs little
	calm                = 2    // pictures at a QP are the least before a sharper one
	mostSpare           = 64   // frame intervals of the link
	// dearStep is what a QP takes over the next coarser one, as a binary logarithm,
	// where it gives little for it: a film's grain begins to show.
	dearStep = 0.35
	// dearReach is how many QPs further on a movement still pays for such a step.
	dearReach = 3
	// even is the swing up to which a picture's bytes tell of its QP, and not of what it
	// shows; from uneven on they tell nothing.
	even, uneven = 0.25, 0.5
	// fairlyEven is the swing up to which what was learned before still tells of it: a page in
	// flight whose pictures differ by more than that has no dear steps.
	fairlyEven = 0.33
)

func newMovement(qp int) movement {
	m := movement{qp: qp, from: qp, density: traits[steady].prior * scale(steady, qp), swing: even}
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
	m.from, m.qp, m.since, m.expected, m.spare, m.noise, m.told = m.qp, qp, 0, m.density, 0, m.swing, false
}

// save notes what a picture left of its frame interval.
func (m *movement) save(interval, sizeBytes float64) {
	m.spare = min(max(m.spare+interval-sizeBytes, 0), mostSpare*interval)
	if m.age++; m.age%forgets == 0 {
		for q := range m.fails {
			m.fails[q] -= min(m.fails[q], 1)
		}
	}
}

// pays says whether enough was left of the link for what a sharper QP sends again.
func (m *movement) pays(qp int, carried float64) bool {
	return m.since >= calm && m.spare >= carried*float64(int(1)<<m.fails[qp])
}

// lost is how much of the detail that a coarser QP does not keep is gone already.
func (m *movement) lost() float64 { return 1 - float64(m.worn)/wornAfter }

// dear says whether the movement had better go back to the QP before, because this one
// takes more than so much of the link and far more than that. The fewer pictures tell, the
// more it has to be.
func (m *movement) dear(changed, most float64) bool {
	if m.from != m.qp+1 || m.since < calm || m.since > leastSince || m.noise > even || m.density*changed <= most {
		return false
	}
	sure := 1 + float64(leastSince-m.since)/leastSince
	return m.steps[m.qp]+math.Log2(m.density/m.expected) > sure*dearStep
}

// unclear says whether it may still turn out so.
func (m *movement) unclear() bool {
	return m.from == m.qp+1 && m.since < leastSince && m.noise <= even && m.newest > tells*m.expected
}

// retreat notes that the QP was dear, and gives the one to go back to.
func (m *movement) retreat() int {
	m.steps[m.qp] = min(m.steps[m.qp]+math.Log2(m.density/m.expected), mostStep)
	m.told = true
	return m.qp + 1
}

// below is the sharpest QP that is coarser than this one and than those next to it
// that were found to be dear; this one where none was.
func (m *movement) below(qp int) int {
	for q := min(qp+dearReach, endOfScale); m.swing <= fairlyEven && q >= qp; q-- {
		if m.steps[q] > dearStep {
			return q + 1
		}
	}
	return qp
}

// goBack is to a coarser QP that it had better not have left.
func (m *movement) goBack(to int) int {
	for q := m.qp; q < to; q++ {
		m.fails[q] = min(m.fails[q]+1, mostFails)
	}
	return to
}

// settled says whether it has been at its QP for long enough to go to one beyond a dear
// step: the longer, the more often it came back.
func (m *movement) settled(qp int) bool { return m.since >= failedWithin<<m.fails[qp] }

// refuse notes that the first picture at a QP was too large to be sent.
func (m *movement) refuse(qp int) {
	m.spare = 0
	if qp == m.qp-1 {
		m.fails[qp] = min(m.fails[qp]+1, mostFails)
	}
}

// learnSteps lays what a QP took other than expected to the steps between it
// and the QP before.
func (m *movement) learnSteps() {
	low, high := min(m.qp, m.from), max(m.qp, m.from)
	told := m.since >= leastSince || m.density > tells*m.expected
	if m.told || !told || m.worn > 0 || low == high {
		return
	}
	miss := math.Log2(m.density/m.expected) / float64(high-low)
	if m.qp > m.from {
		miss = -miss
	}
	weight := stepWeight * max(1-m.noise/uneven, 0)
	for q := low; q < high; q++ {
		m.steps[q] = min(max(m.steps[q]+weight*miss, leastStep), mostStep)
	}
}

// learn takes a picture at qp, whose reference had it too.
func (m *movement) learn(density float64) {
	density = min(max(density, leastCoefficient), mostCoefficient)
	before := m.newest
	m.newest = density
	if m.worn > 0 {
		m.worn--
		if density < m.density {
			return
		}
	}
	if m.since >= calm && before > 0 {
		off := math.Abs(density/before - 1)
		m.swing += swingWeight * (min(off, 1) - m.swing)
	}
	weight := densityFall
	if density > m.density {
		weight = densityRise
	}
	m.density += weight * (density - m.density)
	m.peak = max(m.density, m.peak*peakFade)
	if m.since >= leastSince && (m.qp < m.from || m.since >= wornAfter+leastSince) {
		m.learnSteps()
		m.told = true
	}
}

// resume is for the first picture after a rest: a page that is turned again moves
// as fast as it began to move, not as slowly as it came to rest.
func (m *movement) resume() { m.density = max(m.density, m.peak) }

// restart is for other content at another QP: what failed there may do here.
func (m *movement) restart(qp int) {
	m.density = m.at(qp)
	m.peak = m.density
	m.qp, m.from, m.since, m.expected, m.spare, m.worn, m.told = qp, qp, 0, m.density, 0, 0, false
	m.fails = [endOfScale + 1]uint8{}
	for q := range m.steps {
		m.steps[q] += stepWeight * (usualStep - m.steps[q])
	}
}
