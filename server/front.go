package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"nearglass/server/access"
	"nearglass/signaling"
)

// shutdownTime is how long a request may still take when the host stops.
const shutdownTime = time.Second

// front is the host's door: the HTTP listener for viewers and the socket for
// the commands on this machine.
type front struct {
	cfg       Config
	log       *slog.Logger
	store     *access.Store
	listener  net.Listener
	http      *http.Server
	local     *localServer
	certNames []string
}

// newFront opens both listeners; when it returns, the host has its address and
// no other host has its state folder. The Config is filled in. Page serves the
// viewer; watching tells how many streams run, for the status.
func newFront(cfg Config, store *access.Store, host signaling.Host, logs signaling.Logs, page http.Handler,
	watching func() int, log *slog.Logger) (*front, error) {
	f := &front{cfg: cfg, log: log, store: store}
	secure := cfg.TLSCert != ""
	if secure {
		f.certNames = certNames(cfg.TLSCert, cfg.TLSKey)
	}
	local, err := listenLocal(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	f.listener, err = signaling.Listen(context.Background(), cfg.Listen, cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		hint := "choose another with --listen"
		if errors.Is(err, syscall.EADDRINUSE) {
			hint = "another program uses it: " + hint
		}
		return nil, errors.Join(fmt.Errorf("%w (%s)", err, hint), local.Close())
	}
	f.http = signaling.NewServer(signaling.New(signaling.Config{
		Host: host, Gate: gate{store}, Logs: logs, Page: page, Name: cfg.Name, Version: cfg.Version, Source: cfg.Source,
		Names: slices.Concat(f.certNames, cfg.AllowHosts), Secure: secure, Log: log,
	}), log)
	f.local = newLocalServer(f, local, watching)
	return f, nil
}

// addr is the address that the listener got.
func (f *front) addr() netip.AddrPort {
	a, _ := netip.ParseAddrPort(f.listener.Addr().String())
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func (f *front) addresses() []Address {
	return Addresses(f.addr(), f.cfg.TLSCert != "", f.certNames)
}

// pair opens a pairing code and says where to use it.
func (f *front) pair(rights access.Rights) (Pairing, error) {
	code, err := f.store.NewCode(time.Now(), rights)
	if err != nil {
		return Pairing{}, err
	}
	return newPairing(code, f.addresses()), nil
}

// run serves until the context ends or a listener fails.
func (f *front) run(ctx context.Context) error {
	failed := make(chan error, 2)
	go func() { failed <- f.http.Serve(f.listener) }()
	go func() { failed <- f.local.serve() }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if f.http.Shutdown(stop) != nil {
		_ = f.http.Close()
	}
	f.local.close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// close gives both listeners back when run is never reached.
func (f *front) close() {
	_ = f.listener.Close()
	f.local.close()
}

// certNames are the DNS names that the certificate is for.
func certNames(certFile, keyFile string) []string {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil
	}
	return leaf.DNSNames
}
