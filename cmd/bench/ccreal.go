package main

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/pacing"
	"nearglass/server/timer"
)

// realRows adds what virtual time cannot tell: how late a timer of this machine
// lets packets go, and what a packet allocates.
func (c ccCmd) realRows(s settings, rep *report) {
	took := map[bool]time.Duration{false: 20 * time.Second, true: 3 * time.Second}[s.Quick]
	late, err := pacerLateness(took)
	w := lower("pacer lateness at 20 Mbit/s, p99", "ms", limit(1), limit(0.5))
	w.Baselines = map[string]float64{"bare timer": milliseconds(timerLateness(took))}
	rep.add(w, milliseconds(late), err)
	perPacket, err := allocations()
	rep.add(lower("allocations per packet in cc and pacing", "", limit(0), limit(0)), perPacket, err)
}

// realRate is the pace of both rows.
const realRate = 20 * rate.Mbps

// pictureOf are the packets of one picture at nine tenths of the pace.
func pictureOf(frame uint64) []pacing.Packet {
	body := make([]byte, 1100)
	n := realRate.Scale(0.9).Bytes(time.Second/60) / len(body)
	var packets []pacing.Packet
	for i := range n {
		packets = append(packets, pacing.Packet{
			Class: pacing.Video, Frame: frame, First: i == 0, Marker: i == n-1, Body: body,
		})
	}
	return packets
}

// lateLoop is a pacer on an alarm, driven as the session's loop does it.
type lateLoop struct {
	pacer   *pacing.Pacer
	picture []pacing.Packet
	start   time.Time
	frames  int
	came    time.Time       // when the newest picture did
	late    []time.Duration // by how much each packet left later than it was due
}

// pacerLateness gives, of all packets, how much later than due they left, at
// the 99th percentile.
func pacerLateness(d time.Duration) (time.Duration, error) {
	l := &lateLoop{
		pacer:   pacing.New(pacing.Config{Pace: realRate, NoTailGuard: true}),
		picture: pictureOf(1), start: time.Now(),
	}
	alarm, err := timer.NewAlarm()
	if err != nil {
		return 0, err
	}
	defer alarm.Close()
	for now := l.start; now.Sub(l.start) <= d; now = time.Now() {
		if err := alarm.Set(time.Until(l.turn(now))); err != nil {
			return 0, err
		}
		<-alarm.C()
	}
	if len(l.late) == 0 {
		return 0, errors.New("the pacer let nothing go")
	}
	slices.Sort(l.late)
	return l.late[len(l.late)*99/100], nil
}

// timerLateness gives how late a timer of Go's alone fires that is set to the times of
// full packets at the same rate, at the 99th percentile: what a pacer without
// timer.Alarm could reach on this machine.
func timerLateness(d time.Duration) time.Duration {
	var late []time.Duration
	step := realRate.Duration(1200)
	start := time.Now()
	bare := time.NewTimer(0)
	defer bare.Stop()
	for due := start; due.Sub(start) < d; due = due.Add(step) {
		if wait := time.Until(due); wait > 0 {
			bare.Reset(wait)
			<-bare.C
		}
		late = append(late, time.Since(due))
	}
	slices.Sort(late)
	return late[len(late)*99/100]
}

// turn does what is due at now and gives when it wants to be woken.
func (l *lateLoop) turn(now time.Time) time.Time {
	if !now.Before(l.nextPicture()) {
		for _, pkt := range l.picture {
			l.pacer.Enqueue(now, pkt)
		}
		l.came = now
		l.frames++
	}
	for range 512 {
		due := l.pacer.Deadline()
		if _, ok := l.pacer.Next(now); !ok {
			break
		}
		if due.Before(l.came) {
			due = l.came
		}
		l.late = append(l.late, now.Sub(due))
	}
	next := l.nextPicture()
	if due := l.pacer.Deadline(); !due.IsZero() && due.Before(next) {
		next = due
	}
	return next
}

func (l *lateLoop) nextPicture() time.Time {
	return l.start.Add(time.Duration(l.frames) * time.Second / 60)
}

// allocations drives pacer and controller through pictures and feedback and
// counts what a packet allocates once all is warm.
func allocations() (float64, error) {
	l := &allocLoop{
		start: time.Now(), pacer: pacing.New(pacing.Config{Pace: realRate}), picture: pictureOf(1),
		control: cc.New(cc.Config{}), acks: make([]cc.Ack, 0, 4096),
	}
	l.now = l.start
	l.control.OnTick(l.now)
	l.run(600)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	sent := l.sequence
	l.run(600)
	runtime.ReadMemStats(&after)
	sent = l.sequence - sent
	if sent == 0 {
		return 0, errors.New("the pacer let nothing go")
	}
	// The runtime allocates now and then on its own account.
	return float64(int(100*float64(after.Mallocs-before.Mallocs)/float64(sent))) / 100, nil
}

// allocLoop is a session's loop in virtual time, over a link that takes 10 ms.
type allocLoop struct {
	start    time.Time
	now      time.Time
	pacer    *pacing.Pacer
	control  *cc.Controller
	picture  []pacing.Packet
	acks     []cc.Ack
	sequence uint64
	frame    uint64
}

// run plays so many pictures, with feedback for every six.
func (l *allocLoop) run(pictures int) {
	for i := range pictures {
		l.frame++
		for _, pkt := range l.picture {
			pkt.Frame = l.frame
			l.pacer.Enqueue(l.now, pkt)
		}
		for end := l.now.Add(time.Second / 60); l.now.Before(end); l.now = l.now.Add(time.Millisecond) {
			l.drain()
		}
		if i%6 == 5 {
			u := l.control.OnFeedback(l.now, l.acks)
			l.pacer.SetRates(l.now, max(u.Pace, realRate), u.Pad)
			l.acks = l.acks[:0]
		}
	}
}

// drain sends what is due; it arrives 10 ms later.
func (l *allocLoop) drain() {
	for range 512 {
		pkt, ok := l.pacer.Next(l.now)
		if !ok {
			return
		}
		l.control.OnSent(l.now, cc.Sent{
			Sequence: l.sequence, SizeBytes: 48 + len(pkt.Body), At: l.now, Frame: pkt.Frame, Last: pkt.Marker,
		})
		if len(l.acks) < cap(l.acks) {
			l.acks = append(l.acks, cc.Ack{Sequence: l.sequence, Arrived: l.now.Sub(l.start) + 10*time.Millisecond})
		}
		l.sequence++
	}
}
