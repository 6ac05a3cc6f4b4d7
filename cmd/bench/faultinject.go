package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
)

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
func tunnel(after time.Duration, most int) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, after); err != nil {
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

// spin keeps a core busy with so many programs, after a while.
func spin(count, core int) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, 4*time.Second); err != nil {
			return err
		}
		return keepBusy(ctx, count, core)
	}
}

func keepBusy(ctx context.Context, count, core int) error {
	for range count {
		if _, err := desk.Start(ctx, desk.Command{Name: "taskset", Args: []string{"-c", strconv.Itoa(core), "sh", "-c", "while :; do :; done"}}); err != nil {
			return err
		}
	}
	return nil
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

// setHostClock sets the wall clock that the host's process reads, and no other's.
func setHostClock(after, by time.Duration) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, after); err != nil {
			return err
		}
		return setWallClock(r.host.Process.Pid(), by)
	}
}

// slowThreads takes the processor from one kind of the browser's threads: they
// share a core with so many busy programs of a higher priority. New ones are found
// as they come.
func slowThreads(name string, busy int) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := keepBusy(ctx, busy, 1); err != nil {
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

// both puts in two faults at once.
func both(a, b func(context.Context, *faultRun) error) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		other := make(chan error, 1)
		go func() { other <- b(ctx, r) }()
		return errors.Join(a(ctx, r), <-other)
	}
}

// asker lets the viewer's video pass through a worker, where alone a page can ask
// for a key frame.
const asker = `(() => {
	const worker = "let t; onrtctransform = (e) => { t = e.transformer; t.readable.pipeTo(t.writable); };" +
		"onmessage = (m) => setInterval(() => t.sendKeyFrameRequest(), m.data);";
	const Plain = window.RTCPeerConnection;
	window.RTCPeerConnection = class extends Plain {
		constructor(...args) {
			super(...args);
			this.addEventListener("track", (e) => {
				if (e.track.kind !== "video") return;
				window.asker = new Worker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })));
				e.receiver.transform = new RTCRtpScriptTransform(window.asker);
			});
		}
	};
})();`

// The second road between the ends of the wire.
const (
	besideName = "beside0"
	besideNear = "10.219.40.1"
	besideFar  = "10.219.40.2"
)

// layCable lays it: a cable that takes no time.
func (r *faultRun) layCable(ctx context.Context) error {
	near, far := r.wire.Near.Name, r.wire.Far.Name
	ip := func(line string) error {
		_, err := desk.Run(context.WithoutCancel(ctx), desk.Command{Name: "ip", Args: strings.Fields(line)})
		return err
	}
	for _, line := range []string{
		fmt.Sprintf("link add %s netns %s type veth peer name %s netns %s", besideName, near, besideName, far),
		fmt.Sprintf("-n %s addr add %s/30 dev %s", near, besideNear, besideName),
		fmt.Sprintf("-n %s addr add %s/30 dev %s", far, besideFar, besideName),
		fmt.Sprintf("-n %s link set %s up", near, besideName),
		fmt.Sprintf("-n %s link set %s up", far, besideName),
	} {
		if err := ip(line); err != nil {
			return err
		}
	}
	r.stops = append(r.stops, func() { _ = ip(fmt.Sprintf("-n %s link del %s", near, besideName)) })
	return nil
}

// shun has the viewer take the second road for the worse one, as an agent does that
// judges networks by their kind. It checks that one once, while the answer over the
// other is on its way, and so knows that it works.
const shun = `(() => {
	const set = RTCPeerConnection.prototype.setRemoteDescription;
	RTCPeerConnection.prototype.setRemoteDescription = function (d) {
		const lower = (_, before, priority, after) => before + (priority - 1e6) + after;
		return set.call(this, { type: d.type, sdp: d.sdp.replace(/^a=candidate:.* 127\.0\.0\.1 .*\r\n/gm, "").replace(/^(a=candidate:\S+ \d+ udp )(\d+)( 10\.219\.40\.1 .*)$/gim, lower) });
	};
})();`

// allow has the page run a script first, and whatever that starts.
func allow(p *desk.Page, script string) error {
	_, err := chromedp.Call(p.Context(), page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
	return errors.Join(err, runFirst(p, script))
}

// storm has the viewer ask for a key frame once in this time, though it needs
// none. It takes asker.
func storm(every time.Duration) func(context.Context, *faultRun) error {
	return func(ctx context.Context, r *faultRun) error {
		if err := wait(ctx, 4*time.Second); err != nil {
			return err
		}
		return r.page.Run(fmt.Sprintf("window.asker.postMessage(%d)", every.Milliseconds()))
	}
}
