package encode

import "math"

// search chooses how far the encoder looks for motion. A wide search finds fast
// scrolls, which come out half to a quarter as large; for smooth motion it finds
// what a narrow one finds and takes a quarter more time. So the one that is not
// in force is tried now and then, on one picture, and takes over where it is
// better: the narrow one if its picture is hardly larger, the wide one if its
// picture is clearly smaller. A picture that comes out much larger than those
// before, as when a scroll becomes faster, calls for a trial at once.
//
// A narrow search follows what a wide one has found, because it begins where the
// picture before went: a page that is flung needs the wide one at the begin. So that is
// what the first picture of each movement gets, which then says nothing about the other.
//
// A narrow search that was not surprised for half a second looks only at the next pixel
// on each side. At QP 28 that and the choice by a small film's own pixels took 7 % less
// CPU for scene changes and 2 % for a scroll, in the same bytes.
type search struct {
	wide     bool    // in force
	cost     float64 // bytes with it of a pixel that changed, brought to one QP; 0: unknown
	last     float64 // cost of the picture before
	changed  int     // pixels of this picture
	calm     int     // narrowly searched pictures since the last surprise
	pictures int     // since the last trial
	wait     int     // so many until the next
	trial    bool    // this picture is one
	counts   bool    // this picture says something about motion
	fresh    bool    // a wide search found nothing of this picture in the one before
	hasty    bool    // a narrow one found much less than in those before
	missed   float64 // cost of the hasty picture that is encoded again; 0: none is
	doubt    float64 // in surprises: they have to be so many times as large
	once     bool    // the next picture is the same again: narrowly, whatever is in force
	begins   bool    // this picture is the first of a movement, or one encoded again
	grown    bool    // what moves is much more than in the picture before
}

// reach is how far motion is looked for.
type reach int

const (
	near reach = iota
	narrow
	wide
)

// Chosen on pages that slide by 1 to 120 pixels a picture at 57 a second.
const (
	firstTrial  = 12  // pictures: a fifth of a second
	rarestTrial = 480 // pictures: a trial that keeps failing costs nothing that shows
	hardlyMore  = 1.1 // of the wide search's bytes are worth the narrow one's time
	clearlyLess = 0.8 // of the narrow search's bytes are worth the wide one's time
	surprising  = 1.5 // times the cost so far
	// mostDoubt, and how it grows with each picture that was hardly smaller when it was
	// searched widely: there was just more to see in it. One that was much smaller ends it.
	mostDoubt, moreDoubt = 3, 1.5
	// calmPictures after each other make a narrow search nearer still.
	calmPictures = 30
	// newScene is how many times the cost so far a picture takes that has
	// nothing in common with the one before: a new page of text 13 to 27 times
	// what one that scrolls does.
	newScene = 4
	// newPage is what it takes at least, in bytes a pixel brought to QP 0: a page that is
	// flung takes a quarter of that, but many times what one does that comes to rest.
	newPage = 0.25
	// largePart of a picture has to change before its motion tells much.
	largePart = 32
	// muchMore that changes than in the picture before is another movement.
	muchMore = 2
	// qpHalving is the QP difference at which new text takes half the bytes.
	qpHalving = 12
)

func newSearch() search { return search{wide: true, wait: firstTrial, doubt: 1} }

// choose says how far to search the next picture. Of a whole picture so many pixels
// changed.
func (s *search) choose(changed, whole int) reach {
	if s.once {
		s.once, s.counts = false, false
		return narrow
	}
	s.counts = changed*largePart >= whole
	if !s.counts {
		s.begins = true
		return s.inForce(s.wide)
	}
	s.grown = !s.begins && changed > muchMore*s.changed
	s.begins, s.changed = s.begins || s.grown, changed
	if s.begins {
		return wide
	}
	s.pictures++
	s.trial = s.pictures >= s.wait
	return s.inForce(s.wide != s.trial)
}

func (s *search) inForce(far bool) reach {
	switch {
	case far:
		return wide
	case s.wide || s.calm < calmPictures:
		return narrow
	}
	return near
}

// done learns from the picture that was searched as chosen.
func (s *search) done(qp, sizeBytes int) {
	s.fresh, s.hasty = false, false
	if !s.counts {
		return
	}
	cost := float64(sizeBytes) * math.Exp2(float64(qp)/qpHalving) / float64(s.changed)
	s.last = cost
	far := s.begins || s.wide != s.trial
	surprise := s.cost > 0 && cost > surprising*s.doubt*s.cost
	s.fresh = far && cost > newPage && (s.grown || s.cost > 0 && cost > newScene*s.cost)
	s.hasty = !far && surprise
	if s.calm++; s.wide || s.begins || surprise {
		s.calm = 0
	}
	switch {
	case s.begins:
		s.learn(cost)
		s.begins, s.grown, s.cost = false, false, max(cost, s.cost)
	case s.trial:
		s.judge(cost)
	default:
		if !s.wide && surprise {
			s.wait = s.pictures + 1
		}
		// A rise counts at once, a fall by and by.
		s.cost = max(cost, s.cost+(cost-s.cost)/4)
	}
}

// learn judges by the second encoding of a hasty picture whether the first was.
func (s *search) learn(cost float64) {
	switch {
	case s.missed == 0:
	case cost > clearlyLess*s.missed:
		s.doubt = min(moreDoubt*s.doubt, mostDoubt)
	default:
		s.doubt = 1
	}
	s.missed = 0
}

// repeat says that the picture was dropped and is encoded once more. Of a new
// scene the wide search has just found nothing: the narrow one takes a third of
// its time and 2 % more bytes. Of anything else the narrow one may have missed much.
func (s *search) repeat() {
	s.once, s.begins = s.fresh, !s.fresh
	if s.hasty {
		s.missed = s.last
	}
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
