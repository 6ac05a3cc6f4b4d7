package encode

import "testing"

// motion is a kind of content: what a picture takes by either search.
type motion struct {
	pictures                int
	wideBytes, narrowBytes  int
	changed                 int // pixels of 1,000
	wantWide                bool
	mostTrials, mostSettles int
}

func TestSearchFitsTheMotion(t *testing.T) {
	for name, story := range map[string][]motion{
		"smooth motion":     {{pictures: 600, wideBytes: 14_000, narrowBytes: 14_600, changed: 1000, mostTrials: 10, mostSettles: 30}},
		"a fast scroll":     {{pictures: 600, wideBytes: 64_000, narrowBytes: 130_000, changed: 1000, wantWide: true, mostTrials: 6, mostSettles: 30}},
		"small updates":     {{pictures: 600, wideBytes: 900, narrowBytes: 900, changed: 20, wantWide: true}},
		"a scroll begins":   {{pictures: 300, wideBytes: 14_000, narrowBytes: 14_600, changed: 1000, mostTrials: 8, mostSettles: 30}, {pictures: 300, wideBytes: 64_000, narrowBytes: 130_000, changed: 1000, wantWide: true, mostTrials: 6, mostSettles: 3}},
		"a scroll subsides": {{pictures: 300, wideBytes: 64_000, narrowBytes: 130_000, changed: 1000, wantWide: true, mostTrials: 6, mostSettles: 30}, {pictures: 600, wideBytes: 14_000, narrowBytes: 14_600, changed: 1000, mostTrials: 12, mostSettles: 400}},
	} {
		s := newSearch()
		for i, m := range story {
			m.run(t, name, i, &s)
		}
	}
}

// run plays the motion and checks where the search settles, how soon, and how
// often it tried the other.
func (m motion) run(t *testing.T, name string, part int, s *search) {
	t.Helper()
	trials, settled := 0, 0
	for i := range m.pictures {
		before := s.wide
		far := s.choose(m.changed, 1000) == wide
		if far != before {
			trials++
		}
		size := m.narrowBytes
		if far {
			size = m.wideBytes
		}
		s.done(16+i%3, size) // a QP that moves a little is no motion
		if s.wide != m.wantWide {
			settled = i + 1
		}
	}
	if s.wide != m.wantWide {
		t.Errorf("%s, part %d: wide is %v at the end", name, part, s.wide)
	}
	if trials > m.mostTrials || settled > m.mostSettles {
		t.Errorf("%s, part %d: %d trials, right after %d pictures; want at most %d and %d", name, part, trials, settled, m.mostTrials, m.mostSettles)
	}
}

// A picture that is dropped and encoded again is searched narrowly only if the
// wide search found that it has nothing in common with the one before.
func TestSearchOfADroppedPicture(t *testing.T) {
	for name, c := range map[string]struct {
		scroll, dropped, changed int
		wantWide                 bool
	}{
		"a new scene":               {scroll: 10_000, dropped: 150_000, changed: 1000},
		"a scroll that became more": {scroll: 10_000, dropped: 30_000, changed: 1000, wantWide: true},
		"a small update":            {scroll: 10_000, dropped: 150_000, changed: 20, wantWide: true},
	} {
		s := newSearch()
		picture := func(changed, size int) bool {
			r := s.choose(changed, 1000)
			s.done(20, size)
			return r == wide
		}
		for range firstTrial / 2 {
			picture(1000, c.scroll)
		}
		picture(c.changed, c.dropped)
		s.repeat()
		if got := picture(c.changed, c.dropped/2); got != c.wantWide {
			t.Errorf("%s: again, wide is %v", name, got)
		}
		if !picture(1000, c.scroll) {
			t.Errorf("%s: the picture after it is searched narrowly too", name)
		}
	}
}

// A page that is flung after a rest is searched widely at once, and one that jumps under
// a narrow search is told from the others.
func TestSearchOfAPageThatIsFlung(t *testing.T) {
	s := newSearch()
	picture := func(changed, narrowBytes, wideBytes int) bool {
		if s.choose(changed, 1000) == wide {
			s.done(20, wideBytes)
			return true
		}
		s.done(20, narrowBytes)
		return false
	}
	for range 60 {
		picture(1000, 10_000, 10_000)
	}
	if s.wide {
		t.Fatal("a page that creeps is searched widely")
	}
	picture(0, 100, 100)
	if !picture(1000, 90_000, 15_000) || s.hasty {
		t.Error("the first picture after a rest is searched narrowly")
	}
	if picture(1000, 90_000, 15_000) || !s.hasty {
		t.Error("a narrow search that found nothing is not seen to be hasty")
	}
	if s.repeat(); !picture(1000, 90_000, 15_000) || s.hasty {
		t.Error("the picture is searched narrowly again")
	}
}

// A picture that takes much because there is more to see in it is not looked at twice
// each time, and one in which motion was missed still is.
func TestSearchDoubtsItsHaste(t *testing.T) {
	s := newSearch()
	picture := func(bytes int) bool {
		s.choose(1000, 1000)
		s.done(20, bytes)
		return s.hasty
	}
	for range 60 {
		picture(10_000)
	}
	hasty := 0
	for range 20 {
		if picture(18_000) {
			hasty++
			s.repeat()
			picture(17_500)
		}
		for range 8 {
			picture(10_000)
		}
	}
	if hasty == 0 || hasty > 2 {
		t.Errorf("%d of 20 pictures that show more are taken for hasty", hasty)
	}
	if !picture(60_000) {
		t.Error("a picture of six times the bytes is not")
	}
}
