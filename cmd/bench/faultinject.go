package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
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
