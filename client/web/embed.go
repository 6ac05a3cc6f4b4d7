// Package web carries the browser viewer: a page, a script and a style sheet,
// built from src by the command in build and embedded in the binary. Nothing
// in the page is fetched from anywhere but the host that serves it.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// ContentSecurityPolicy is the policy under which the page works; whoever
// serves Handler sets it as the Content-Security-Policy header. data: and blob:
// pictures are the pointer's shapes and the previews.
const ContentSecurityPolicy = "default-src 'self'; script-src 'self'; style-src 'self'; " +
	"img-src 'self' data: blob:; connect-src 'self'; media-src 'self' blob:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

//go:generate go run ./build -dir .

//go:embed dist
var dist embed.FS

// contentTypes names what is served by extension; the system's own table is
// not asked, because it differs between machines.
var contentTypes = map[string]string{
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".svg":         "image/svg+xml",
	".webmanifest": "application/manifest+json",
}

// asset is one file as it is sent.
type asset struct {
	data        []byte
	contentType string
	etag        string
	cache       string
}

// Files returns the built page: index.html at the root, hashed files in assets.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("web: the embedded bundle has no dist folder: " + err.Error())
	}
	return files
}

// Handler serves the page at "/" and its files beside it. Hashed files may be
// kept by the browser for a year; the rest is asked for again each time and
// answered by its ETag. Anything else is 404. It sets content types and
// X-Content-Type-Options, and leaves the policy to the caller. It is safe for
// concurrent use.
func Handler() http.Handler {
	assets, err := load(Files())
	if err != nil {
		panic("web: read the embedded bundle: " + err.Error())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		a, ok := assets[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		a.serve(w, r)
	})
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are answered here", http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", a.cache)
	h.Set("ETag", a.etag)
	if matches(r.Header.Get("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(a.data)))
	if r.Method == http.MethodHead {
		return
	}
	// A failed write means that the browser went away; there is nobody to tell.
	_, _ = w.Write(a.data)
}

// matches reports whether an If-None-Match header names etag (RFC 9110, 13.1.2).
func matches(header, etag string) bool {
	for _, one := range strings.Split(header, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == etag || one == "*" {
			return true
		}
	}
	return false
}

func load(files fs.FS) (map[string]asset, error) {
	assets := map[string]asset{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		kind, ok := contentTypes[path.Ext(name)]
		if !ok {
			return fmt.Errorf("no content type is known for %s", name)
		}
		sum := sha256.Sum256(data)
		a := asset{data: data, contentType: kind, cache: "no-cache"}
		a.etag = `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		if strings.HasPrefix(name, "assets/") {
			a.cache = "public, max-age=31536000, immutable"
		}
		assets[name] = a
		return nil
	})
	return assets, err
}
