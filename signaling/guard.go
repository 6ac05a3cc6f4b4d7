package signaling

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// ContentSecurityPolicy is that of every answer: the page loads its own files
// and nothing else, and no other page may frame it.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const permissionsPolicy = "camera=(), geolocation=(), microphone=(), payment=(), usb=(), " +
	"display-capture=(), browsing-topics=()"

// secure sets the headers that every answer has.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", ContentSecurityPolicy)
	h.Set("Permissions-Policy", permissionsPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// admit lets a request through to the routes, or answers it.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) bool {
	return h.privateOrTLS(w, r) && h.knownHost(w, r) && h.secureFirst(w, r) && h.sameOrigin(w, r)
}

func (h *Handler) privateOrTLS(w http.ResponseWriter, r *http.Request) bool {
	if r.TLS != nil || h.cfg.Secure || private(remote(r).Addr()) || sameMachine(r) {
		return true
	}
	h.refused(w, r, http.StatusForbidden, "plain HTTP from a public address", "HTTPS is needed here",
		"Over plain HTTP this host answers private addresses only. Set tls-cert and tls-key on the host, "+
			"or reach it through a VPN such as Tailscale.")
	return false
}

// secureFirst sends plain HTTP on to HTTPS where there is a certificate. The
// machine itself may stay on plain HTTP, where the certificate has no name.
func (h *Handler) secureFirst(w http.ResponseWriter, r *http.Request) bool {
	if !h.cfg.Secure || r.TLS != nil || remote(r).Addr().IsLoopback() || sameMachine(r) {
		return true
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.refused(w, r, http.StatusForbidden, "plain HTTP where HTTPS is served", "HTTPS is needed here",
			"Ask again with https:// in place of http://.")
		return false
	}
	http.Redirect(w, r, "https://"+r.Host+r.URL.RequestURI(), http.StatusPermanentRedirect)
	return false
}

// knownHost refuses names that are not this machine's: a page of another site
// whose name was made to point here (DNS rebinding) would else count as ours.
func (h *Handler) knownHost(w http.ResponseWriter, r *http.Request) bool {
	name := hostOnly(r.Host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if h.names[name] || strings.HasSuffix(name, ".ts.net") || strings.HasSuffix(name, ".localhost") {
		return true
	}
	h.refused(w, r, http.StatusMisdirectedRequest, "host name unknown", "This host does not know that name",
		"Use its address, or start it with --allow-host "+printable(name)+".")
	return false
}

// sameOrigin refuses what another site's page asks for. Browsers send
// Sec-Fetch-Site to secure origins and Origin with everything but plain GETs;
// the cookie's SameSite=Strict covers the rest.
func (h *Handler) sameOrigin(w http.ResponseWriter, r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" && !originIs(o, r.Host) {
		return h.crossOrigin(w, r, "origin differs from host")
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "" || site == "same-origin" || site == "none" {
		return true
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reads && !forPrograms(r.URL.Path) {
		return true // a link to the page
	}
	return h.crossOrigin(w, r, "asked by another site")
}

// forPrograms says whether a path is none of the page's own files.
func forPrograms(path string) bool {
	return path == "/stats" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/whep/")
}

func (h *Handler) crossOrigin(w http.ResponseWriter, r *http.Request, reason string) bool {
	h.refused(w, r, http.StatusForbidden, reason, "Another site may not ask this host",
		"Open the page of this host itself.")
	return false
}

// originIs reports whether an Origin header names this host and port. The
// scheme may differ: a proxy in front may hold the certificate.
func originIs(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	return withoutDefaultPort(u.Host) == withoutDefaultPort(host)
}

func withoutDefaultPort(host string) string {
	host = strings.ToLower(host)
	return strings.TrimSuffix(strings.TrimSuffix(host, ":80"), ":443")
}

// hostOnly is a Host header's name in lower case, without port and brackets.
func hostOnly(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// hostNames are the names that this machine goes by.
func hostNames(extra []string) map[string]bool {
	names := map[string]bool{"localhost": true}
	for _, n := range extra {
		names[hostOnly(n)] = true
	}
	if n, err := os.Hostname(); err == nil && n != "" {
		n = strings.ToLower(n)
		short, _, _ := strings.Cut(n, ".")
		names[n], names[short], names[short+".local"] = true, true, true
	}
	return names
}

var carrierGrade = netip.MustParsePrefix("100.64.0.0/10") // RFC 6598; Tailscale's addresses

// private reports whether an address cannot come from the open internet.
func private(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || carrierGrade.Contains(a)
}

// sameMachine reports whether the other end has the address that it called, as
// happens when a machine opens its own public address: the request crossed no
// network.
func sameMachine(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	a, err := netip.ParseAddrPort(local.String())
	return err == nil && a.Addr().Unmap() == remote(r).Addr()
}

// printable keeps a name that a stranger chose from doing harm in an answer.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-_", r) {
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), 253)]
}
