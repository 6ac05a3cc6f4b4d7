package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/cmd/bench/wire"
	"nearglass/server/e2e/desk"
	"nearglass/telemetry/doctor"
)

// faultCase is a fault of one severity in a real stream.
type faultCase struct {
	name   string
	fault  doctor.Fault   // to be named first; empty for a healthy stream
	or     []doctor.Fault // which are right as well, where two are there
	quick  bool
	every  time.Duration // between two pictures of the source; 0: hardly any
	shape  wire.Shape
	args   []string // of serve
	prefix []string // that starts the host
	inject func(ctx context.Context, r *faultRun) error
}

// full is the time between two pictures at full motion.
const full = time.Second / fps

// path is a link of that rate, with a queue of so many milliseconds.
func path(mbps float64, oneWay, queue time.Duration) wire.Shape {
	return wire.Shape{
		Forward: sim.LinkConfig{Rates: []sim.Step{{Rate: rate.Rate(mbps * 1e6)}}, Delay: oneWay, Queue: sim.Queue{Limit: queue}},
		Back:    sim.LinkConfig{Delay: oneWay}, Seed: 7,
	}
}

var home = path(25, 8*time.Millisecond, 250*time.Millisecond)

func lossy(percent float64) wire.Shape {
	s := home
	s.Forward.Loss = sim.Loss{Random: percent / 100}
	return s
}

func away(length, every time.Duration) wire.Shape {
	s := home
	s.Forward.Outages = sim.Outages{Length: length, Every: every, From: 3 * time.Second}
	s.Back.Outages = s.Forward.Outages
	s.Back.Rates = []sim.Step{{Rate: 50 * rate.Mbps}}
	return s
}

var faultCases = []faultCase{
	{name: "healthy motion", quick: true, every: full, shape: home},
	{name: "healthy still", every: 0, shape: home},
	{name: "healthy film", every: time.Second / 24, shape: home},
	{name: "healthy far", every: full, shape: path(15, 30*time.Millisecond, 250*time.Millisecond)},
	{name: "healthy glance away", every: full, shape: home, inject: hide(6*time.Second, 4*time.Second)},
	{name: "lossy link 2", fault: doctor.LossyLink, every: full, shape: lossy(2)},
	{name: "lossy link 5", quick: true, fault: doctor.LossyLink, every: full, shape: lossy(5)},
	{name: "lossy link 10", fault: doctor.LossyLink, every: full, shape: lossy(10)},
	{name: "capped link 1", fault: doctor.CappedLink, every: full, shape: path(1, 8*time.Millisecond, 250*time.Millisecond)},
	{name: "capped link 0.6", quick: true, fault: doctor.CappedLink, every: full, shape: path(0.6, 8*time.Millisecond, 250*time.Millisecond)},
	{name: "capped link 0.35", fault: doctor.CappedLink, every: full, shape: path(0.35, 8*time.Millisecond, 250*time.Millisecond)},
	{name: "competing traffic 1", fault: doctor.CompetingTraffic, every: full, shape: path(8, 8*time.Millisecond, 130*time.Millisecond), inject: bulk(1)},
	{name: "competing traffic 3", fault: doctor.CompetingTraffic, every: full, shape: path(8, 8*time.Millisecond, 130*time.Millisecond), inject: bulk(3)},
	{name: "bufferbloat 600", fault: doctor.Bufferbloat, every: full, shape: path(8, 8*time.Millisecond, 600*time.Millisecond), inject: bulk(1)},
	{name: "bufferbloat 1500", fault: doctor.Bufferbloat, every: full, shape: path(8, 8*time.Millisecond, 1500*time.Millisecond), inject: bulk(1)},
	{name: "flapping wifi 180", fault: doctor.FlappingWiFi, every: full, shape: away(180*time.Millisecond, 2500*time.Millisecond)},
	{name: "flapping wifi 350", fault: doctor.FlappingWiFi, every: full, shape: away(350*time.Millisecond, 3*time.Second)},
	{name: "mtu trouble 1100", fault: doctor.MTUTrouble, every: full, shape: home, inject: tunnel(1100)},
	{name: "mtu trouble 700", fault: doctor.MTUTrouble, every: full, shape: home, inject: tunnel(700)},
	{name: "cpu starved 2", fault: doctor.CPUStarved, every: full, shape: home, prefix: []string{"taskset", "-c", "0"}, inject: spin(2, 0)},
	{name: "cpu starved 6", quick: true, fault: doctor.CPUStarved, every: full, shape: home, prefix: []string{"taskset", "-c", "0"}, inject: spin(6, 0)},
	{name: "encoder overload", fault: doctor.EncoderOverload, every: full, shape: home, args: []string{"--preset", "medium"}, prefix: []string{"taskset", "-c", "0"}},
	{name: "stalled capture 2", fault: doctor.StalledCapture, every: full, shape: home, inject: stall(8*time.Second, 2*time.Second)},
	{name: "stalled capture 6", fault: doctor.StalledCapture, every: full, shape: home, inject: stall(8*time.Second, 6*time.Second)},
	{name: "slow source 120", fault: doctor.SlowSource, every: 120 * time.Millisecond, shape: home},
	{name: "slow source 300", fault: doctor.SlowSource, every: 300 * time.Millisecond, shape: home},
	{name: "viewer background", fault: doctor.ViewerBackground, every: full, shape: home, inject: hide(5*time.Second, 12*time.Second)},
	{name: "slow decoder", fault: doctor.SlowDecoder, or: []doctor.Fault{doctor.ViewerThrottled}, every: full, shape: home, inject: slowThreads("ThreadPool")},
	{name: "viewer throttled 30", fault: doctor.ViewerThrottled, every: full, shape: home, inject: limp(6*time.Second, 30)},
	{name: "viewer throttled 60", fault: doctor.ViewerThrottled, every: full, shape: home, inject: limp(6*time.Second, 60)},
	{name: "viewer frozen 4", fault: doctor.ViewerThrottled, every: full, shape: home, inject: freezeViewer(8*time.Second, 4*time.Second)},
	{name: "host frozen 5", fault: doctor.HostAsleep, every: full, shape: home, inject: freezeHost(8*time.Second, 5*time.Second)},
	{name: "viewer clock jump", fault: doctor.ClockJump, every: full, shape: home, inject: setClock(8*time.Second, time.Hour)},
}

// wait waits within a run.
func wait(ctx context.Context, d time.Duration) error { return sleepUntil(ctx, time.Now().Add(d)) }

// bulk starts TCP flows that fill the queue, after a while.
func bulk(flows int) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, 5*time.Second); err != nil {
			return err
		}
		for range flows {
			f, err := startBulk(ctx, r.wire)
			if err != nil {
				return err
			}
			r.stops = append(r.stops, func() { _ = f.close() })
		}
		return nil
	}
}

// tunnel has packets of more bytes than that vanish at the far end.
func tunnel(most int) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, 4*time.Second); err != nil {
			return err
		}
		rule := func(do string) error {
			line := append(r.wire.Far.Prefix(), "iptables", do, "INPUT", "-p", "udp", "-m", "length", "--length", fmt.Sprintf("%d:65535", most+1), "-j", "DROP")
			_, err := desk.Run(context.WithoutCancel(ctx), desk.Command{Name: line[0], Args: line[1:]})
			return err
		}
		if err := rule("-A"); err != nil {
			return err
		}
		<-ctx.Done()
		return rule("-D")
	}
}

// spin keeps a core busy with so many programs.
func spin(count, core int) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, 4*time.Second); err != nil {
			return err
		}
		for range count {
			if _, err := desk.Start(ctx, desk.Command{Name: "taskset", Args: []string{"-c", strconv.Itoa(core), "sh", "-c", "while :; do :; done"}}); err != nil {
				return err
			}
		}
		return nil
	}
}

// signals stops processes and has them go on.
func signals(ctx context.Context, pids []int, after, length time.Duration) error {
	if err := wait(ctx, after); err != nil {
		return err
	}
	defer resume(pids)
	suspend(pids)
	return wait(ctx, length)
}

// stall stops the display server.
func stall(after, length time.Duration) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		return signals(ctx, []int{r.screen.proc.Pid()}, after, length)
	}
}

func freezeHost(after, length time.Duration) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		pids, err := descendants(r.host.Process.Pid())
		if err != nil {
			return err
		}
		return signals(ctx, pids, after, length)
	}
}

func freezeViewer(after, length time.Duration) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		pids, err := viewerProcesses()
		if err != nil {
			return err
		}
		return signals(ctx, pids, after, length)
	}
}

// limp lets the viewer's browser run for so many hundredths of the time only.
func limp(after time.Duration, percent int) func(context.Context, *faultRun) error {
	const period = 100 * time.Millisecond
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, after); err != nil {
			return err
		}
		pids, err := viewerProcesses()
		if err != nil {
			return err
		}
		on := period * time.Duration(percent) / 100
		for err == nil {
			err = errors.Join(signals(ctx, pids, on, period-on))
		}
		return err
	}
}

// hide shows another page in front of the viewer's.
func hide(after, length time.Duration) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, after); err != nil {
			return err
		}
		other, err := r.page.Sibling()
		if err != nil {
			return err
		}
		defer other.Close()
		if err := other.ToFront(); err != nil {
			return err
		}
		err = wait(ctx, length)
		return errors.Join(err, r.page.ToFront())
	}
}

// setClock sets the clock that the viewer's page reads.
func setClock(after, by time.Duration) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, after); err != nil {
			return err
		}
		return r.page.Run(fmt.Sprintf("const now = Date.now.bind(Date); Date.now = () => now() + %d", by.Milliseconds()))
	}
}

// slowThreads takes the processor from one kind of the browser's threads: they
// share a core with busy programs of a higher priority. New ones are found as they
// come.
func slowThreads(name string) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, 3*time.Second); err != nil {
			return err
		}
		if err := spin(2, 1)(ctx, r); err != nil {
			return err
		}
		for {
			threads, err := threadsNamed(name)
			if err != nil {
				return err
			}
			for _, tid := range threads {
				slowDown(ctx, strconv.Itoa(tid))
			}
			if err := wait(ctx, time.Second); err != nil {
				return err
			}
		}
	}
}

// slowDown moves a thread to the busy core, behind all others. The thread may
// have ended.
func slowDown(ctx context.Context, tid string) {
	_ = exec.CommandContext(ctx, "taskset", "-pc", "1", tid).Run()
	_ = exec.CommandContext(ctx, "renice", "-n", "10", "-p", tid).Run()
}
