package telemetry

import (
	"sync"
	"time"
)

// Meter counts what one stream does. It is safe for concurrent use and costs a
// lock and a few additions a packet.
type Meter struct {
	mu   sync.Mutex
	s    Snapshot
	now  window // since start
	last window // the window before it, complete
}

// window is what happened in one stretch of about a second.
type window struct {
	start                 time.Time
	length                time.Duration
	pictures, bytes       int
	wait, convert, encode time.Duration
}

// windowLength is how much a rate or mean in a Snapshot averages over.
const windowLength = time.Second

// NewMeter returns a meter that starts at now.
func NewMeter(now time.Time) *Meter { return &Meter{now: window{start: now}} }

// Encoded counts a picture.
func (m *Meter) Encoded(now time.Time, p Picture) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	m.s.Width, m.s.Height, m.s.QP = p.Width, p.Height, p.QP
	m.s.Encoded++
	if p.Key {
		m.s.KeyFrames++
	}
	if p.Refine {
		m.s.Refined++
	}
	m.now.pictures++
	m.now.wait += p.Wait
	m.now.convert += p.Convert
	m.now.encode += p.Encode
}

// Sent counts a packet of that many bytes of UDP payload.
func (m *Meter) Sent(now time.Time, sizeBytes int, resend, padding bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	m.s.Packets++
	m.now.bytes += sizeBytes
	if resend {
		m.s.Resends++
	}
	if padding {
		m.s.Padding++
	}
}

// Rates records what the controller decided.
func (m *Meter) Rates(targetKbps float64, state, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.TargetKbps, m.s.State, m.s.Reason = targetKbps, state, reason
}

// Path records what the receiver reported. A zero rtt changes nothing.
func (m *Meter) Path(rtt time.Duration, lossFraction float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if rtt > 0 {
		m.s.RTTMs = milliseconds(rtt)
	}
	m.s.LossPercent = 100 * lossFraction
}

// Queue records what waits in the pacer.
func (m *Meter) Queue(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.QueueMs = milliseconds(d)
}

// Snapshot gives the figures at now.
func (m *Meter) Snapshot(now time.Time) Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	s, w := m.s, m.last
	if w.length <= 0 {
		w = m.now
		w.length = now.Sub(w.start)
	}
	if w.length > 0 {
		seconds := w.length.Seconds()
		s.FPS = float64(w.pictures) / seconds
		s.Kbps = float64(w.bytes) * 8 / 1000 / seconds
	}
	if n := float64(w.pictures); n > 0 {
		s.CaptureWaitMs = milliseconds(w.wait) / n
		s.ConvertMs = milliseconds(w.convert) / n
		s.EncodeMs = milliseconds(w.encode) / n
	}
	return s
}

// turn closes the running window when it has lasted long enough. A pause
// closes it too, so that a still stream reads zero and not its last motion.
func (m *Meter) turn(now time.Time) {
	d := now.Sub(m.now.start)
	if d < windowLength {
		return
	}
	m.last = m.now
	m.last.length = d
	m.now = window{start: now}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
