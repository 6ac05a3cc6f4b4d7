package encode

import "math"

// search chooses how far the encoder looks for motion. A wide search finds fast
// scrolls, which come out half to a quarter as large; for smooth motion it finds
// what a narrow one finds and takes a quarter more time. So the one that is not
// in force is tried now and then, on one picture, and takes over where it is
// better: the narrow one if its picture is hardly larger, the wide one if its
// picture is clearly smaller. A picture that comes out much larger than those
// before, as when a scroll begins, calls for a trial at once.
type search struct {
	wide     bool    // in force
	cost     float64 // bytes of a picture with it, brought to one QP; 0: unknown
	pictures int     // since the last trial
	wait     int     // so many until the next
	trial    bool    // this picture is one
	counts   bool    // this picture says something about motion
}

// Chosen on pages that slide by 1 to 120 pixels a picture at 57 a second.
const (
	firstTrial  = 12  // pictures: a fifth of a second
	rarestTrial = 480 // pictures: a trial that keeps failing costs nothing that shows
	hardlyMore  = 1.1 // of the wide search's bytes are worth the narrow one's time
	clearlyLess = 0.8 // of the narrow search's bytes are worth the wide one's time
	surprising  = 1.5 // times the cost so far
	// largePart of a picture has to change before its motion tells much.
	largePart = 8
	// qpHalving is the QP difference at which new text takes half the bytes.
	qpHalving = 12
)

func newSearch() search { return search{wide: true, wait: firstTrial} }

// choose says whether to search the next picture widely. Of a whole picture so
// many pixels changed.
func (s *search) choose(changed, whole int) bool {
	s.counts = changed*largePart >= whole
	if !s.counts {
		return s.wide
	}
	s.pictures++
	s.trial = s.pictures >= s.wait
	return s.wide != s.trial
}

// done learns from the picture that was searched as chosen.
func (s *search) done(qp, sizeBytes int) {
	if !s.counts {
		return
	}
	cost := float64(sizeBytes) * math.Exp2(float64(qp)/qpHalving)
	if s.trial {
		s.judge(cost)
		return
	}
	if !s.wide && s.cost > 0 && cost > surprising*s.cost {
		s.wait = s.pictures + 1
	}
	// A rise counts at once, a fall by and by.
	s.cost = max(cost, s.cost+(cost-s.cost)/4)
}

// judge ends a trial of the search that is not in force.
func (s *search) judge(cost float64) {
	enough := s.cost * hardlyMore
	if !s.wide {
		enough = s.cost * clearlyLess
	}
	s.trial, s.pictures = false, 0
	if cost > enough {
		s.wait = min(max(2*s.wait, firstTrial), rarestTrial)
		return
	}
	s.wide, s.cost, s.wait = !s.wide, cost, firstTrial
}
