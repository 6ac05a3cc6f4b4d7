package telemetry

import (
	"sync"
	"time"
)

// Meter counts what one stream does at the host. It is safe for concurrent use
// and costs a lock and a few additions a packet; all else is once a picture,
// once a report of the receiver, or once a second.
type Meter struct {
	mu    sync.Mutex
	zero  time.Time
	s     Snapshot
	now   window // since start
	last  window // the window before it, complete
	count tally  // of the second at hand
	ways  ways
	trace []FrameTrace
	// encoded are the bytes of all pictures since the start.
	encoded int
	// tracing says that each picture's way is kept for Traces.
	tracing bool
}

// window is what happened in one stretch of about a second.
type window struct {
	start                 time.Time
	length                time.Duration
	pictures, bytes, qp   int
	psnr                  float64
	wait, convert, encode time.Duration
}

// windowLength is how much a rate or mean in a Snapshot averages over.
const windowLength = time.Second

// NewMeter returns a meter of a stream whose time 0 is now.
func NewMeter(now time.Time) *Meter {
	return &Meter{zero: now, now: window{start: now}, count: tally{start: now}}
}

// Zero is the stream's time 0: what the times of its log and its RTP timestamps
// count from.
func (m *Meter) Zero() time.Time { return m.zero }

// Picture is one encoded picture, for Meter.Encoded. The encoder took it Wait
// after Captured. Convert and Encode are what these took by themselves, as the
// encoder measured it, for the Snapshot.
type Picture struct {
	Frame                 uint64 // its number
	RTP                   uint32 // its timestamp
	Width, Height         int
	QP                    int
	SizeBytes             int
	BudgetBytes           int     // what it was allowed to take
	BudgetKbps            float64 // what it was planned with
	Capped                bool    // that is less than the target, because of the bound on the average
	PSNR                  float64 // dB of the luma that a decoder makes of it; 0: not measured
	Key, Refine           bool
	Why                   string // of a key frame: KeyStart or its siblings
	Again                 bool   // the picture before was encoded once more
	Captured              time.Time
	Wait, Convert, Encode time.Duration
	Converted             time.Time // when it was ready for the encoder
	Encoded               time.Time // when the encoder was done
}

// Reasons for what pictures are planned with.
const (
	BudgetTarget  = "the target"
	BudgetAverage = "the bound on the average"
)

func (p *Picture) budgetReason() string {
	if p.Capped {
		return BudgetAverage
	}
	return BudgetTarget
}

// averageKbps is what the pictures took by now, over the whole stream.
func (m *Meter) averageKbps(now time.Time) float64 {
	if d := now.Sub(m.zero); d > 0 {
		return hundredth(float64(m.encoded) * 8 / 1000 / d.Seconds())
	}
	return 0
}

// Encoded counts a picture.
func (m *Meter) Encoded(now time.Time, p Picture) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	m.s.Width, m.s.Height, m.s.QP, m.s.BudgetBytes = p.Width, p.Height, p.QP, p.BudgetBytes
	m.s.Encoded++
	if p.Key {
		m.s.KeyFrames++
	}
	if p.Refine {
		m.s.Refined++
	}
	m.encoded += p.SizeBytes
	m.s.BudgetKbps, m.s.BudgetReason = p.BudgetKbps, p.budgetReason()
	m.now.pictures++
	m.now.qp += p.QP
	m.now.psnr += p.PSNR
	m.now.wait += p.Wait
	m.now.convert += p.Convert
	m.now.encode += p.Encode
	m.count.encoded(p)
	m.ways.begin(p)
}

// Sized records that pictures are sent with so many hundredths of the source's
// sides, and why.
func (m *Meter) Sized(percent int, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.SizePercent, m.s.SizeReason = percent, reason
	m.count.second.SizePercent, m.count.second.SizeReason = percent, reason
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
	m.count.sent(now, sizeBytes, resend, padding)
}

// Path records what the receiver reported. A zero rtt changes nothing.
func (m *Meter) Path(rtt time.Duration, lossFraction float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if rtt > 0 {
		m.s.RTTMs = milliseconds(rtt)
		m.count.rtt.AddTime(rtt)
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
	s.AverageKbps = m.averageKbps(now)
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
		s.MeanQP = float64(w.qp) / n
		s.PSNR = w.psnr / n
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
