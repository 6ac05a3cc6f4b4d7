// Package repair decides what becomes of pictures that a viewer lacks: whether
// their packets are sent again, whether the next picture is coded against one that
// the viewer has (a repair by reference, which costs a larger picture), or whether
// only a key frame helps.
//
// It serves viewers that take references from the packets (dependency
// descriptors): they go on with a picture as soon as they have it and what it
// refers to, whatever else is missing.
//
// The session tells a Keeper of each picture and of what the viewer says, and asks
// it after each of that. A Keeper has no clock, lock or goroutine.
//
//   - A few packets are sent again: nothing arrives sooner or takes less.
//   - Where that much is missing that sending it again would take longer than a
//     repair, where it was sent again and is still not there, or where the viewer
//     is silent for too long, the next picture refers to the newest that the
//     viewer is known to have, and those between are given up.
//   - In a silence, nothing more is coded after a repair, and that is sent again and
//     again: when the path is back it is there at once, and so is word of it.
//   - A repair is given the time to be confirmed before the next one. From the
//     second on, or where nothing at all is heard, nothing else is coded in between,
//     so that the picture that the viewer has stays in the picture buffer through
//     an outage.
//   - A key frame comes when no reference is left, and when a repair arrived and
//     is not shown: then the viewer does not do what it promised.
package repair

import "time"

// Config describes the stream.
type Config struct {
	// References is how many pictures the encoder and the decoder keep, as for
	// SetReferences.
	References int
	// Interval is the least time between two pictures.
	Interval time.Duration
	// NoResend says that nothing can be sent again: what the viewer asks for is
	// lost at once.
	NoResend bool
}

// Kind is what an Order asks for.
type Kind uint8

// Kinds of order.
const (
	None      Kind = iota // nothing
	Reference             // the next picture refers to Newest or an older one
	Key                   // the next picture is a key frame
)

// Order is what the encoder has to do for the viewer's sake.
type Order struct {
	Kind   Kind
	Newest uint64
	// Hold has it encode nothing after that until there is another order.
	Hold bool
}

// kept is how many of the newest pictures are remembered: a second at 120 a second,
// far more than references reach back.
const kept = 128

// picture is one that was coded.
type picture struct {
	frame, reference uint64 // reference 0: a key frame
	left             time.Time
	missing          int  // bytes that the viewer asked for again
	asked            bool // it asked for some
	resent           bool // and got them once more
	nudged           bool // it left once more although nobody asked for it
	unheard          bool // a silence came after it
	dropped          bool // some of it never left
	arrived          bool // all packets did
	has              bool // the viewer can decode it, and will
	given            bool // nothing refers to it any more
}

// wait is a repair that was ordered or sent.
type wait struct {
	newest  uint64    // it was ordered to refer to this or an older picture; 0: none is
	frame   uint64    // its number once it was coded
	arrived time.Time // when it was known to have arrived
}

// Keeper follows the pictures of one stream. The zero value is of no use: see New.
type Keeper struct {
	cfg      Config
	rtt      time.Duration
	delay    delay
	pictures []picture // in order
	usual    int       // bytes of a picture, about

	last     uint64    // the newest that was coded
	due      wait      // ordered and not coded yet
	keyDue   time.Time // when a key frame was ordered that is not coded yet; zero: none is
	repair   wait      // the newest that was coded
	needed   uint64    // the oldest that the viewer may still need
	attempts int       // orders since the viewer last had something new
	blind    bool      // the newest repair was ordered because nothing was heard
	instead  bool      // the newest repair comes instead of resends

	askedAt   time.Time // when the viewer last asked for a picture for the first time
	heard     time.Time // when the viewer last said something new
	silent    bool      // it should have long since
	repeatDue time.Time // in a silence, when the next repeat may leave

	shown   uint64 // the newest that the viewer showed
	speaks  bool   // it says what it shows
	strikes int    // repairs that arrived and were not shown, in a row
	off     bool
	// The repair that was the last strike, and the key frame after it; 0: none.
	struck, struckEnd uint64
	counts            Counts
}

// Counts are totals, for telemetry.
type Counts struct {
	Repairs int // pictures ordered to refer to an older one
	Keys    int // key frames ordered
	Unshown int // repairs that arrived and were not shown
}

// New returns a keeper of a stream that has not begun.
func New(c Config) *Keeper { return &Keeper{cfg: c, delay: newDelay()} }

// Active says whether losses are repaired here: the viewer says what it shows, and
// shows what it can decode.
func (k *Keeper) Active() bool { return k.speaks && !k.off }

// Broken says that the viewer does not show what it can decode: it ignores what the
// packets say of references, and only key frames help it. One that was only slow is
// believed again.
func (k *Keeper) Broken() bool { return k.off }

// Counts returns the totals.
func (k *Keeper) Counts() Counts { return k.counts }

// SetReferences tells how many pictures the encoder and the decoder keep from now
// on.
func (k *Keeper) SetReferences(n int) { k.cfg.References = n }

// SetRTT tells the round trip; zero and below is ignored.
func (k *Keeper) SetRTT(rtt time.Duration) {
	if rtt > 0 {
		k.rtt = rtt
	}
}

// Coded notes a picture that will be sent; reference 0 is a key frame. It says
// false, and notes nothing, for one that the viewer could not decode: it refers to
// one that is given up, and was coded before the encoder knew.
func (k *Keeper) Coded(frame, reference uint64, sizeBytes int) bool {
	k.last = frame
	if k.due.newest > 0 && reference > k.due.newest {
		return false
	}
	switch {
	case reference == 0:
		k.pictures = k.pictures[:0]
		k.keyDue, k.due, k.repair = time.Time{}, wait{}, wait{}
		k.needed = frame
		if k.struckEnd == 0 {
			k.struckEnd = frame
		}
	case k.due.newest > 0:
		k.giveUp(k.due.newest)
		k.repair, k.due = wait{newest: k.due.newest, frame: frame}, wait{}
	default:
		k.usual += (sizeBytes - k.usual) / 8
	}
	if len(k.pictures) == kept {
		k.pictures = append(k.pictures[:0], k.pictures[1:]...)
	}
	k.pictures = append(k.pictures, picture{frame: frame, reference: reference})
	return true
}

// Needed is the oldest picture that the viewer may still need besides what it has.
func (k *Keeper) Needed() uint64 { return k.needed }

// giveUp notes that nothing refers to the pictures after the newest any more.
func (k *Keeper) giveUp(newest uint64) {
	for i := range k.pictures {
		k.pictures[i].given = k.pictures[i].given || k.pictures[i].frame > newest
	}
}

// Left notes that the last packet of a picture left.
func (k *Keeper) Left(now time.Time, frame uint64) {
	if p := k.find(frame); p != nil {
		p.left = now
	}
	if frame == k.repair.frame && k.instead {
		k.needed = frame // until then what bridges it may wait to leave
	}
}

// Resent notes that a packet of a picture left once more. Where much was asked for, that
// takes its time, and what leaves last is not late before it can be there.
func (k *Keeper) Resent(now time.Time, frame uint64) {
	if p := k.find(frame); p != nil && p.asked && !k.silent {
		p.left = now
	}
}

// Dropped notes that a picture, or some of it, will not leave.
func (k *Keeper) Dropped(frame uint64) {
	if p := k.find(frame); p != nil {
		p.dropped = true
	}
}

// Resumed notes that the path was gone and is back: what left meanwhile is lost unless
// the viewer is known to have it, and no repair is worth waiting for.
func (k *Keeper) Resumed() {
	for i := range k.pictures {
		p := &k.pictures[i]
		p.dropped = p.dropped || !p.has && !p.left.IsZero()
	}
	k.attempts = 0
}

// find returns the picture; nil when it is not known.
func (k *Keeper) find(frame uint64) *picture {
	for i := len(k.pictures) - 1; i >= 0 && k.pictures[i].frame >= frame; i-- {
		if k.pictures[i].frame == frame {
			return &k.pictures[i]
		}
	}
	return nil
}

// Missing notes that the viewer asks for so many bytes of a picture. Resend then
// says, when all that it asks for is noted, whether to send them again.
func (k *Keeper) Missing(now time.Time, frame uint64, sizeBytes int) {
	p := k.find(frame)
	if p == nil || p.has {
		return
	}
	if !p.asked {
		p.asked, p.left, k.askedAt = true, now, now
		k.hear(now)
	}
	p.missing = sizeBytes
}

// Resend says whether to send again what the viewer asks for of a picture.
func (k *Keeper) Resend(now time.Time, frame uint64) bool {
	p := k.find(frame)
	switch {
	case !k.Active():
		return true
	case p == nil || p.given && k.instead || k.cfg.NoResend:
		return false
	case k.repairable(k.last+1) && !k.waiting(now) && k.tooMuch() && !k.bridges(p):
		return false
	}
	p.resent = true
	return true
}

// bridges says whether a picture is sent again although a repair comes: the oldest that
// the viewer asks for, if it is no larger than most. It is there first, for it leaves
// while the next picture is waited for and encoded, and what is shown stands still for
// less. Older ones that are not known to have arrived it may have: its word of them was lost.
func (k *Keeper) bridges(p *picture) bool {
	for i := range k.pictures {
		if o := &k.pictures[i]; o.asked && !o.has && !o.given {
			return p == o && p.missing <= max(leastWorth, k.usual+k.usual/2)
		}
	}
	return false
}

// repairWorth is what a repair takes, in pictures as they usually are: 12 KB where
// those have 4 (Chromium, 720p text that scrolls).
const repairWorth = 3

// leastWorth bounds that below, in bytes: a burst of six packets leaves at once at
// any rate, and no repair takes less time.
const leastWorth = 7000

// tooMuch says whether a repair would be there before all that is missing.
func (k *Keeper) tooMuch() bool {
	sum := 0
	for i := range k.pictures {
		if p := &k.pictures[i]; !p.has && !p.given {
			sum += p.missing
		}
	}
	return sum > max(repairWorth*k.usual, leastWorth)
}

// Arrived notes that all packets of a picture are known to have come.
func (k *Keeper) Arrived(now time.Time, frame uint64) {
	p := k.find(frame)
	if p == nil || p.arrived {
		return
	}
	p.arrived = true
	k.hear(now)
	if k.repair.frame == frame {
		k.repair.arrived = now
	}
	k.learn(now, p)
	k.settle()
}

// Shown notes that the viewer showed a picture, and so decoded it and what it
// refers to. What it says of one that never left is ignored.
func (k *Keeper) Shown(now time.Time, frame uint64) {
	k.late(frame)
	p := k.find(frame)
	if p == nil || p.left.IsZero() {
		return
	}
	if frame > k.shown {
		k.shown = frame
		k.hear(now)
	}
	k.speaks = true
	if k.repair.frame > 0 && k.shown >= k.repair.frame && k.proven() {
		k.strikes = 0
	}
	k.learn(now, p)
	for p != nil && !p.has {
		p.arrived = true
		p = k.find(p.reference)
	}
	k.settle()
}

// proven says that the viewer went on although it cannot have all that left before:
// it takes references from the packets.
func (k *Keeper) proven() bool {
	for i := range k.pictures {
		p := &k.pictures[i]
		if p.given && !p.arrived && !p.resent && !p.left.IsZero() {
			return true
		}
	}
	return false
}

// learn takes the time until a picture was confirmed, if nothing held it up.
func (k *Keeper) learn(now time.Time, p *picture) {
	if !p.has && !p.asked && !p.unheard && !p.left.IsZero() && k.blocker() == p {
		k.delay.add(now.Sub(p.left))
	}
}

// settle finds which pictures the viewer can decode by now.
func (k *Keeper) settle() {
	for i := range k.pictures {
		p := &k.pictures[i]
		if p.has || !p.arrived {
			continue
		}
		if p.reference > 0 {
			if r := k.find(p.reference); r == nil || !r.has {
				continue
			}
		}
		p.has, p.missing = true, 0
		if !p.given {
			k.attempts = 0
		}
		if p.frame == k.repair.frame {
			k.needed = max(k.needed, p.frame)
		}
	}
}
