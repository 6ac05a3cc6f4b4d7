package signaling

import (
	"encoding/json"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// maxBodyBytes bounds every request body. Offers of browsers are 3 to 10 KB.
const maxBodyBytes = 64 << 10

// Config is what a Handler needs. Host and Gate are required.
type Config struct {
	Host    Host
	Gate    Gate
	Logs    Logs         // of the streams; nil keeps none
	Page    http.Handler // the viewer's page and assets; nil answers 404
	Name    string       // of this host, for people
	Version string
	// Source is the one that the page opens with; empty opens the list.
	Source string
	// Names are the host names under which browsers may ask, beside addresses,
	// localhost, this machine's name and *.ts.net.
	Names []string
	// Secure says that the listener has a certificate: plain HTTP from another
	// machine is then sent on to HTTPS.
	Secure bool
	Log    *slog.Logger // nil discards
}

// Handler serves the page, the API and WHEP. It is safe for concurrent use.
type Handler struct {
	cfg      Config
	log      *slog.Logger
	names    map[string]bool
	mux      *http.ServeMux
	sessions sessions
}

// New makes a Handler.
func New(cfg Config) *Handler {
	h := &Handler{cfg: cfg, log: cfg.Log, names: hostNames(cfg.Names), mux: http.NewServeMux()}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.sessions.byID = map[string]*entry{}
	h.mux.Handle("/api/host", methods{"GET": h.getHost})
	h.mux.Handle("/api/pair", methods{"POST": h.postPair})
	h.mux.Handle("/api/sources", methods{"GET": h.paired(h.getSources)})
	h.mux.Handle("/api/sources/{id}/preview", methods{"GET": h.paired(h.getPreview)})
	h.mux.Handle("/whep/{source}", methods{"POST": h.paired(h.postOffer)})
	h.mux.Handle("/whep/session/{sid}", methods{"PATCH": h.paired(h.patchSession), "DELETE": h.paired(h.deleteSession)})
	if cfg.Logs != nil {
		h.mux.Handle("/api/streams/{id}/log", methods{"POST": h.paired(h.postLog)})
		h.mux.Handle("/api/streams/{id}/report", methods{"GET": h.paired(h.getReport)})
	}
	h.mux.Handle("/stats", methods{"GET": h.paired(h.getStats)})
	h.mux.HandleFunc("/api/", notFound)
	h.mux.HandleFunc("/whep/", notFound)
	h.mux.Handle("/", methods{"GET": h.page})
	return h
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if !h.admit(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	h.mux.ServeHTTP(w, r)
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	if h.cfg.Page == nil {
		notFound(w, r)
		return
	}
	h.cfg.Page.ServeHTTP(w, r)
}

func notFound(w http.ResponseWriter, r *http.Request) {
	problem(w, r, http.StatusNotFound, "Not found", "The viewer is at /.")
}

// methods answers a path by method. HEAD is answered as GET; OPTIONS and what
// is missing name those that exist. There are no CORS headers: the API is for
// this host's own page and for programs, which need none.
type methods map[string]http.HandlerFunc

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if f := m[method]; f != nil {
		f(w, r)
		return
	}
	allow := []string{"OPTIONS"}
	for k := range m {
		allow = append(allow, k)
	}
	slices.Sort(allow)
	w.Header().Set("Allow", strings.Join(allow, ", "))
	if method == http.MethodOptions {
		if m[http.MethodPost] != nil && strings.HasPrefix(r.URL.Path, "/whep/") {
			w.Header().Set("Accept-Post", typeSDP)
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	problem(w, r, http.StatusMethodNotAllowed, "Method not allowed", "Use "+strings.Join(allow, ", ")+".")
}

// token is what the request shows: a bearer token before a cookie.
func token(r *http.Request) string {
	scheme, value, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(value)
	}
	if c, err := r.Cookie(CookieName); err == nil {
		return c.Value
	}
	return ""
}

// authenticate finds the viewer behind a request. It answers nothing.
func (h *Handler) authenticate(r *http.Request) (Viewer, error) {
	t := token(r)
	if t == "" {
		return Viewer{}, ErrNotPaired
	}
	v, err := h.cfg.Gate.Authenticate(time.Now(), t)
	if err != nil {
		return Viewer{}, err
	}
	v.Remote = remote(r)
	return v, nil
}

// paired lets only paired devices pass.
func (h *Handler) paired(next func(http.ResponseWriter, *http.Request, Viewer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := h.authenticate(r)
		switch {
		case errors.Is(err, ErrNotPaired):
			w.Header().Set("WWW-Authenticate", `Bearer realm="nearglass"`)
			h.refused(w, r, http.StatusUnauthorized, err.Error(), "This device is not paired",
				"Open the page of this host and enter a pairing code; nearglass pair on the host prints one.")
		case err != nil:
			h.failed(w, r, err)
		default:
			next(w, r, v)
		}
	}
}

// setCookie gives or renews the token of a browser for a year.
func setCookie(w http.ResponseWriter, r *http.Request, token string) {
	http.SetCookie(w, &http.Cookie{
		Name: CookieName, Value: token, Path: "/", MaxAge: cookieSeconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
}

const cookieSeconds = 365 * 24 * 60 * 60

// renew sends a browser its cookie again, with a year to go.
func renew(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(CookieName); err == nil && c.Value == token(r) {
		setCookie(w, r, c.Value)
	}
}

// remote is the address of the other end; the zero AddrPort if it is unknown.
func remote(r *http.Request) netip.AddrPort {
	a, _ := netip.ParseAddrPort(r.RemoteAddr)
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// mediaType is the request's content type without parameters.
func mediaType(r *http.Request) string {
	t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return t
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}
