package telemetry

import "time"

// stages collects the delays of one second's pictures.
type stages struct {
	wait, convert, encode, handoff, queue, network, buffer, decode, present, arrive, total Sum
}

func (s *stages) take() Delay {
	return Delay{
		Wait: s.wait.Take(), Convert: s.convert.Take(), Encode: s.encode.Take(), Handoff: s.handoff.Take(), Queue: s.queue.Take(),
		Network: s.network.Take(), Buffer: s.buffer.Take(), Decode: s.decode.Take(), Present: s.present.Take(),
		Arrive: s.arrive.Take(), Total: s.total.Take(),
	}
}

// way is the way of one picture through the host.
type way struct {
	Picture
	queued, sent time.Time
	packets      int
}

// left adds the host's stages of a picture that left.
func (s *stages) left(w *way) {
	s.wait.AddTime(w.Wait)
	s.convert.AddTime(w.Converted.Sub(w.Captured.Add(w.Wait)))
	s.encode.AddTime(w.Encoded.Sub(w.Converted))
	s.handoff.AddTime(w.queued.Sub(w.Encoded))
	s.queue.AddTime(w.sent.Sub(w.queued))
}

// ways remembers the pictures that were encoded last. At 240 pictures a second
// that is 2 s: longer than a viewer takes to report one.
type ways [512]way

func (w *ways) begin(p Picture) { w[p.Frame%uint64(len(w))] = way{Picture: p} }

// of finds a picture by its number.
func (w *ways) of(frame uint64) *way {
	if e := &w[frame%uint64(len(w))]; e.Frame == frame && frame > 0 {
		return e
	}
	return nil
}

// named finds a picture by its RTP timestamp.
func (w *ways) named(rtp uint32) *way {
	for i := range w {
		if e := &w[i]; e.RTP == rtp && e.Frame > 0 {
			return e
		}
	}
	return nil
}

// Queued notes when the pacer had all packets of a picture.
func (m *Meter) Queued(now time.Time, frame uint64, packets int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.ways.of(frame); w != nil {
		w.queued, w.packets = now, packets
	}
}

// Left notes when the last packet of a picture was handed to the socket.
func (m *Meter) Left(now time.Time, frame uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.ways.of(frame)
	if w == nil || w.queued.IsZero() || !w.sent.IsZero() {
		return
	}
	w.sent = now
	m.count.second.Frames.Sent++
	m.count.stages.left(w)
	if m.tracing && len(m.trace) < mostTraces {
		m.trace = append(m.trace, m.traceOf(w))
	}
}

// Shown is what the viewer says of a picture on its screen. Times are ms since
// the stream's time 0, as the viewer's Clock has them; a zero is not known.
type Shown struct {
	RTP       uint32
	ReceivedT float64 // its last packet came
	DecodingT float64 // the decoder took it
	DecodedT  float64 // it was decoded
	ShownT    float64 // it was put on the screen
}

// Shown adds the way of a picture that the viewer reports.
func (m *Meter) Shown(r Shown) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.ways.named(r.RTP)
	if w == nil || w.sent.IsZero() || r.ReceivedT == 0 || r.DecodingT == 0 || r.DecodedT == 0 || r.ShownT == 0 {
		return
	}
	s := &m.count.shown
	s.left(w)
	s.network.Add(r.ReceivedT - m.at(w.sent))
	s.buffer.Add(r.DecodingT - r.ReceivedT)
	s.decode.Add(r.DecodedT - r.DecodingT)
	s.present.Add(r.ShownT - r.DecodedT)
	s.arrive.Add(r.ReceivedT - m.at(w.Captured))
	s.total.Add(r.ShownT - m.at(w.Captured))
}

// mostTraces bounds what waits for Traces: ten seconds at 60 pictures a second.
const mostTraces = 600

// Trace has each picture's way kept from now on, for Traces.
func (m *Meter) Trace() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tracing = true
}

// Traces gives the ways of the pictures that left since the last call.
func (m *Meter) Traces() []FrameTrace {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.trace
	m.trace = nil
	return list
}

func (m *Meter) traceOf(w *way) FrameTrace {
	kind := "motion"
	switch {
	case w.Key:
		kind = "key"
	case w.Refine:
		kind = "refine"
	}
	return FrameTrace{
		Record: KindFrame, T: m.at(w.Captured), RTP: w.RTP, Frame: w.Frame, Bytes: w.SizeBytes, Packets: w.packets,
		Budget: w.BudgetBytes, QP: w.QP, PSNR: hundredth(w.PSNR), Kind: kind,
		TakenT: m.at(w.Captured.Add(w.Wait)), EncodedT: m.at(w.Encoded), QueuedT: m.at(w.queued), SentT: m.at(w.sent),
	}
}

// at is a time as the log has it.
func (m *Meter) at(t time.Time) float64 { return hundredth(milliseconds(t.Sub(m.zero))) }
