package report

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenRefuses: what is no report is told so by its name, with what is amiss.
func TestOpenRefuses(t *testing.T) {
	var good bytes.Buffer
	if err := Write(&good, minute(t, ""), about, nil); err != nil {
		t.Fatal(err)
	}
	const zeros = mostBytes + 1
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"text", "not a valid zip file", []byte("a letter")},
		{"nothing", "not a valid zip file", nil},
		{"cut", "the end of the file is missing", good.Bytes()[:good.Len()/2]},
		{"other", "it has no about.json", packed(t, "letter.txt", "a letter")},
		{"hollow", "it has no host.jsonl", packed(t, AboutName, "{}")},
		{"garbled", "about.json: invalid character", packed(t, AboutName, "a letter", HostLogName, "{}")},
		{"headless", "has no header", packed(t, AboutName, "{}", HostLogName, "{}\n")},
		{"bomb", "host.jsonl has more than", packed(t, AboutName, "{}", HostLogName, strings.Repeat("0", zeros))},
	} {
		file := filepath.Join(t.TempDir(), c.name+".zip")
		if err := os.WriteFile(file, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, file, c.want)
	}
	refused(t, t.TempDir(), "it is a folder")
}

func refused(t *testing.T, file, want string) {
	t.Helper()
	_, err := Open(file)
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
		t.Errorf("%s: %v, not %q", file, err, want)
	}
	if !errors.Is(err, ErrNoReport) {
		t.Errorf("%v is no ErrNoReport", err)
	}
}

// packed is a zip file of these names and contents.
func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
