package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"nearglass/server/access"
)

// SocketName is the name, inside the state folder, of the Unix socket by which
// the commands on this machine reach a running host.
const SocketName = "host.sock"

// Pairing is an open code and where to use it.
type Pairing struct {
	Code      string        `json:"code"` // 123-456
	Rights    access.Rights `json:"rights"`
	Expires   time.Time     `json:"expires"`
	Addresses []Address     `json:"addresses"` // best first
	Link      string        `json:"link"`      // the best address with the code in its fragment
}

func newPairing(c access.Code, list []Address) Pairing {
	p := Pairing{Code: c.String(), Rights: c.Rights, Expires: c.Expires, Addresses: list}
	if len(list) > 0 {
		p.Link = list[0].URL + "#pair=" + c.Digits
	}
	return p
}

// Status is what a running host tells the commands.
type Status struct {
	Name      string    `json:"name"`
	Version   string    `json:"version"`
	Listen    string    `json:"listen"`
	Secure    bool      `json:"secure"`
	Addresses []Address `json:"addresses"`
	Started   time.Time `json:"started"`
	Watching  int       `json:"watching"` // streams that run now
}

// Issued is a device that was paired without a code, and its token. The token
// cannot be shown again.
type Issued struct {
	Token  string        `json:"token"`
	Device access.Device `json:"device"`
}

// localServer answers the commands on this machine. Who can open the socket
// (mode 0600) is the user that the host runs as, and may do everything.
type localServer struct {
	front    *front
	listener net.Listener
	http     *http.Server
	watching func() int
	started  time.Time
}

// listenLocal opens the socket. It fails when another host answers there, and
// takes over one that was left behind.
func listenLocal(stateDir string) (net.Listener, error) {
	path := filepath.Join(stateDir, SocketName)
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("a host is running already with the state folder %s: stop it, or give this one another with --state", stateDir)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("removing the socket of an earlier host: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("opening the local socket: %w (a path of more than about 100 bytes is too long: choose a shorter --state)", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("closing the local socket to others: %w", err), l.Close())
	}
	return l, nil
}

func newLocalServer(f *front, l net.Listener, watching func() int) *localServer {
	s := &localServer{front: f, listener: l, watching: watching, started: time.Now()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", s.status)
	mux.HandleFunc("POST /pair", s.pair)
	mux.HandleFunc("GET /devices", s.devices)
	mux.HandleFunc("POST /devices", s.issue)
	mux.HandleFunc("DELETE /devices/{id}", s.revoke)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	return s
}

func (s *localServer) serve() error { return s.http.Serve(s.listener) }

func (s *localServer) close() {
	_ = s.http.Close()
	_ = s.listener.Close() // removes the socket; http closes it only once served
}

func (s *localServer) status(w http.ResponseWriter, _ *http.Request) {
	c := s.front.cfg
	st := Status{Name: c.Name, Version: c.Version, Listen: s.front.addr().String(), Secure: c.TLSCert != "",
		Addresses: s.front.addresses(), Started: s.started}
	if s.watching != nil {
		st.Watching = s.watching()
	}
	answer(w, st, nil)
}

func (s *localServer) pair(w http.ResponseWriter, r *http.Request) {
	var ask struct{ Rights access.Rights }
	if !read(w, r, &ask) {
		return
	}
	p, err := s.front.pair(or(ask.Rights, s.front.cfg.Rights))
	answer(w, p, err)
}

func (s *localServer) devices(w http.ResponseWriter, _ *http.Request) {
	answer(w, withoutHashes(s.front.store.Devices()), nil)
}

func (s *localServer) issue(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Name   string
		Rights access.Rights
	}
	if !read(w, r, &ask) {
		return
	}
	token, d, err := s.front.store.Issue(time.Now(), ask.Name, or(ask.Rights, access.View))
	d.TokenHash = ""
	answer(w, Issued{token, d}, err)
}

func (s *localServer) revoke(w http.ResponseWriter, r *http.Request) {
	answer(w, struct{}{}, s.front.store.Revoke(r.PathValue("id")))
}

// withoutHashes keeps the hashes where they belong.
func withoutHashes(list []access.Device) []access.Device {
	for i := range list {
		list[i].TokenHash = ""
	}
	return list
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(into)
	if err != nil {
		http.Error(w, "the request is no JSON: "+err.Error(), http.StatusBadRequest)
	}
	return err == nil
}

func answer(w http.ResponseWriter, v any, err error) {
	switch {
	case errors.Is(err, access.ErrDevice):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}
