package telemetry

import "time"

// tally counts one second of a stream for its HostSecond.
type tally struct {
	start    time.Time
	second   HostSecond // its counters
	bytes    int
	video    int // bytes of pictures sent for the first time
	qp       Sum
	budget   Sum
	rtt      Sum
	queue    Sum // in front of the narrowest link
	changed  float64
	stages   stages
	shown    stages
	probe    uint32    // id of the newest train
	newest   uint64    // number of the source's picture that was taken last
	outSince time.Time // when the first packet left after the last report; zero: none did
	silence  time.Duration
}

// encoded counts a picture.
func (t *tally) encoded(p Picture) {
	t.second.Frames.Encoded++
	if p.Again {
		t.second.Frames.Reencoded++
	}
	if p.Key {
		t.second.Keys = t.second.Keys.plus(p.Why, 1)
	}
	t.second.Width, t.second.Height = p.Width, p.Height
	t.second.Rate.BudgetKbps, t.second.Rate.BudgetReason = p.BudgetKbps, p.budgetReason()
	t.qp.Add(float64(p.QP))
	t.budget.Add(float64(p.BudgetBytes))
}

// sent counts a packet.
func (t *tally) sent(now time.Time, sizeBytes int, resend, padding bool) {
	t.second.Packets.Sent++
	t.bytes += sizeBytes
	switch {
	case resend:
		t.second.Packets.Resent++
	case padding:
		t.second.Packets.Padding++
	default:
		t.video += sizeBytes
	}
	if t.outSince.IsZero() {
		t.outSince = now
	}
}

// plus adds to one count. A nil Counts becomes one.
func (c Counts) plus(why string, n int) Counts {
	if c == nil {
		c = Counts{}
	}
	c[why] += n
	return c
}

// Taken counts a picture of the source that the encoder took, by its number at
// the source, and the share of it that changed, 0 to 1. Those between it and the
// one before went to nobody.
func (m *Meter) Taken(number uint64, changed float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.count.second.Frames
	if number == m.count.newest {
		return // it was taken before
	}
	if changed == 0 {
		f.Unchanged++
	}
	m.count.changed += changed
	if m.count.newest > 0 && number > m.count.newest+1 {
		missed := int(number - m.count.newest - 1)
		f.Captured += missed
		why := DropMerged
		if m.count.second.Hidden {
			why = DropHidden
		}
		f.Dropped = f.Dropped.plus(why, missed)
	}
	f.Captured++
	m.count.newest = number
	m.count.second.Hidden = false
}

// Hidden notes that the viewer is out of sight: the pictures until the next one
// that is taken are for nobody.
func (m *Meter) Hidden() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count.second.Hidden = true
}

// Dropped counts pictures that were encoded and will not leave.
func (m *Meter) Dropped(pictures int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pictures > 0 {
		m.count.second.Frames.Dropped = m.count.second.Frames.Dropped.plus(DropStale, pictures)
	}
}

// Redone counts a picture that came out too large and was encoded again.
func (m *Meter) Redone() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Redone++
	m.count.second.Frames.Dropped = m.count.second.Frames.Dropped.plus(DropLarge, 1)
}

// Repaired counts pictures that were coded against an older one, because the viewer
// lacks those in between.
func (m *Meter) Repaired(pictures int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Repaired += uint64(pictures)
	m.count.second.Frames.Repaired += pictures
}

// Control is what the congestion controller decided, for Meter.Control.
type Control struct {
	TargetKbps, PaceKbps, PathKbps float64
	Fixed                          bool
	State, Reason                  string
	PathQueue                      time.Duration
	Probe                          uint32 // id of a train to send; 0: none
	ProbeKbps                      float64
}

// Control records what the controller decided.
func (m *Meter) Control(c Control) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.TargetKbps, m.s.State, m.s.Reason = c.TargetKbps, c.State, c.Reason
	r := &m.count.second.Rate
	if r.LeastKbps == 0 || c.TargetKbps < r.LeastKbps {
		r.LeastKbps = c.TargetKbps
	}
	r.TargetKbps, r.PaceKbps, r.PathKbps, r.Fixed = c.TargetKbps, c.PaceKbps, c.PathKbps, c.Fixed
	r.State, r.Reason = c.State, c.Reason
	if c.PathKbps > 0 {
		m.count.queue.AddTime(c.PathQueue)
	}
	if c.Probe != 0 && c.Probe != m.count.probe {
		m.count.probe = c.Probe
		r.Probes++
		r.ProbeKbps = max(r.ProbeKbps, c.ProbeKbps)
	}
}

// Report is what one report of the receiver said of packets, for Meter.Report.
type Report struct {
	Acked, Lost, Large, LargeLost int
	Nacks, Unserved               int
	KeyAsked                      bool
}

// Report counts what the receiver reported.
func (m *Meter) Report(now time.Time, r Report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &m.count.second.Packets
	p.Acked += r.Acked
	p.Lost += r.Lost
	p.Large += r.Large
	p.LargeLost += r.LargeLost
	p.Nacks += r.Nacks
	p.Unserved += r.Unserved
	if r.KeyAsked {
		p.KeyAsked++
	}
	if r.Acked+r.Lost > 0 {
		m.count.heard(now)
		m.count.outSince = time.Time{}
	}
}

// heard notes for how long there was no report.
func (t *tally) heard(now time.Time) {
	if !t.outSince.IsZero() {
		t.silence = max(t.silence, now.Sub(t.outSince))
	}
}

// Late records by how much the sending loop woke later than it was to.
func (m *Meter) Late(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count.second.LoopLate = max(m.count.second.LoopLate, hundredth(milliseconds(d)))
}

// Second gives what happened since the last call, and begins anew. What the
// meter does not see (the machine, the source) is left at zero.
func (m *Meter) Second(now time.Time) HostSecond {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &m.count
	t.heard(now)
	s := t.second
	span := now.Sub(t.start)
	s.Record, s.T, s.SpanMs = KindSecond, hundredth(milliseconds(now.Sub(m.zero))), hundredth(milliseconds(span))
	s.WallMs = float64(now.UnixMilli())
	s.QP, s.Budget, s.RTT, s.Rate.PathQueue = t.qp.Take(), t.budget.Take(), t.rtt.Take(), t.queue.Take()
	s.Rate.AverageKbps = m.averageKbps(now)
	s.Delay, s.Shown = t.stages.take(), t.shown.take()
	s.Rate.Silence = hundredth(milliseconds(t.silence))
	if seconds := span.Seconds(); seconds > 0 {
		s.Rate.SentKbps = hundredth(float64(t.bytes) * 8 / 1000 / seconds)
		s.Rate.VideoKbps = hundredth(float64(t.video) * 8 / 1000 / seconds)
	}
	if n := s.Frames.Encoded - s.Frames.Reencoded; n > 0 {
		s.Capture.Changed = hundredth(t.changed / float64(n))
	}
	t.begin(now)
	return s
}

// begin forgets the counts and keeps what lasts.
func (t *tally) begin(now time.Time) {
	kept := t.second
	t.start, t.bytes, t.video, t.silence, t.changed = now, 0, 0, 0, 0
	t.second = HostSecond{
		Width: kept.Width, Height: kept.Height, SizePercent: kept.SizePercent, SizeReason: kept.SizeReason,
		Hidden: kept.Hidden, Rate: kept.Rate,
	}
	r := &t.second.Rate
	r.LeastKbps, r.Probes, r.ProbeKbps = r.TargetKbps, 0, 0
}
