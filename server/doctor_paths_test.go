package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"nearglass/telemetry/netpath"
)

func TestPathCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		want   Verdict
		advice string
	}{
		"tells":   {nil, Good, ""},
		"absent":  {netpath.ErrAbsent, Good, ""},
		"refuses": {fmt.Errorf("%w: only administrators can read its token", netpath.ErrRefused), Limited, "let this user read"},
		"hangs":   {errors.New("its daemon does not answer"), Limited, "restart the daemon"},
	} {
		c := pathCheck("ZeroTier", "found", tt.err, "zerotier-cli info")
		if c.Verdict != tt.want || (c.Advice == "") != (tt.advice == "") || !strings.Contains(c.Advice, tt.advice) || c.Found == "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if got := tailscaleFound(netpath.TailscaleStatus{Known: true, State: "Stopped"}); !strings.Contains(got, "Stopped") {
		t.Error(got)
	}
	if got := zeroTierFound(netpath.ZeroTierStatus{Known: true, TCPFallback: true}); !strings.Contains(got, "UDP") {
		t.Error(got)
	}
}
