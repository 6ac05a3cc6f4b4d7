package server

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"nearglass/telemetry"
	"nearglass/telemetry/usage"
)

// recorder takes what belongs into the host's log of one stream. It hands it to
// a goroutine of its own, so that a disk that hangs holds up the log alone.
type recorder struct {
	id     string // of the stream, in the logs of both ends
	zero   time.Time
	events chan telemetry.Event
}

// mostEvents is how many events may wait for a disk; more are lost.
const mostEvents = 256

func newRecorder(zero time.Time) *recorder {
	return &recorder{id: rand.Text(), zero: zero, events: make(chan telemetry.Event, mostEvents)}
}

// event records that something happened now. Safe from any goroutine.
func (r *recorder) event(e telemetry.Event) {
	now := time.Now()
	e.Record, e.T, e.WallMs = telemetry.KindEvent, r.at(now), float64(now.UnixMilli())
	select {
	case r.events <- e:
	default:
	}
}

// at is a time as the log has it: ms, in steps of 10 µs.
func (r *recorder) at(t time.Time) float64 {
	return float64(t.Sub(r.zero)/(10*time.Microsecond)) / 100
}

// recording is the state of the goroutine that writes a stream's log.
type recording struct {
	*viewer
	file    *telemetry.Writer // nil: it could not be made
	failing bool              // the last line could not be written
	last    time.Time         // end of the last second
	slept   time.Duration
}

// secondEvery is how often the log gets a record. They end on whole seconds of
// the stream's time, so that those of both ends lie side by side.
const secondEvery = time.Second

// record writes the stream's log until the stream ends.
func (v *viewer) record() {
	r := &recording{viewer: v, last: v.recorder.zero, slept: usage.Slept()}
	r.open()
	timer := time.NewTimer(secondEvery)
	defer timer.Stop()
	for {
		select {
		case <-v.ctx.Done():
			r.finish()
			return
		case e := <-v.recorder.events:
			r.write(e)
		case <-timer.C:
			now := time.Now()
			r.second(now)
			timer.Reset(secondEvery - now.Sub(v.recorder.zero)%secondEvery)
		}
	}
}

// open begins the file. Without one the stream runs all the same.
func (r *recording) open() {
	var err error
	if r.file, err = r.host.logs.Begin(r.recorder.zero, r.header()); err != nil {
		r.viewer.log.Warn("this stream is not recorded", "err", err)
		return
	}
	r.recorder.event(telemetry.Event{Name: telemetry.EventStart})
}

// write appends a record. Only the first of a row of failures is told.
func (r *recording) write(record any) {
	if r.file == nil {
		return
	}
	err := r.file.Write(record)
	switch {
	case err != nil && !r.failing:
		r.viewer.log.Warn("the stream's log has a gap", "err", err)
	case err == nil && r.failing:
		r.recorder.event(telemetry.Event{Name: telemetry.EventError, Reason: "lines before this one could not be written"})
	}
	r.failing = err != nil
}

// second records the second that ended now.
func (r *recording) second(now time.Time) {
	r.steps(now)
	s := r.meter.Second(now)
	s.Paused = r.reader.State().Paused
	s.CPU = r.host.usage.Look(now)
	s.Packets.MTU = r.session.Largest()
	if takes := r.peer.MaxPayload(); s.Packets.MTU < takes {
		s.Packets.Interface = takes
	}
	if rtt, known := r.peer.OtherRTT(now); known {
		other := ms(rtt)
		s.OtherRTTMs = &other
	}
	s.Capture = r.source(now, s.Capture)
	r.newest.Store(&s)
	r.keys(s)
	r.write(s)
	for _, f := range r.meter.Traces() {
		r.write(f)
	}
	r.last = now
}

// leastStep is what a wall clock must step by to be worth an event: NTP moves
// it by less in a second while it is slewing.
const leastStep = 100 * time.Millisecond

// steps notes when the wall clock stepped, or the machine slept.
func (r *recording) steps(now time.Time) {
	slept := usage.Slept()
	if d := slept - r.slept; d > leastStep {
		r.recorder.event(telemetry.Event{Name: telemetry.EventAsleep, AmountMs: ms(d)})
	}
	// What the wall clock moved by beyond what the other clock did. Sleep is a
	// reason that is told already.
	step := now.Round(0).Sub(r.last.Round(0)) - now.Sub(r.last) - (slept - r.slept)
	if step.Abs() > leastStep {
		r.recorder.event(telemetry.Event{Name: telemetry.EventClockJump, AmountMs: ms(step)})
	}
	r.slept = slept
}

// keys notes that key frames were asked for, once a second for each who did.
func (r *recording) keys(s telemetry.HostSecond) {
	for _, why := range slices.Sorted(maps.Keys(s.Keys)) {
		r.recorder.event(telemetry.Event{Name: telemetry.EventKey, Who: why})
	}
}

// source tells how the source gave its pictures.
func (r *recording) source(now time.Time, c telemetry.Capture) telemetry.Capture {
	list, asking := r.reader.Published(r.last)
	var grab telemetry.Sum
	before := r.recorder.zero
	for i, p := range list {
		if p.At.After(r.last) {
			grab.AddTime(p.Grab)
		}
		if i > 0 {
			c.Gap = max(c.Gap, ms(p.At.Sub(before)))
		}
		before = p.At
	}
	c.Gap = max(c.Gap, ms(now.Sub(before)))
	c.Grab = grab.Take()
	if !asking.IsZero() {
		c.Stalled = ms(now.Sub(asking))
	}
	if s := r.reader.State(); s.Paused {
		c.Error = s.Reason
	}
	return c
}

// finish writes what is left and why the stream ended.
func (r *recording) finish() {
	r.second(time.Now())
	reason := context.Cause(r.ctx)
	r.recorder.event(telemetry.Event{Name: telemetry.EventEnd, Who: whoEnded(reason), Reason: words(reason)})
	for {
		select {
		case e := <-r.recorder.events:
			r.write(e)
			continue
		default:
		}
		break
	}
	if r.file == nil {
		return
	}
	if err := r.file.Close(); err != nil {
		r.viewer.log.Warn("the stream's log may lack its end", "err", err)
	}
}

// whoEnded says which end a stream's end came from.
func whoEnded(reason error) string {
	if errors.Is(reason, errViewerLeft) || errors.Is(reason, errTooMany) {
		return string(telemetry.ViewerSide)
	}
	return string(telemetry.HostSide)
}

func ms(d time.Duration) float64 { return float64(d/(10*time.Microsecond)) / 100 }
