package access

import (
	"net/netip"
	"time"
)

// The limits leave a person room to mistype and a guesser none: an address has
// freeTries, then waits lockFirst, doubled with every further miss. Whoever
// guesses from many addresses meets the limit for all: with eight codes open,
// thirty tries hit one of a million with a chance of 1 in 4,000, and then the
// codes are void.
const (
	freeTries     = 5
	lockFirst     = 30 * time.Second
	lockMost      = time.Hour
	forgetAfter   = 2 * time.Hour // an address without misses starts afresh
	maxAddresses  = 1024          // remembered at once; the least recent goes
	floodFailures = 30
	floodWindow   = 10 * time.Minute
)

type tries struct {
	misses int
	last   time.Time
	until  time.Time // locked before this
}

// limits counts wrong codes. The caller locks.
type limits struct {
	byAddr map[netip.Addr]tries
	recent []time.Time // misses within floodWindow, oldest first, at most floodFailures
}

func newLimits() limits { return limits{byAddr: map[netip.Addr]tries{}} }

// key folds an IPv6 address to its /64, which one machine owns whole.
func key(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		p, _ := a.Prefix(64)
		return p.Addr()
	}
	return a
}

// wait is how long this address is still locked.
func (l *limits) wait(now time.Time, a netip.Addr) time.Duration {
	return max(0, l.byAddr[key(a)].until.Sub(now))
}

// fail counts a miss. It returns the lock that follows and whether the misses
// of all addresses together have become a flood.
func (l *limits) fail(now time.Time, a netip.Addr) (locked time.Duration, flood bool) {
	k := key(a)
	t, known := l.byAddr[k]
	if now.Sub(t.last) > forgetAfter {
		t = tries{}
	}
	t.misses++
	t.last = now
	if t.misses >= freeTries {
		locked = lockMost
		if n := t.misses - freeTries; n < 7 { // 30 s doubled 7 times is above the most
			locked = lockFirst << n
		}
		t.until = now.Add(locked)
	}
	if !known && len(l.byAddr) >= maxAddresses {
		l.evict()
	}
	l.byAddr[k] = t
	return locked, l.flood(now)
}

func (l *limits) flood(now time.Time) bool {
	l.recent = append(l.recent, now)
	for len(l.recent) > 0 && now.Sub(l.recent[0]) > floodWindow {
		l.recent = l.recent[1:]
	}
	if len(l.recent) < floodFailures {
		return false
	}
	l.recent = nil
	return true
}

// evict drops the address that missed longest ago.
func (l *limits) evict() {
	var oldest netip.Addr
	for a, t := range l.byAddr {
		if !oldest.IsValid() || t.last.Before(l.byAddr[oldest].last) {
			oldest = a
		}
	}
	delete(l.byAddr, oldest)
}

func (l *limits) forget(a netip.Addr) { delete(l.byAddr, key(a)) }
