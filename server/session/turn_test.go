package session

import (
	"testing"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/telemetry"
)

// atRest is a session whose loop does not run, to take single turns of it.
func atRest(t *testing.T) *Session {
	t.Helper()
	s, err := New(Config{Peer: &fakePeer{}, Pictures: gpu.NewRing().NewReader(), Meter: telemetry.NewMeter(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// coded is a picture of some packets.
func coded(frame uint64, key bool) unit {
	return unit{AccessUnit: encode.AccessUnit{NALs: [][]byte{make([]byte, 5000)}, Key: key, SizeBytes: 5000}, frame: frame}
}

// TestOneKeyFrameAtATime: while a key frame waits for its turn, another request
// for one says nothing new, however long that takes.
func TestOneKeyFrameAtATime(t *testing.T) {
	s, p := atRest(t), plan{}
	begin := time.Now()
	asked := func(after time.Duration) bool {
		s.feedback(begin.Add(after), cc.Feedback{KeyFrame: true}, p)
		return s.video.orders.take().key
	}
	if !asked(0) {
		t.Error("the first request was refused")
	}
	if asked(5 * time.Second) {
		t.Error("another was ordered while the first still waits")
	}
	s.enqueue(begin.Add(6*time.Second), coded(1, true), p)
	if asked(6*time.Second + 199*time.Millisecond) {
		t.Error("another was ordered before the first can have arrived")
	}
	if !asked(6*time.Second + 200*time.Millisecond) {
		t.Error("a request was refused when the key frame must have been lost")
	}
}

// TestKeyFrameHasTimeToArrive: a request is refused for as long as the key frame that
// was enqueued last takes, by its own size, and by what is believed of the path when
// it is asked for.
func TestKeyFrameHasTimeToArrive(t *testing.T) {
	begin := time.Now()
	for name, tt := range map[string]struct {
		sizeBytes int
		then      plan // when it is asked for again
		takes     time.Duration
	}{
		"a small one":                 {1000, plan{KeyRate: rate.Mbps}, minKeyEvery},
		"a large one":                 {50_000, plan{KeyRate: rate.Mbps}, 400 * time.Millisecond},
		"on a path that is far away":  {50_000, plan{KeyRate: rate.Mbps, KeyDelay: 300 * time.Millisecond}, 700 * time.Millisecond},
		"on a path that became worse": {50_000, plan{KeyRate: 200 * rate.Kbps}, 2 * time.Second},
		"on one that is not known":    {50_000, plan{}, minKeyEvery},
	} {
		s := atRest(t)
		key := coded(1, true)
		key.SizeBytes = tt.sizeBytes
		s.enqueue(begin, key, plan{KeyRate: rate.Mbps})
		for _, asked := range []struct {
			after time.Duration
			want  bool
		}{{tt.takes - time.Millisecond, false}, {tt.takes, true}} {
			s.feedback(begin.Add(asked.after), cc.Feedback{KeyFrame: true}, tt.then)
			if got := s.video.orders.take().key; got != asked.want {
				t.Errorf("%s: a request after %v was granted: %v", name, asked.after, got)
			}
		}
	}
}

// TestKeyFrameOvertakesWhatIsOld: pictures that waited too long go when a key
// frame makes them needless, and no sooner: the next would lack its reference.
func TestKeyFrameOvertakesWhatIsOld(t *testing.T) {
	begin := time.Now()
	for name, tt := range map[string]struct {
		wait    time.Duration
		key     bool
		dropped uint64
	}{
		"old, before a key frame":   {time.Second, true, 2},
		"young, before a key frame": {100 * time.Millisecond, true, 0},
		"old, before another":       {time.Second, false, 0},
	} {
		s, p := atRest(t), plan{Patience: leastPatience}
		s.enqueue(begin, coded(1, true), p)
		s.enqueue(begin, coded(2, false), p)
		s.enqueue(begin.Add(tt.wait), coded(3, tt.key), p)
		if n := s.pacer.Snapshot().Dropped; n != tt.dropped {
			t.Errorf("%s: %d pictures were dropped, want %d", name, n, tt.dropped)
		}
		if s.video.orders.take().key {
			t.Errorf("%s: a key frame was ordered in spite of the one that waits", name)
		}
	}
}

// TestControllers: the two kinds of controller, by configuration.
func TestControllers(t *testing.T) {
	for _, tt := range []struct {
		bitrate rate.Rate
		state   string
	}{{0, "starting"}, {3 * rate.Mbps, "constant"}} {
		s := atRest(t)
		s.c.Bitrate = tt.bitrate
		c, err := s.newController()
		if err != nil {
			t.Fatal(err)
		}
		if u := c.OnTick(time.Now()); u.State != tt.state {
			t.Errorf("for a bitrate of %v the controller says %q", tt.bitrate, u.State)
		}
		if m := s.Memory(); m != (Memory{}) {
			t.Errorf("before its begin a session remembers %+v", m)
		}
	}
	if _, err := New(Config{Bitrate: -1}); err == nil {
		t.Error("a rate below zero was taken")
	}
}
