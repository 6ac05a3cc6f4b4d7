package signaling

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of the HTTP server. A slow or silent client holds one of maxConns
// connections for these times at most.
const (
	maxConns       = 512
	maxHeaderBytes = 16 << 10
	helloTime      = 5 * time.Second // to the first byte, which tells TLS from HTTP
	headerTime     = 5 * time.Second
	readTime       = 15 * time.Second
	writeTime      = 40 * time.Second // above openTime
	idleTime       = time.Minute
)

// NewServer returns an HTTP server for the handler with limits set. Serve it on
// what Listen returned.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// Listen opens a TCP address for HTTP. With a certificate (both files, PEM) it
// takes HTTPS and plain HTTP on the one port, told apart by the first byte.
func Listen(ctx context.Context, addr, certFile, keyFile string) (net.Listener, error) {
	var conf *tls.Config
	if certFile != "" || keyFile != "" {
		c, err := newCertificate(certFile, keyFile)
		if err != nil {
			return nil, err
		}
		conf = &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get}
	}
	var lc net.ListenConfig
	inner, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	l := &listener{Listener: inner, tls: conf, slots: make(chan struct{}, maxConns),
		ready: make(chan net.Conn), done: make(chan struct{})}
	go l.run()
	return l, nil
}

// listener hands out connections once they have shown what they speak, so that
// a silent one never holds up the next.
type listener struct {
	net.Listener
	tls   *tls.Config // nil: plain only
	slots chan struct{}
	ready chan net.Conn

	once sync.Once
	done chan struct{}
	err  error // why run ended; set before done is closed
}

func (l *listener) run() {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-l.done:
			return
		}
		c, err := l.Listener.Accept()
		if err == nil {
			go l.greet(&counted{Conn: c, slots: l.slots})
			continue
		}
		<-l.slots
		var temporary interface{ Timeout() bool }
		if errors.As(err, &temporary) && !errors.Is(err, net.ErrClosed) {
			time.Sleep(10 * time.Millisecond) // out of file descriptors: as net/http does
			continue
		}
		l.finish(err)
		return
	}
}

func (l *listener) greet(c net.Conn) {
	if l.tls != nil {
		_ = c.SetReadDeadline(time.Now().Add(helloTime))
		p := &peeked{Conn: c, r: bufio.NewReaderSize(c, 512)}
		first, err := p.r.Peek(1)
		if err != nil {
			_ = c.Close()
			return
		}
		_ = c.SetReadDeadline(time.Time{})
		c = p
		if first[0] == 0x16 { // a TLS record of type handshake, RFC 8446 section 5.1
			c = tls.Server(p, l.tls)
		}
	}
	select {
	case l.ready <- c:
	case <-l.done:
		_ = c.Close()
	}
}

// Accept returns the next connection: a *tls.Conn for HTTPS.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.done:
		return nil, l.err
	}
}

// Close stops listening; connections that were accepted stay.
func (l *listener) Close() error {
	err := l.Listener.Close()
	l.finish(net.ErrClosed)
	return err
}

func (l *listener) finish(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.done)
	})
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	once  sync.Once
	slots chan struct{}
}

func (c *counted) Close() error {
	c.once.Do(func() { <-c.slots })
	return c.Conn.Close()
}

// peeked is a connection of which the first bytes were read ahead.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.r.Read(b) }
