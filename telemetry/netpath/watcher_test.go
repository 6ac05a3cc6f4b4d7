package netpath

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPoller(t *testing.T) {
	ms := time.Millisecond
	often := func(n int, err error) (list []error) {
		for range n {
			list = append(list, err)
		}
		return list
	}
	for name, tt := range map[string]struct {
		took  time.Duration
		errs  []error
		pause time.Duration // after the last of them
	}{
		"quick answer":       {ms, often(1, nil), askEvery},
		"large network":      {40 * ms, often(2, nil), 800 * ms},
		"slow daemon":        {1900 * ms, often(3, nil), mostPause},
		"hangs once":         {askTime, often(1, errHangs), leastBackoff},
		"hangs three times":  {askTime, often(3, errHangs), 4 * leastBackoff},
		"hangs for ever":     {askTime, often(200, errHangs), mostBackoff},
		"recovers":           {ms, []error{errHangs, errStrange, nil}, askEvery},
		"hangs again":        {ms, []error{errHangs, errHangs, nil, errHangs}, leastBackoff},
		"absent":             {ms, often(2, ErrAbsent), absentPause},
		"refuses":            {ms, often(1, fmt.Errorf("%w: why", ErrRefused)), refusedPause},
		"nonsense, at first": {ms, often(1, errStrange), leastBackoff},
	} {
		var p poller
		at := time.Unix(1e9, 0)
		for _, err := range tt.errs {
			at = later(at, p.next)
			if p.due(p.next.Add(-1)) || !p.due(at) || p.due(at.Add(time.Hour)) {
				t.Fatalf("%s: asked before its time, or not once", name)
			}
			at = at.Add(tt.took)
			p.done(at, err)
		}
		if got := p.next.Sub(at); got != tt.pause {
			t.Errorf("%s: pause %s, want %s", name, got, tt.pause)
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// machine is a Watcher's world under a test's control.
type machine struct {
	on      []Interface
	source  netip.Addr
	status  TailscaleStatus
	answers time.Duration // how long Tailscale takes; below zero: for ever
	fails   error
	asked   atomic.Int32
	zt      atomic.Int32
}

func (m *machine) watcher() *Watcher {
	return NewWatcher(Config{
		Interfaces: func() ([]Interface, error) { return m.on, nil },
		Source:     func(netip.Addr) netip.Addr { return m.source },
		Tailscale: func(ctx context.Context, _ time.Time) (TailscaleStatus, error) {
			m.asked.Add(1)
			if m.answers < 0 {
				<-ctx.Done()
				return TailscaleStatus{}, sorted(ctx.Err())
			}
			select {
			case <-ctx.Done():
				return TailscaleStatus{}, sorted(ctx.Err())
			case <-time.After(m.answers):
			}
			return m.status, m.fails
		},
		ZeroTier: func(context.Context, time.Time) (ZeroTierStatus, error) {
			m.zt.Add(1)
			return ZeroTierStatus{}, ErrAbsent
		},
	})
}

// switched is the tailnet after its direct peer has lost that way.
func switched() TailscaleStatus {
	s := tailnet()
	s.Peers[0].Direct, s.Peers[0].PeerRelay = "", ""
	return s
}

var onTailnet = Pair{Remote: netip.MustParseAddr("100.64.0.1"), LocalType: "host", RemoteType: "prflx"}

// follow looks as a stream does and gives the time until words are seen.
func follow(t *testing.T, w *Watcher, p Pair, words string) time.Duration {
	t.Helper()
	start := time.Now()
	for time.Since(start) < time.Minute {
		before := time.Now()
		path, again := w.Look(before, p)
		if d := time.Since(before); d != 0 {
			t.Fatalf("a look took %s", d)
		}
		if path.Words() == words {
			return time.Since(start)
		}
		time.Sleep(time.Until(again))
		synctest.Wait()
	}
	t.Fatalf("%q did not show within a minute", words)
	return 0
}

// TestFollowsAChange: a change that the daemon knows shows within a second,
// whenever it comes, and within 2 s where the daemon is very slow.
func TestFollowsAChange(t *testing.T) {
	for _, tt := range []struct{ answers, within time.Duration }{
		{2 * time.Millisecond, time.Second}, {40 * time.Millisecond, 1250 * time.Millisecond}, {900 * time.Millisecond, 3 * time.Second},
	} {
		worst := time.Duration(0)
		for shift := range 20 {
			synctest.Test(t, func(t *testing.T) {
				m := &machine{on: []Interface{lo, eth, tsLin}, source: tsLin.Prefixes[0].Addr(), status: tailnet(), answers: tt.answers}
				w := m.watcher()
				defer w.Close()
				follow(t, w, onTailnet, "Tailscale direct")
				time.Sleep(time.Duration(shift) * 37 * time.Millisecond)
				m.status = switched()
				took := follow(t, w, onTailnet, "Tailscale relayed, Frankfurt")
				worst = max(worst, took)
				m.status = tailnet()
				worst = max(worst, follow(t, w, onTailnet, "Tailscale direct"))
			})
		}
		if worst > tt.within {
			t.Errorf("with answers after %s a change took up to %s to show", tt.answers, worst)
		}
	}
}

// TestHangingDaemon: it is asked ever more rarely, no look waits for it, the
// path says what is not known, and its recovery is noticed.
func TestHangingDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{on: []Interface{tsLin}, source: tsLin.Prefixes[0].Addr(), status: tailnet(), answers: time.Millisecond}
		w := m.watcher()
		defer w.Close()
		follow(t, w, onTailnet, "Tailscale direct")
		m.answers = -1
		took := follow(t, w, onTailnet, "Tailscale")
		if took > answerAge+time.Second {
			t.Errorf("an answer held for %s", took)
		}
		path, _ := w.Look(time.Now(), onTailnet)
		if path.Kind != Tailscale || !strings.Contains(path.Unknown, "does not answer") {
			t.Errorf("%+v", path)
		}
		before := m.asked.Load()
		for start := time.Now(); time.Since(start) < 5*time.Minute; time.Sleep(lookEvery) {
			w.Look(time.Now(), onTailnet)
		}
		if n := m.asked.Load() - before; n < 5 || n > 20 {
			t.Errorf("asked %d times in five minutes", n)
		}
		m.answers = time.Millisecond
		if took := follow(t, w, onTailnet, "Tailscale direct"); took > mostBackoff+askTime+time.Second {
			t.Errorf("the recovery showed after %s", took)
		}
	})
}

// TestPlainPathsAskNobody: streams in the local network cost the daemons nothing.
func TestPlainPathsAskNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{on: []Interface{lo, eth, tsLin, wg}, source: eth.Prefixes[0].Addr(), status: tailnet()}
		w := m.watcher()
		defer w.Close()
		for range 100 {
			path, again := w.Look(time.Now(), Pair{Remote: netip.MustParseAddr("192.168.1.7")})
			if path.Words() != "local network" || time.Until(again) != interfacesAge {
				t.Fatalf("%+v, again in %s", path, time.Until(again))
			}
			time.Sleep(time.Second)
		}
		if m.asked.Load() != 0 || m.zt.Load() != 0 {
			t.Errorf("Tailscale was asked %d times, ZeroTier %d times", m.asked.Load(), m.zt.Load())
		}
		// A stream of the tailnet asks the one; a tap asks the other.
		m.source = tsLin.Prefixes[0].Addr()
		follow(t, w, onTailnet, "Tailscale direct")
		if m.zt.Load() != 0 {
			t.Error("ZeroTier was asked about Tailscale's interface")
		}
	})
}

func TestWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{on: []Interface{lo, eth, tsLin, ztLin}, source: tsLin.Prefixes[0].Addr(), status: tailnet()}
		w := m.watcher()
		defer w.Close()
		w.Warm(time.Now())
		synctest.Wait()
		if path, _ := w.Look(time.Now(), onTailnet); path.Kind != TailscaleDirect || m.zt.Load() != 1 {
			t.Errorf("the first look gives %+v; ZeroTier was asked %d times", path, m.zt.Load())
		}
	})
}

// TestInterfaceComesAndGoes: packets that take another interface from now on are
// seen to, and at once when it is new.
func TestInterfaceComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{on: []Interface{lo, eth}, source: eth.Prefixes[0].Addr(), status: tailnet()}
		w := m.watcher()
		defer w.Close()
		remote := Pair{Remote: netip.MustParseAddr("192.168.1.7")}
		if path, _ := w.Look(time.Now(), remote); path.Interface != "eth0" {
			t.Errorf("%+v", path)
		}
		m.on, m.source = []Interface{lo, eth, wg}, wg.Prefixes[0].Addr()
		if path, _ := w.Look(time.Now(), remote); path.Words() != "VPN (wg0)" || path.MTU != 1420 {
			t.Errorf("%+v", path)
		}
		m.on = []Interface{lo, eth}
		time.Sleep(interfacesAge)
		if path, _ := w.Look(time.Now(), remote); path.Interface != "" || !strings.Contains(path.Unknown, "10.6.0.2") {
			t.Errorf("%+v", path)
		}
	})
}

func TestWatcherWithoutInterfaces(t *testing.T) {
	w := NewWatcher(Config{
		Interfaces: func() ([]Interface, error) { return nil, errors.New("no netlink") },
		Source:     func(netip.Addr) netip.Addr { return netip.Addr{} },
		Tailscale:  func(context.Context, time.Time) (TailscaleStatus, error) { return TailscaleStatus{}, ErrAbsent },
		ZeroTier:   func(context.Context, time.Time) (ZeroTierStatus, error) { return ZeroTierStatus{}, ErrAbsent },
	})
	for remote, want := range map[string]string{"192.168.1.7": "local network", "203.0.113.9": "internet", "127.0.0.1": "this machine"} {
		if path, _ := w.Look(time.Now(), Pair{Remote: netip.MustParseAddr(remote)}); path.Words() != want {
			t.Errorf("%s: %+v", remote, path)
		}
	}
	w.Close()
	w.Warm(time.Now()) // asks nobody any more
}
