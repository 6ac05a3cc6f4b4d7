package cc

import (
	"fmt"
	"math"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// Extremes that a fuzzer would take long to find by itself. The grain of
// arrivals is kept in all of them: it is what bounds a rate from above.
var (
	oddRates  = []rate.Rate{0, 1, 1000, defaultMin, rate.Mbps, defaultMax, math.MaxInt64, -1, math.MinInt64}
	oddSizes  = []int{1200, 1, 0, -1, 100, 65507, 65508, math.MaxInt, math.MinInt}
	oddSteps  = []time.Duration{arrivalGrain, 0, -time.Hour, time.Hour, time.Second, 48 * time.Hour, -time.Millisecond, time.Nanosecond, -arrivalGrain, math.MaxInt64 / 4}
	oddJumps  = []uint64{2, 3, historySize - 1, historySize, historySize + 1, 1 << 32, math.MaxUint64, 0}
	oddArrive = []time.Duration{0, -time.Hour, time.Hour, math.MaxInt64, math.MinInt64, math.MaxInt64 / 2, math.MinInt64 / 2, 48 * time.Hour}
)

// script gives a fuzzer's bytes out; zeros when they are used up.
type script struct{ bytes []byte }

func (s *script) next() int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b)
}

func pick[T any](s *script, from []T) T { return from[s.next()%len(from)] }

// fuzzed is a controller in the hands of a script.
type fuzzed struct {
	c        *Controller
	now      time.Time
	arrived  time.Duration
	sequence uint64
	frame    uint64
	bytes    int // sent so far, of packets that could be
}

func newFuzzed(s *script) *fuzzed {
	f := &fuzzed{now: virtualStart, sequence: 1, frame: 1}
	conf := Config{
		Start: pick(s, oddRates), Min: pick(s, oddRates), Max: pick(s, oddRates),
		FrameInterval: pick(s, oddSteps), Off: Part(s.next()) | Part(s.next())<<8,
	}
	if s.next()%2 == 1 {
		conf.Memory = Memory{Capacity: pick(s, oddRates), At: f.now.Add(pick(s, oddSteps))}
	}
	f.c = New(conf)
	return f
}

// step runs one command and returns its update.
func (f *fuzzed) step(s *script) Update {
	switch op := s.next(); op % 8 {
	case 0, 1:
		f.send(1+op/8, 1200, arrivalGrain)
	case 2:
		f.sequence += pick(s, oddJumps)
		f.send(1, pick(s, oddSizes), pick(s, oddSteps))
	case 3, 4:
		return f.acks(s, arrivalGrain*time.Duration(op/8))
	case 5:
		f.arrived += pick(s, oddArrive)
		return f.acks(s, pick(s, oddSteps).Truncate(arrivalGrain))
	case 6:
		f.now = f.now.Add(pick(s, oddSteps))
		return f.c.OnTick(f.now)
	case 7:
		if op/8%8 == 7 {
			return f.c.RouteChanged(f.now, Memory{Capacity: pick(s, oddRates), At: f.now.Add(pick(s, oddSteps))}, op/64 == 1)
		}
		f.now = f.now.Add(time.Duration(op/8) * time.Millisecond)
		f.frame++
	}
	return f.c.update
}

// send sends some packets of a picture, one at a time.
func (f *fuzzed) send(n, size int, every time.Duration) {
	for range n {
		f.c.OnSent(f.now, Sent{
			Sequence: f.sequence, SizeBytes: size, At: f.now, Frame: f.frame,
			Resend: f.frame%7 == 6, Probe: uint32(f.frame % 5 / 4),
		})
		if size > 0 && size <= 65507 {
			f.bytes += size + ipOverheadBytes
		}
		f.sequence++
		f.now = f.now.Add(every)
	}
	f.frame++
}

// acks reports some packets, spaced evenly, in an order of the script's choice.
func (f *fuzzed) acks(s *script, every time.Duration) Update {
	n, back, how := s.next()%64, s.next(), s.next()
	first := f.sequence - uint64(back)
	acks := make([]Ack, n)
	for i := range acks {
		at := uint64(i)
		switch how % 4 {
		case 1:
			at = uint64(n - i) // unsorted
		case 2:
			at = uint64(i / 2) // duplicates
		case 3:
			at = uint64(i) * 0x9e3779b97f4a7c15 // unknown
		}
		f.arrived += every
		acks[i] = Ack{Sequence: first + at, Arrived: f.arrived.Truncate(arrivalGrain), Lost: how/4 > 0 && i%(how/4) == 0}
	}
	return f.c.OnFeedback(f.now, acks)
}

// mostPace is what no pace may be above. Of all that was ever sent, a train
// cannot show more than its arrival within one grain of arrival times.
func (f *fuzzed) mostPace() rate.Rate {
	c := f.c.c
	proven := rate.Of(f.bytes, arrivalGrain)
	return max(startPace, c.Start, c.Min, c.Memory.Capacity.Scale(recallGain), proven.Scale(mostGain*blindProven))
}

// check says what is wrong with an update; nil when nothing is.
func (f *fuzzed) check(u Update) error {
	c := f.c.c
	share, noise, limit := f.c.share.value, f.c.cap.noise, f.c.loss.cap
	switch {
	case u.Target < c.Min || u.Target > c.Max:
		return fmt.Errorf("target %d is not within %d and %d", u.Target, c.Min, c.Max)
	case u.Pace <= 0 || u.Pace > f.mostPace():
		return fmt.Errorf("pace %d is not within 1 and %d", u.Pace, f.mostPace())
	case u.Path.Rate < 0 || u.Path.Depth < 0 || u.Path.Queue < 0 || u.Path.Queue > longestQueue:
		return fmt.Errorf("path %+v", u.Path)
	case u.Pad < 0, u.Probe.ID != 0 && (u.Probe.Rate <= 0 || u.Probe.Bytes <= 0 || u.Probe.Bytes > mostProbe):
		return fmt.Errorf("pad %v, probe %+v", u.Pad, u.Probe)
	case u.State == "" || u.Reason == "":
		return fmt.Errorf("no reason: %+v", u)
	case !(share >= leastShare && share <= 1):
		return fmt.Errorf("share %v", share)
	case !(noise >= 0) || math.IsInf(noise, 0) || !(limit >= 0) || math.IsInf(limit, 0):
		return fmt.Errorf("noise %v, loss limit %v", noise, limit)
	case f.c.cap.rate < 0:
		return fmt.Errorf("capacity %d", f.c.cap.rate)
	}
	return nil
}

// checkDeadline answers a few deadlines at their time: each has to move the next
// one on, or a loop that waits for it would spin.
func (f *fuzzed) checkDeadline() error {
	for range 4 {
		due := f.c.Deadline()
		if due.IsZero() {
			return nil
		}
		if due.After(f.now) {
			f.now = due
		}
		if err := f.check(f.c.OnTick(f.now)); err != nil {
			return err
		}
		if next := f.c.Deadline(); !next.IsZero() && !next.After(f.now) {
			return fmt.Errorf("deadline stays at %v, which is %v ago", next, f.now.Sub(next))
		}
	}
	return nil
}

// FuzzController plays the worst host, receiver and clock there are.
func FuzzController(f *testing.F) {
	usual := []byte{4, 3, 5, 0, 0, 0, 0}
	f.Add(usual)
	f.Add(append(usual, 128, 67, 16, 17, 0, 135, 128, 67, 16, 17, 0, 135, 128, 67, 16, 17, 0, 6, 3))
	f.Add(append(usual, 128, 5, 3, 5, 16, 17, 0, 128, 5, 4, 3, 16, 17, 0, 6, 2, 6, 2))
	f.Add(append(usual, 2, 6, 7, 3, 2, 7, 0, 0, 3, 20, 40, 3, 128, 3, 60, 60, 1, 128, 3, 60, 60, 10))
	f.Add([]byte{6, 6, 6, 9, 0, 0, 1, 6, 0, 2, 0, 7, 0, 67, 5, 5, 0, 6, 5})
	f.Add([]byte{1, 1, 1, 7, 0, 0, 1, 1, 1, 128, 6, 4, 6, 4, 67, 16, 17, 0, 6, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &script{b}
		x := newFuzzed(s)
		if err := x.check(x.c.OnTick(x.now)); err != nil {
			t.Fatalf("at the start: %v", err)
		}
		for i := 0; len(s.bytes) > 0 && i < 400; i++ {
			if err := x.check(x.step(s)); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			if m := x.c.Memory(x.now); m.Capacity < 0 {
				t.Fatalf("step %d: remembers %v", i, m)
			}
			if i%8 == 7 || len(s.bytes) == 0 {
				if err := x.checkDeadline(); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
		}
	})
}
