package losslab

import (
	"slices"
	"time"
)

// How a receiver asks for what it misses: libwebrtc's NackRequester.
const (
	nackTries = 10
	// nackPause is the round trip that a browser takes for granted which only
	// receives (kDefaultRttMs): it is not told.
	nackPause = 100 * time.Millisecond
)

// asks knows which packets are missing.
type asks struct {
	highest int64 // media number of the newest packet; 0: none came
	missing []ask // in order
}

// ask is one missing packet.
type ask struct {
	media int64
	due   time.Time
	tries int
	// held is one whose gap padding has shown: the request waits in a buffer until
	// something with a payload comes, or its time for another has.
	held bool
}

// arrived notes a packet. A resent one shows no gap.
func (a *asks) arrived(now time.Time, media int64, payload, resent bool) {
	a.missing = slices.DeleteFunc(a.missing, func(m ask) bool { return m.media == media })
	if a.highest == 0 {
		a.highest = media
	}
	if !resent {
		for n := a.highest + 1; n < media; n++ {
			a.missing = append(a.missing, ask{media: n, due: now.Add(nackPause), held: true})
		}
		a.highest = max(a.highest, media)
	}
	for i := range a.missing {
		if m := &a.missing[i]; payload && m.held {
			m.held, m.due = false, now
		}
	}
}

// passed forgets all up to a packet: the stream goes on without them.
func (a *asks) passed(media int64) {
	a.missing = slices.DeleteFunc(a.missing, func(m ask) bool { return m.media <= media })
}

// take lists what is asked for now.
func (a *asks) take(now time.Time) []uint16 {
	var list []uint16
	for i := range a.missing {
		if m := &a.missing[i]; !now.Before(m.due) {
			list = append(list, uint16(m.media))
			m.tries++
			m.due, m.held = now.Add(nackPause), false
		}
	}
	a.missing = slices.DeleteFunc(a.missing, func(m ask) bool { return m.tries >= nackTries })
	return list
}

// due is when something is to be asked for; zero for never.
func (a *asks) due() (at time.Time) {
	for i := range a.missing {
		at = earliest(at, a.missing[i].due)
	}
	return at
}

// earliest gives the earlier of two times; the zero time means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
