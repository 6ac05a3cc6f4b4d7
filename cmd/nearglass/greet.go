package main

import (
	"fmt"
	"strings"
	"time"

	"nearglass/server"
)

// greet prints where to open the host and with which code.
func greet(e *env, p server.Pairing, qr qrFlag) {
	fmt.Fprintln(e.out)
	for i, a := range p.Addresses {
		label := "or"
		if i == 0 {
			label = "Open"
		}
		fmt.Fprintf(e.out, "  %-6s%-40s %s\n", label, a.URL, a.Network)
	}
	fmt.Fprintf(e.out, "\n  Code  %s   once, until %s, to %s\n\n", p.Code,
		p.Expires.Local().Format(time.TimeOnly)[:5], p.Rights)
	if len(p.Addresses) > 0 && p.Addresses[0].Local() {
		fmt.Fprintln(e.out, "  Only this machine can open it: no other network is up, or --listen names loopback.")
		return
	}
	if !qr.wanted(e.out) {
		return
	}
	if code, err := drawQR(p.Link); err == nil {
		fmt.Fprintln(e.out, "  Or point a phone's camera here:")
		fmt.Fprint(e.out, "\n"+code+"\n")
	}
	if strings.HasPrefix(p.Link, "http:") {
		fmt.Fprintln(e.out, "  Plain HTTP: browsers withhold the clipboard and the keyboard lock from other\n"+
			"  machines. Set --tls-cert and --tls-key for HTTPS (tailscale cert makes a pair).")
	}
}
