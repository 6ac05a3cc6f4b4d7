package web

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nearglass/client/web/bundle"
)

// The committed bundle is what the sources give; a change without a new build
// is found here.
func TestDistMatchesSource(t *testing.T) {
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	want, err := bundle.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	const advice = "run `go run ./client/web/build` at the root of the repository and commit client/web/dist"
	for name, data := range want {
		got, err := fs.ReadFile(Files(), name)
		if err != nil {
			t.Errorf("%s is missing from dist; %s", name, advice)
		} else if !bytes.Equal(got, data) {
			t.Errorf("%s in dist differs from its source; %s", name, advice)
		}
	}
	err = fs.WalkDir(Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if _, ok := want[name]; err == nil && !d.IsDir() && !ok {
			t.Errorf("%s in dist is left over; %s", name, advice)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The page asks nobody but its host for anything, and needs no inline code.
func TestPageIsSelfContained(t *testing.T) {
	page, err := fs.ReadFile(Files(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"style=", "onclick=", "<style", "http:", "https:", "{{"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("index.html contains %q, which the policy forbids", bad)
		}
	}
	if n := bytes.Count(page, []byte("<script")); n != 1 {
		t.Errorf("index.html has %d scripts, want the one bundle", n)
	}
	foreign := regexp.MustCompile(`https?://[^"'\s]+`)
	err = fs.WalkDir(Files(), "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(Files(), name)
		for _, address := range foreign.FindAllString(string(data), -1) {
			if !strings.HasPrefix(address, "http://www.w3.org/") { // Names of XML spaces are not fetched.
				t.Errorf("%s names the address %s", name, address)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHandler(t *testing.T) {
	script := assetName(t, ".js")
	style := assetName(t, ".css")
	cases := []struct {
		method, path string
		status       int
		contentType  string
		cache        string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "no-cache"},
		{"HEAD", "/", 200, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/index.html", 200, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/icon.svg", 200, "image/svg+xml", "no-cache"},
		{"GET", "/manifest.webmanifest", 200, "application/manifest+json", "no-cache"},
		{"GET", script, 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"GET", style, 200, "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		{"GET", "/assets/", 404, "", ""},
		{"GET", "/assets/none.js", 404, "", ""},
		{"GET", "/../embed.go", 404, "", ""},
		{"POST", "/", 405, "", ""},
	}
	h := Handler()
	for _, c := range cases {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, "http://host.test/", nil)
		r.URL.Path = c.path
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, w.Code, c.status)
			continue
		}
		if c.status != 200 {
			continue
		}
		if got := w.Header().Get("Content-Type"); got != c.contentType {
			t.Errorf("%s: content type %q, want %q", c.path, got, c.contentType)
		}
		if got := w.Header().Get("Cache-Control"); got != c.cache {
			t.Errorf("%s: cache control %q, want %q", c.path, got, c.cache)
		}
		if c.method == "HEAD" != (w.Body.Len() == 0) {
			t.Errorf("%s %s: %d bytes of body", c.method, c.path, w.Body.Len())
		}
		again := httptest.NewRequest("GET", c.path, nil)
		again.Header.Set("If-None-Match", `"other", W/`+w.Header().Get("ETag"))
		w2 := httptest.NewRecorder()
		h.ServeHTTP(w2, again)
		if w2.Code != http.StatusNotModified || w2.Body.Len() != 0 {
			t.Errorf("%s with its ETag: status %d and %d bytes, want 304 and none", c.path, w2.Code, w2.Body.Len())
		}
	}
}

// The lock file must work with whatever registry a machine is set up for.
func TestLockFileNamesNoRegistry(t *testing.T) {
	data, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`"resolved"`, "://"} {
		if bytes.Contains(data, []byte(bad)) {
			t.Errorf("package-lock.json contains %s; remove the resolved fields", bad)
		}
	}
}

func TestTypes(t *testing.T) {
	needs(t, "node")
	needs(t, "npm")
	tsc := filepath.Join("node_modules", "typescript", "bin", "tsc")
	if stale(tsc, "package-lock.json") {
		run(t, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	}
	run(t, "node", tsc, "--noEmit")
}

func TestUnits(t *testing.T) {
	needs(t, "node")
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := bundle.Tests(dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run(t, "node", append([]string{"--test", "--test-reporter=dot"}, files...)...)
}

// assetName returns the path of the one hashed file with this extension.
func assetName(t *testing.T, extension string) string {
	t.Helper()
	names, err := fs.Glob(Files(), "assets/*"+extension)
	if err != nil || len(names) != 1 {
		t.Fatalf("assets with %s: %v, %v; want one", extension, names, err)
	}
	return "/" + names[0]
}

func needs(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); errors.Is(err, exec.ErrNotFound) {
		t.Skipf("%s is not installed, so the viewer's TypeScript goes unchecked here; install nodejs and npm", tool)
	}
}

// stale reports whether file is missing or older than what it was made from.
func stale(file, source string) bool {
	made, err := os.Stat(filepath.Join(filepath.Dir(file), "..", "..", ".package-lock.json"))
	if err != nil {
		return true
	}
	if _, err := os.Stat(file); err != nil {
		return true
	}
	from, err := os.Stat(source)
	return err != nil || from.ModTime().After(made.ModTime())
}

func run(t *testing.T, name string, arguments ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
	}
}
