package netpath

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeDaemon serves at a socket as Tailscale's daemon does.
func fakeDaemon(t *testing.T, handler http.HandlerFunc) *TailscaleDaemon {
	t.Helper()
	// Short: the path of a socket has at most 108 bytes.
	dir, err := os.MkdirTemp("", "ts")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Skipf("no sockets of this kind here: %v", err)
	}
	serve(t, listener, handler)
	d := NewTailscaleDaemon(socket)
	t.Cleanup(d.Close)
	return d
}

func serve(t *testing.T, listener net.Listener, handler http.HandlerFunc) {
	t.Helper()
	s := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	s.Start()
	t.Cleanup(s.Close)
}

func TestTailscaleDaemon(t *testing.T) {
	asked := map[string]int{}
	d := fakeDaemon(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "local-tailscaled.sock" {
			t.Errorf("asked for %s", r.Host)
		}
		asked[r.URL.Path]++
		switch r.URL.Path {
		case "/localapi/v0/status":
			status := string(vector(t, "tailscale-status.json"))
			if asked[r.URL.Path] > 1 { // then relayed
				status = strings.ReplaceAll(status, `"CurAddr"`, `"was"`)
			}
			fmt.Fprint(w, status)
		case "/localapi/v0/derpmap":
			w.Write(vector(t, "tailscale-derpmap.json"))
		}
	})
	now := time.Unix(1e9, 0)
	for i := range 4 {
		s, err := d.Ask(t.Context(), now)
		if err != nil || !s.Known {
			t.Fatalf("%+v, %v", s, err)
		}
		if want := i > 0; (s.Regions["test"] == "Frankfurt") != want {
			t.Errorf("question %d: regions %v", i, s.Regions)
		}
	}
	if asked["/localapi/v0/derpmap"] != 1 {
		t.Errorf("the regions were asked for %d times", asked["/localapi/v0/derpmap"])
	}
	if _, err := d.Ask(t.Context(), now.Add(regionsAge)); err != nil || asked["/localapi/v0/derpmap"] != 2 {
		t.Errorf("ten minutes later the regions were asked for %d times in all, %v", asked["/localapi/v0/derpmap"], err)
	}
}

// mutes are daemons that do not tell.
var mutes = map[string]struct {
	handler http.HandlerFunc
	want    error
}{
	"hangs":            {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, errHangs},
	"hangs within":     {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"Back`); flush(w); <-r.Context().Done() }, errHangs},
	"trickles":         {func(w http.ResponseWriter, r *http.Request) { trickle(w, r) }, errHangs},
	"nonsense":         {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>nearly there</html>") }, errStrange},
	"nothing":          {func(http.ResponseWriter, *http.Request) {}, errStrange},
	"breaks off":       {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, errStrange},
	"an error":         {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }, errStrange},
	"refuses":          {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }, ErrRefused},
	"wants a password": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }, ErrRefused},
	"too much": {func(w http.ResponseWriter, _ *http.Request) {
		for range mostAnswerBytes>>20 + 2 {
			w.Write(make([]byte, 1<<20))
		}
	}, errStrange},
}

func flush(w http.ResponseWriter) { w.(http.Flusher).Flush() }

func trickle(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		fmt.Fprint(w, " ")
		flush(w)
		time.Sleep(time.Millisecond)
	}
}

// patience is how long these tests let a daemon hang.
const patience = 100 * time.Millisecond

func TestMuteTailscale(t *testing.T) {
	for name, m := range mutes {
		t.Run(name, func(t *testing.T) {
			d := fakeDaemon(t, m.handler)
			ctx, cancel := context.WithTimeout(t.Context(), patienceFor(m.want))
			defer cancel()
			if s, err := d.Ask(ctx, time.Now()); !errors.Is(err, m.want) || s.Known {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	if _, err := NewTailscaleDaemon(filepath.Join(t.TempDir(), "none")).Ask(t.Context(), time.Now()); !errors.Is(err, ErrAbsent) {
		t.Errorf("no socket: %v", err)
	}
	left := filepath.Join(t.TempDir(), "left")
	if l, err := net.Listen("unix", left); err == nil {
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close() // as a daemon that was killed leaves its socket
		if _, err := NewTailscaleDaemon(left).Ask(t.Context(), time.Now()); !errors.Is(err, ErrAbsent) {
			t.Errorf("nobody at the socket: %v", err)
		}
	}
}

func patienceFor(want error) time.Duration {
	if errors.Is(want, errHangs) {
		return patience
	}
	return time.Minute
}

// fakeZeroTier serves ZeroTier's API as its documentation has it, and writes the
// files of its working folder.
func fakeZeroTier(t *testing.T, handler http.HandlerFunc) (*ZeroTierDaemon, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, listener, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-ZT1-Auth") != "secret" {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		handler(w, r)
	})
	dir := t.TempDir()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for name, text := range map[string]string{"authtoken.secret": "secret", "zerotier-one.port": port} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := NewZeroTierDaemon(dir)
	t.Cleanup(d.Close)
	return d, dir
}

func TestZeroTierDaemon(t *testing.T) {
	d, dir := fakeZeroTier(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(vector(t, "zerotier-"+strings.TrimPrefix(r.URL.Path, "/")+".json"))
	})
	s, err := d.Ask(t.Context())
	if err != nil || !s.Known || s.Devices["ztabcdefgh"] != ztNetwork || s.Nodes[ztNode].Direct == "" {
		t.Errorf("%+v, %v", s, err)
	}
	write := func(token string) {
		if err := os.WriteFile(filepath.Join(dir, "authtoken.secret"), []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("another\n")
	if _, err := d.Ask(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("with a wrong token: %v", err)
	}
	write("secret\n") // a new one is read
	if _, err := d.Ask(t.Context()); err != nil {
		t.Errorf("with the right token again: %v", err)
	}
}

func TestMuteZeroTier(t *testing.T) {
	for name, m := range mutes {
		t.Run(name, func(t *testing.T) {
			d, _ := fakeZeroTier(t, m.handler)
			ctx, cancel := context.WithTimeout(t.Context(), patienceFor(m.want))
			defer cancel()
			if s, err := d.Ask(ctx); !errors.Is(err, m.want) || s.Known {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	if _, err := NewZeroTierDaemon(t.TempDir()).Ask(t.Context()); !errors.Is(err, ErrAbsent) {
		t.Errorf("no folder: %v", err)
	}
}

func TestReadPort(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"9994\n": "9994", "": "9993", "0": "9993", "70000": "9993", "x": "9993"} {
		if err := os.WriteFile(filepath.Join(dir, "zerotier-one.port"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readPort([]string{filepath.Join(dir, "none"), dir}); got != want {
			t.Errorf("%q: port %s", text, got)
		}
	}
}

// TestWatcherOverHungSockets: real sockets that accept and say nothing delay
// nobody, and Close ends the questions.
func TestWatcherOverHungSockets(t *testing.T) {
	d := fakeDaemon(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	w := NewWatcher(Config{
		Interfaces: func() ([]Interface, error) { return []Interface{tsLin}, nil },
		Source:     func(netip.Addr) netip.Addr { return tsLin.Prefixes[0].Addr() },
		Tailscale:  d.Ask,
	})
	for range 1000 {
		if path, _ := w.Look(time.Now(), onTailnet); path.Words() != "Tailscale" || !strings.Contains(path.Unknown, "awaited") {
			t.Fatalf("%+v", path)
		}
	}
	w.Close()
}

func BenchmarkLook(b *testing.B) {
	w := NewWatcher(Config{Tailscale: func(context.Context, time.Time) (TailscaleStatus, error) { return tailnet(), nil }})
	defer w.Close()
	p := Pair{Remote: addrs("127.0.0.1")[0]}
	for b.Loop() {
		w.Look(time.Now(), p)
	}
}

func BenchmarkAskTailscale(b *testing.B) {
	for _, peers := range []int{3, 100, 1000} {
		b.Run(fmt.Sprint(peers), func(b *testing.B) {
			one := `"nodekey:%d":{"ID":"n1","PublicKey":"nodekey:0000000000000000000000000000000000000000000000000000000000000000","HostName":"machine","DNSName":"machine.tail.net.","OS":"linux","UserID":1,"TailscaleIPs":["100.64.1.1","fd7a:115c:a1e0::1"],"AllowedIPs":["100.64.1.1/32","fd7a:115c:a1e0::1/128"],"Addrs":null,"CurAddr":"","Relay":"fra","PeerRelay":"","RxBytes":0,"TxBytes":0,"Created":"2026-01-01T00:00:00Z","Online":true,"CapMap":{"a":null,"b":null}}`
			var list []string
			for i := range peers {
				list = append(list, fmt.Sprintf(one, i))
			}
			data := []byte(`{"BackendState":"Running","TailscaleIPs":["100.64.0.1"],"Peer":{` + strings.Join(list, ",") + `}}`)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := parseTailscale(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
