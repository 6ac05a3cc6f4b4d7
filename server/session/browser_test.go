package session

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"nearglass/cc"
	"nearglass/cc/sim"
	"nearglass/pacing"
)

// road is the way between a session and its browser.
type road struct {
	sim.LinkConfig                                                             // to the browser
	lose           func(at time.Duration, p *pacing.Packet, r *rand.Rand) bool // besides; nil: nothing
	mute           func(at time.Duration, r *rand.Rand) bool                   // a message of the browser is lost; nil: none is
	twice          bool                                                        // all arrives twice
	parity         int                                                         // a parity packet goes behind so many of the media; 0: none
}

// browser is a viewer on the bubble's clock that does what Chromium does with
// dependency descriptors: it shows a picture as soon as it has it and what it
// refers to, asks for the packets that it misses, reports which came, and its page
// says what is shown. It stands in for a WebRTC connection and the path.
type browser struct {
	road
	lies     bool // its page says that it shows whatever was sent
	feedback chan cc.Feedback
	session  *Session
	begin    time.Time
	rng      *rand.Rand

	mu       sync.Mutex
	link     *sim.Link
	sequence uint64
	onWay    map[uint64]pacing.Packet // by transport-wide number
	parities parities
	claimed  []uint32 // timestamps of what was sent, for one that lies

	reception
	decoder
	reports reports
	words   []word
}

// word is a message on its way to the host.
type word struct {
	at       time.Time
	feedback cc.Feedback
	shown    []uint32
}

func newBrowser(r road, seed uint64) *browser {
	return &browser{
		road: r, feedback: make(chan cc.Feedback), rng: rand.New(rand.NewPCG(seed, 9)), begin: time.Now(),
		link: sim.NewLink(r.LinkConfig, seed), onWay: map[uint64]pacing.Packet{},
		reception: reception{got: map[int]bool{}, missing: map[int]*request{}, pictures: map[uint64]*received{}},
		decoder:   decoder{decoded: map[uint64]bool{}, kept: map[uint64]bool{}},
		reports:   reports{arrived: map[uint64]time.Time{}, media: map[uint64]uint16{}},
	}
}

// Write implements peer.
func (b *browser) Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sequence++
	size := rtpBytes + len(pkt.Body) + int(pkt.HeadLen) + int(pkt.PadBytes)
	b.reports.media[b.sequence] = pkt.Seq
	if pkt.Marker {
		b.claimed = append(b.claimed, pkt.Timestamp)
	}
	b.carry(now, *pkt, b.sequence, size)
	if id, size := b.parities.add(pkt, size, b.parity); id > 0 {
		b.link.Send(now, sim.Packet{Size: size + udpBytes, ID: id})
	}
	s := cc.Sent{Sequence: b.sequence, SizeBytes: size, At: now, Probe: pkt.Probe, Resend: pkt.Class == pacing.Resend}
	if pkt.Class != pacing.Padding {
		s.Frame, s.Last = pkt.Frame, pkt.Marker && !s.Resend
	}
	return s, nil
}

// carry puts a packet on the link unless it is lost before.
func (b *browser) carry(now time.Time, pkt pacing.Packet, id uint64, size int) {
	if b.lose != nil && b.lose(now.Sub(b.begin), &pkt, b.rng) {
		return
	}
	b.onWay[id] = pkt
	b.link.Send(now, sim.Packet{Size: size + udpBytes, ID: id})
	if b.twice {
		b.link.Send(now, sim.Packet{Size: size + udpBytes, ID: id})
	}
}

func (b *browser) Flush() error { return nil }

func (b *browser) MaxPayload() int { return 1142 }

func (b *browser) SenderReport(time.Time) error { return nil }

// run receives and speaks until the context ends.
func (b *browser) run(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(time.Millisecond)
		for _, w := range b.turn(time.Now()) {
			if w.shown != nil {
				b.session.Confirm(w.shown)
				continue
			}
			select {
			case b.feedback <- w.feedback:
			case <-ctx.Done():
			}
		}
	}
}

// turn does what is due and gives the words that have reached the host.
func (b *browser) turn(now time.Time) []word {
	b.mu.Lock()
	defer b.mu.Unlock()
	for d, ok := b.link.Receive(now); ok; d, ok = b.link.Receive(now) {
		for _, pkt := range b.opened(d.ID) {
			b.take(now, pkt)
		}
	}
	if seqs := b.overdue(now); len(seqs) > 0 {
		b.ask(now, seqs)
	}
	if f, ok := b.reports.due(now, b.begin, 2*b.Delay); ok {
		b.say(now, word{feedback: f})
	}
	if b.lies && len(b.claimed) > 0 {
		b.say(now, word{shown: slices.Clone(b.claimed[max(0, len(b.claimed)-6):])})
	}
	if b.stuck(now) {
		b.keysAsked++
		b.say(now, word{feedback: cc.Feedback{KeyFrame: true}})
	}
	i := 0
	for i < len(b.words) && !b.words[i].at.After(now) {
		i++
	}
	due := slices.Clone(b.words[:i])
	b.words = b.words[i:]
	return due
}

// opened gives the packets that an arrival brings: itself, or what parity mends.
func (b *browser) opened(id uint64) []pacing.Packet {
	pkt, ok := b.onWay[id]
	if ok {
		b.reports.take(id, time.Now())
		return append([]pacing.Packet{pkt}, b.parities.arrive(pkt)...)
	}
	return b.parities.complete(id)
}

// take is a packet that has come.
func (b *browser) take(now time.Time, pkt pacing.Packet) {
	if seqs := b.receive(now, pkt); len(seqs) > 0 {
		b.ask(now, seqs)
	}
	for _, timestamp := range b.decode(now, &b.reception) {
		b.last = append(b.last, timestamp)
		b.last = b.last[max(0, len(b.last)-6):]
		shown := slices.Clone(b.last)
		drawn := 4*time.Millisecond + time.Duration(b.rng.IntN(12))*time.Millisecond
		b.say(now.Add(drawn), word{shown: shown})
	}
}

// ask sends a NACK.
func (b *browser) ask(now time.Time, seqs []int) {
	slices.Sort(seqs)
	var nacks []uint16
	for _, s := range seqs {
		nacks = append(nacks, b.first+uint16(s))
	}
	b.nacked += len(nacks)
	b.say(now, word{feedback: cc.Feedback{Nacks: nacks}})
}

// say puts a message on its way.
func (b *browser) say(now time.Time, w word) {
	if b.mute != nil && b.mute(now.Sub(b.begin), b.rng) {
		return
	}
	w.at = now.Add(b.Delay)
	w.feedback.At = w.at
	i, _ := slices.BinarySearchFunc(b.words, w.at, func(w word, at time.Time) int {
		if w.at.After(at) {
			return 1
		}
		return -1
	})
	b.words = slices.Insert(b.words, i, w)
}

// stampBytes is what stamped encoders put at the front of a picture: the number of
// the encoder, and those of the picture and its reference.
const stampBytes = 24

func stamp(nal []byte, encoder, number, reference uint64) {
	binary.BigEndian.PutUint64(nal[1:], encoder)
	binary.BigEndian.PutUint64(nal[9:], number)
	binary.BigEndian.PutUint64(nal[17:], reference)
}

// readStamp reads it from the first packet of a picture.
func readStamp(pkt *pacing.Packet) (encoder, number, reference uint64) {
	body := pkt.Body
	if pkt.HeadLen == 0 {
		body = body[1:] // the unit's own first byte
	}
	return binary.BigEndian.Uint64(body), binary.BigEndian.Uint64(body[8:]), binary.BigEndian.Uint64(body[16:])
}
