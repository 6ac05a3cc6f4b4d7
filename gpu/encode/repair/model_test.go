package repair

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// conditions are a path and what its ends do.
type conditions struct {
	oneWay   time.Duration
	lose     func(at time.Duration, rng *rand.Rand) bool // a packet to the viewer
	mute     func(at time.Duration, rng *rand.Rand) bool // a message or report of it
	still    func(at time.Duration) bool                 // the source shows nothing new
	repairs  float64                                     // the share of the packets of repairs that is lost besides, as long as others are
	jitter   time.Duration                               // that a packet may take longer, and be overtaken
	twice    bool                                        // each packet arrives again
	length   time.Duration
	noResend bool
	ignores  bool                                 // the viewer takes references from the order of packets
	stalls   func(at time.Duration) time.Duration // how much later than usual the viewer shows a picture, and says so; nil: no later
	lies     bool                                 // the viewer says that it showed what it lacks
	report   time.Duration
}

const (
	frameTime  = time.Second / 60
	references = 16
)

// what the parts of the model send and keep.
type (
	packet struct {
		seq              int
		frame, reference uint64
		last             bool
	}
	coded struct {
		frame, reference uint64
		first, count     int // its packets
	}
	event struct {
		at time.Duration
		n  int
		do func()
	}
	events []event
)

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].n < e[j].n
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// model is an encoder, a sender, a path and a viewer around a Keeper.
type model struct {
	t   *testing.T
	c   conditions
	rng *rand.Rand
	k   *Keeper
	now time.Duration
	q   events
	n   int

	// encoder and sender
	valid   []uint64 // what the encoder may refer to
	frames  []coded
	order   Order
	due     time.Time // the deadline that is waited for
	lastKey time.Duration
	sent    map[int]packet
	seq     int
	acked   map[int]bool
	keys    []time.Duration
	repairs []time.Duration

	// viewer
	got     map[int]bool
	highest int
	asked   map[int]time.Duration
	decoded map[uint64]bool
	newest  uint64
	shownAt time.Duration
	longest time.Duration
	unsaid  []int
}

var epoch = time.Unix(1000, 0)

func (m *model) time() time.Time { return epoch.Add(m.now) }

func (m *model) after(d time.Duration, do func()) {
	m.n++
	heap.Push(&m.q, event{m.now + d, m.n, do})
}

func run(t *testing.T, c conditions, seed uint64) *model {
	t.Helper()
	m := &model{t: t, c: c, rng: rand.New(rand.NewPCG(seed, 5)), k: New(Config{References: references, Interval: frameTime, NoResend: c.noResend}),
		sent: map[int]packet{}, acked: map[int]bool{}, got: map[int]bool{}, asked: map[int]time.Duration{}, decoded: map[uint64]bool{}, lastKey: -time.Hour}
	if m.c.report == 0 {
		m.c.report = 100 * time.Millisecond
	}
	m.k.SetRTT(2 * c.oneWay)
	m.after(0, m.tick)
	m.after(m.c.report, m.report)
	for len(m.q) > 0 && m.q[0].at <= c.length {
		e := heap.Pop(&m.q).(event)
		m.now = e.at
		e.do()
		m.decide()
	}
	return m
}

// tick is a frame time of the source.
func (m *model) tick() {
	m.after(frameTime, m.tick)
	// A browser asks for a key frame 200 ms after it could not decode the first
	// picture, and when it has shown nothing for 3 s.
	stalled := m.now - max(m.shownAt, m.lastKey)
	if m.newest == 0 && stalled > 200*time.Millisecond+4*m.c.oneWay || stalled > 3*time.Second+2*m.c.oneWay {
		m.order = Order{Kind: Key}
	}
	if m.c.still == nil || !m.c.still(m.now) || m.order.Kind != None || len(m.frames) == 0 {
		m.encode()
	}
}

// decide asks the keeper, and holds its orders to what is true.
func (m *model) decide() {
	o := m.k.Decide(m.time())
	switch o.Kind {
	case Reference:
		if !m.decoded[o.Newest] && !m.c.lies && !m.c.ignores {
			m.t.Errorf("at %v: a repair may refer to %d, which the viewer lacks", m.now, o.Newest)
		}
		if n := len(m.repairs); n > 0 && m.now-m.repairs[n-1] < 2*m.c.oneWay {
			m.t.Errorf("repairs at %v and %v: less than a round trip", m.repairs[n-1], m.now)
		}
		m.repairs = append(m.repairs, m.now)
	case Key:
		if m.now-m.lastKey < 200*time.Millisecond {
			o = Order{} // the session spaces them
		}
	case None:
		o.Kind, o.Newest = m.order.Kind, m.order.Newest
	}
	m.order = o
	m.repeat()
	if at := m.k.Deadline(m.time()); !at.IsZero() {
		if !at.After(m.time()) {
			m.t.Fatalf("at %v the deadline is %v", m.now, at.Sub(epoch))
		}
		if !at.Equal(m.due) {
			m.due = at
			m.after(at.Sub(m.time()), func() {})
		}
	}
}

// repeat sends once more what the keeper says, behind a packet that is empty.
func (m *model) repeat() {
	again := m.k.Repeat(m.time())
	if again.Frame == 0 {
		return
	}
	f := m.frames[again.Frame-1]
	m.seq++
	m.sent[m.seq] = packet{seq: m.seq}
	m.carry(m.sent[m.seq])
	for i := range f.count {
		if again.Whole || i == f.count-1 {
			m.carry(m.sent[f.first+i])
		}
	}
	m.k.Repeated(m.time(), time.Duration(f.count)*time.Millisecond)
}

func (m *model) encode() {
	if m.order.Hold && m.order.Kind == None {
		return
	}
	frame := uint64(len(m.frames) + 1)
	if m.order.Kind == Reference {
		m.valid = slices.DeleteFunc(m.valid, func(n uint64) bool { return n > m.order.Newest })
	}
	m.valid = slices.DeleteFunc(m.valid, func(n uint64) bool { return n+references < frame })
	reference, count := uint64(0), 40
	if m.order.Kind != Key && len(m.valid) > 0 {
		reference, count = m.valid[len(m.valid)-1], 4
		if reference+1 < frame {
			count = 10
		}
	} else {
		m.valid = nil
		m.lastKey = m.now
		m.keys = append(m.keys, m.now)
	}
	m.order = Order{}
	m.valid = append(m.valid, frame)
	m.frames = append(m.frames, coded{frame: frame, reference: reference, first: m.seq, count: count})
	m.after(8*time.Millisecond, func() { m.send(frame, reference, count) })
}

func (m *model) send(frame, reference uint64, count int) {
	m.frames[frame-1].first, m.frames[frame-1].count = m.seq, count
	if !m.k.Coded(frame, reference, count*1100) {
		m.frames[frame-1].count = 0
		return
	}
	for i := range count {
		m.seq++
		p := packet{seq: m.seq, frame: frame, reference: reference, last: i == count-1}
		m.sent[p.seq] = p
		m.carry(p)
	}
	m.frames[frame-1].first = m.seq - count + 1
	m.k.Left(m.time(), frame)
}

func (m *model) carry(p packet) {
	if m.c.lose(m.now, m.rng) || m.losesRepair(p) {
		return
	}
	m.deliver(p)
	if m.c.twice {
		m.deliver(p)
	}
}

func (m *model) deliver(p packet) {
	took := m.c.oneWay
	if m.c.jitter > 0 {
		took += time.Duration(m.rng.Int64N(int64(m.c.jitter)))
	}
	m.after(took, func() { m.arrive(p) })
}

// losesRepair says whether a packet is one of a repair that the path takes too.
func (m *model) losesRepair(p packet) bool {
	return m.c.repairs > 0 && m.now < lossLength && p.reference > 0 && p.reference+1 < p.frame && m.rng.Float64() < m.c.repairs
}

// arrive is a packet at the viewer.
func (m *model) arrive(p packet) {
	if m.got[p.seq] {
		return
	}
	m.got[p.seq] = true
	m.unsaid = append(m.unsaid, p.seq)
	delete(m.asked, p.seq)
	var missing []int
	for s := m.highest + 1; s < p.seq; s++ {
		missing = append(missing, s)
	}
	m.highest = max(m.highest, p.seq)
	m.ask(missing, 10)
	m.decode()
}

// ask is a NACK, repeated like libwebrtc's.
func (m *model) ask(missing []int, times int) {
	if len(missing) == 0 || times == 0 {
		return
	}
	m.say(func() { m.nack(missing) })
	m.after(100*time.Millisecond, func() {
		m.ask(slices.DeleteFunc(missing, func(s int) bool { return m.got[s] }), times-1)
	})
}

// say carries a message of the viewer.
func (m *model) say(do func()) {
	if m.c.mute == nil || !m.c.mute(m.now, m.rng) {
		m.after(m.c.oneWay, do)
	}
}

func (m *model) nack(missing []int) {
	byFrame := map[uint64][]int{}
	for _, s := range missing {
		byFrame[m.sent[s].frame] = append(byFrame[m.sent[s].frame], s)
	}
	for f := range byFrame {
		slices.Sort(byFrame[f])
	}
	for f := uint64(1); f <= uint64(len(m.frames)); f++ {
		if seqs := byFrame[f]; len(seqs) > 0 {
			m.k.Missing(m.time(), f, 1100*len(seqs))
		}
	}
	for f := uint64(1); f <= uint64(len(m.frames)); f++ {
		if seqs := byFrame[f]; len(seqs) > 0 && m.k.Resend(m.time(), f) && !m.c.noResend {
			for _, s := range seqs {
				m.carry(m.sent[s])
			}
		}
	}
}

// report is transport-wide feedback.
func (m *model) report() {
	m.after(m.c.report, m.report)
	said := m.unsaid
	m.unsaid = nil
	m.say(func() {
		for _, s := range said {
			m.acked[s] = true
		}
		for _, f := range m.frames[max(0, len(m.frames)-100):] {
			if f.count > 0 && m.whole(f, m.acked) {
				m.k.Arrived(m.time(), f.frame)
			}
		}
	})
}

func (m *model) whole(f coded, got map[int]bool) bool {
	for s := f.first; s < f.first+f.count; s++ {
		if !got[s] || m.sent[s].frame != f.frame {
			return false
		}
	}
	return true
}

// decode takes what the viewer can show, in order.
func (m *model) decode() {
	for _, f := range m.frames[m.newest:] {
		if f.count == 0 || !m.whole(f, m.got) {
			if m.c.ignores && f.reference > 0 && f.count > 0 {
				return
			}
			continue
		}
		if f.reference > 0 && !m.decoded[f.reference] {
			continue
		}
		if f.reference == 0 {
			clear(m.decoded)
		}
		m.decoded[f.frame], m.newest = true, f.frame
		m.show(f.frame)
	}
}

func (m *model) show(frame uint64) {
	if m.shownAt > 0 {
		m.longest = max(m.longest, m.now-m.shownAt)
	}
	m.shownAt = m.now
	said := frame
	if m.c.lies {
		said += uint64(m.rng.IntN(6))
	}
	took := 5*time.Millisecond + time.Duration(m.rng.IntN(12))*time.Millisecond
	if m.c.stalls != nil {
		took += m.c.stalls(m.now)
	}
	m.after(took, func() { m.say(func() { m.k.Shown(m.time(), said) }) })
}
