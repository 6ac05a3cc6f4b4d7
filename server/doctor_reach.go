package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// examineReach looks at whether and how viewers get here.
func examineReach(ctx context.Context, cfg Config) []Check {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	if cfg.StateDir != "" {
		if c, err := DialControl(ctx, cfg.StateDir); err == nil {
			if st, err := c.Status(ctx); err == nil {
				return append([]Check{runningCheck(st)}, waysIn(st.Addresses, st.Secure), examineTLS(cfg))
			}
		}
	}
	port, bound := tryPort(cfg.Listen)
	checks := []Check{port}
	if port.Verdict == Good {
		secure := cfg.TLSCert != ""
		var names []string
		if secure {
			names = certNames(cfg.TLSCert, cfg.TLSKey)
		}
		checks = append(checks, waysIn(Addresses(bound, secure, names), secure))
	}
	return append(checks, examineTLS(cfg))
}

func runningCheck(st Status) Check {
	return Check{"reach", "port", Good, fmt.Sprintf("nearglass %s runs on %s since %s, %d streams", st.Version, st.Listen,
		st.Started.Local().Format(time.DateTime), st.Watching), ""}
}

func waysIn(list []Address, secure bool) Check {
	c := Check{Area: "reach", What: "addresses", Verdict: Good}
	var found []string
	beyond := false
	for _, a := range list {
		found = append(found, fmt.Sprintf("%s (%s)", a.URL, a.Network))
		beyond = beyond || !a.Local()
	}
	c.Found = strings.Join(found, ", ")
	if !beyond {
		c.Verdict = Limited
		c.Advice = "only this machine gets here: connect it to a network, or install Tailscale on it and the phone"
		if !secure {
			c.Advice += "; a public address needs tls-cert and tls-key"
		}
	}
	return c
}

// examineTLS looks at the certificate's time and says what its lack costs.
func examineTLS(cfg Config) Check {
	c := Check{Area: "reach", What: "HTTPS", Verdict: Limited, Found: "no certificate is set"}
	c.Advice = "set tls-cert and tls-key (tailscale cert makes a pair); without them browsers on other machines withhold the clipboard and the keyboard lock"
	if cfg.TLSCert == "" {
		return c
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		c.Verdict, c.Found, c.Advice = Bad, err.Error(), "make both files readable for you; they must belong together"
		return c
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		c.Verdict, c.Found = Bad, err.Error()
		return c
	}
	return leafCheck(leaf, time.Now())
}

// renewTime is how long before its end a certificate should have been renewed:
// Let's Encrypt's clients do it 30 days before.
const renewTime = 14 * 24 * time.Hour

func leafCheck(leaf *x509.Certificate, now time.Time) Check {
	c := Check{"reach", "HTTPS", Good, fmt.Sprintf("for %s until %s", strings.Join(leaf.DNSNames, ", "),
		leaf.NotAfter.Local().Format(time.DateOnly)), ""}
	switch {
	case now.After(leaf.NotAfter):
		c.Verdict, c.Advice = Bad, "the certificate has ended: renew it"
	case now.Before(leaf.NotBefore):
		c.Verdict, c.Advice = Bad, "the certificate is not valid yet: check this machine's clock"
	case leaf.NotAfter.Sub(now) < renewTime:
		c.Verdict, c.Advice = Limited, "the certificate ends soon: renew it"
	}
	return c
}

// tryPort opens the TCP and the UDP port as a host would.
func tryPort(listen string) (Check, netip.AddrPort) {
	c := Check{Area: "reach", What: "port", Verdict: Bad, Advice: "end the program that has it, or choose another with --listen"}
	tcp, err := net.Listen("tcp", listen)
	if err != nil {
		c.Found = err.Error()
		return c, netip.AddrPort{}
	}
	bound, _ := netip.ParseAddrPort(tcp.Addr().String())
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err = errors.Join(err, tcp.Close()); err != nil {
		c.Found = err.Error()
		return c, bound
	}
	_ = udp.Close()
	return Check{"reach", "port", Good, bound.String() + " is free for TCP and UDP", ""}, bound
}
