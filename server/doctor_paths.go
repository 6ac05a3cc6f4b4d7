package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nearglass/telemetry/netpath"
)

// examinePaths looks at whether the daemons that know how packets travel tell.
// A stream works without; its route is then named less exactly.
func examinePaths(ctx context.Context) []Check {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	tailscale, zeroTier := netpath.NewTailscaleDaemon(""), netpath.NewZeroTierDaemon("")
	defer tailscale.Close()
	defer zeroTier.Close()
	t, err := tailscale.Ask(ctx, time.Now())
	checks := []Check{pathCheck("Tailscale", tailscaleFound(t), err, "tailscale status")}
	z, err := zeroTier.Ask(ctx)
	return append(checks, pathCheck("ZeroTier", zeroTierFound(z), err, "zerotier-cli info"))
}

func tailscaleFound(t netpath.TailscaleStatus) string {
	if t.State != "Running" {
		return "its daemon tells, and is not connected: " + t.State
	}
	return fmt.Sprintf("its daemon tells direct from relayed for %d machines", len(t.Peers))
}

func zeroTierFound(z netpath.ZeroTierStatus) string {
	found := fmt.Sprintf("its daemon tells direct from relayed, in %d networks", len(z.Devices))
	if z.TCPFallback {
		found += "; it reaches nobody by UDP and relays everything"
	}
	return found
}

// pathCheck words what asking a daemon gave. One that is not there is no fault.
func pathCheck(what, found string, err error, try string) Check {
	const less = "streams work; whether they go direct or by a relay is not shown"
	c := Check{Area: "route", What: what, Verdict: Good, Found: found}
	switch {
	case errors.Is(err, netpath.ErrAbsent):
		c.Found = err.Error()
	case errors.Is(err, netpath.ErrRefused):
		c.Verdict, c.Found, c.Advice = Limited, err.Error(), less+": let this user read what "+try+" needs"
	case err != nil:
		c.Verdict, c.Found, c.Advice = Limited, err.Error(), less+": see whether "+try+" answers, and restart the daemon if not"
	}
	return c
}
