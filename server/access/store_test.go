package access

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func issue(t *testing.T, s *Store, r Rights) (string, Device) {
	t.Helper()
	token, d, err := s.Issue(start, "tablet", r)
	if err != nil {
		t.Fatal(err)
	}
	return token, d
}

func TestForgedTokens(t *testing.T) {
	s, _ := open(t)
	token, d := issue(t, s, View)
	other, _ := open(t)
	foreign, _ := issue(t, other, Control)
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	raw[0] ^= 1
	tests := map[string]string{
		"empty":              "",
		"truncated":          token[:len(token)-1],
		"longer":             token + "A",
		"padded":             token + "=",
		"a bit changed":      base64.RawURLEncoding.EncodeToString(raw),
		"of another host":    foreign,
		"the hash":           d.TokenHash,
		"the id":             d.ID,
		"zeros":              base64.RawURLEncoding.EncodeToString(make([]byte, tokenBytes)),
		"rights added":       token + ";rights=control",
		"stray last bits":    token[:len(token)-1] + stray(token[len(token)-1]),
		"line break":         token[:10] + "\n" + token[10:],
		"standard alphabet":  strings.Repeat("+", 43),
		"much":               strings.Repeat("A", 1<<16),
		"not even printable": "\x00\xff",
	}
	for name, forged := range tests {
		if g, err := s.Authenticate(start, forged); !errors.Is(err, ErrToken) || g.MayView() {
			t.Errorf("%s: got %+v, %v", name, g, err)
		}
	}
	if g, err := s.Authenticate(start, token); err != nil || g.MayControl() {
		t.Fatalf("the true token gives %+v, %v", g, err)
	}
}

// stray is another last character that decodes to the same bytes when the two
// unused bits are ignored.
func stray(last byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[strings.IndexByte(alphabet, last)^1])
}

func TestRevoke(t *testing.T) {
	s, _ := open(t)
	token, d := issue(t, s, Control)
	kept, _ := issue(t, s, View)
	stream, again := s.Watch(d.ID), s.Watch(d.ID)
	select {
	case <-stream:
		t.Fatal("a paired device counts as revoked")
	default:
	}
	if err := s.Revoke(d.ID); err != nil {
		t.Fatal(err)
	}
	<-stream
	<-again
	<-s.Watch(d.ID) // a stream that opens in the same moment
	if _, err := s.Authenticate(start, token); !errors.Is(err, ErrToken) {
		t.Fatalf("a revoked token gives %v", err)
	}
	if err := s.Revoke(d.ID); !errors.Is(err, ErrDevice) {
		t.Fatalf("revoking twice gives %v", err)
	}
	back, err := Open(filepath.Dir(s.path), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := back.Authenticate(start, token); !errors.Is(err, ErrToken) {
		t.Fatalf("after a restart a revoked token gives %v", err)
	}
	if _, err := back.Authenticate(start, kept); err != nil {
		t.Fatalf("after a restart a kept token gives %v", err)
	}
}

func TestRevokeWithoutDisk(t *testing.T) {
	s, _ := open(t)
	token, d := issue(t, s, Control)
	w := s.Watch(d.ID)
	s.path = "/nonexistent/folder/devices.json"
	if err := s.Revoke(d.ID); err == nil || !strings.Contains(err.Error(), "restart") {
		t.Fatalf("got %v", err)
	}
	<-w
	if _, err := s.Authenticate(start, token); err == nil {
		t.Fatal("the device is still let in")
	}
}

func TestUnusedDeviceExpires(t *testing.T) {
	s, _ := open(t)
	token, _ := issue(t, s, View)
	now := start
	for range 5 {
		now = now.Add(Lifetime - time.Hour)
		if _, err := s.Authenticate(now, token); err != nil {
			t.Fatalf("a device in use expired: %v", err)
		}
	}
	if _, err := s.Authenticate(now.Add(Lifetime+time.Hour), token); !errors.Is(err, ErrToken) {
		t.Fatalf("got %v", err)
	}
}

func TestLastSeenIsWrittenSeldom(t *testing.T) {
	s, _ := open(t)
	token, _ := issue(t, s, View)
	before, _ := os.ReadFile(s.path)
	for i := range 200 {
		_, _ = s.Authenticate(start.Add(time.Duration(i)*time.Second), token)
	}
	if after, _ := os.ReadFile(s.path); string(after) != string(before) {
		t.Fatal("the file was written within the step")
	}
	_, _ = s.Authenticate(start.Add(SeenStep), token)
	back, err := Open(filepath.Dir(s.path), nil)
	if err != nil || !back.Devices()[0].LastSeen.Equal(start.Add(SeenStep)) {
		t.Fatalf("last seen %v, %v", back.Devices(), err)
	}
}

func TestFileIsPrivateAndHoldsNoToken(t *testing.T) {
	s, _ := open(t)
	token, _ := issue(t, s, View)
	info, err := os.Stat(s.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	data, _ := os.ReadFile(s.path)
	if strings.Contains(string(data), token) {
		t.Fatal("the file holds the token")
	}
	left, _ := filepath.Glob(s.path + ".*")
	if len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
}

// TestTornFile cuts the file at every length: it is read whole or not at all,
// and never changed by being read.
func TestTornFile(t *testing.T) {
	s, _ := open(t)
	issue(t, s, Control)
	data, _ := os.ReadFile(s.path)
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	for n := range len(data) - 1 { // the last byte is a line feed
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, nil)
		if n == len(data)-1 {
			break
		}
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "pair each device again") {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
		if now, _ := os.ReadFile(path); len(now) != n {
			t.Fatal("reading changed the file")
		}
	}
}

func TestDoctoredFile(t *testing.T) {
	good := func() Device {
		return Device{ID: "0a0b0c0d", Name: "x", Rights: View, Created: start, LastSeen: start, TokenHash: strings.Repeat("ab", 32)}
	}
	with := func(change func(*Device)) file {
		d := good()
		change(&d)
		return file{1, []Device{d}}
	}
	tests := map[string]file{
		"other version":  {2, nil},
		"no id":          with(func(d *Device) { d.ID = "" }),
		"unknown rights": with(func(d *Device) { d.Rights = "root" }),
		"no rights":      with(func(d *Device) { d.Rights = "" }),
		"empty hash":     with(func(d *Device) { d.TokenHash = "" }),
		"short hash":     with(func(d *Device) { d.TokenHash = "abcd" }),
		"an id twice":    {1, []Device{good(), good()}},
	}
	for name, f := range tests {
		data, _ := json.Marshal(f)
		if _, err := parse(data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := parse([]byte(`{"version":1,"devices":[]} {}`)); err == nil {
		t.Error("a second document was accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"devices":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		devices, err := parse(data)
		for _, d := range devices {
			if err == nil && d.check() != nil {
				t.Fatalf("accepted %+v", d)
			}
		}
	})
}

func TestNamesAreFitToPrint(t *testing.T) {
	tests := map[string]string{
		"Pixel 9":                      "Pixel 9",
		"":                             "unnamed device",
		" \t\n":                        "unnamed device",
		"a\x1b[2Jb":                    "a[2Jb",
		"evil\u202egnp.exe":            "evilgnp.exe",
		"\xff\xfe":                     "unnamed device",
		strings.Repeat("é", maxName*2): strings.Repeat("é", maxName),
		"  a    b  ":                   "a b",
	}
	for in, want := range tests {
		if got := cleanName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestGrant(t *testing.T) {
	view := []string{"ping", "shown", "hidden", "stats"}
	control := []string{"move", "button", "wheel", "key", "text", "release", "mark"}
	none := []string{"", "pointer", "source", "Move", "clipboard", "move "}
	for r, may := range map[Rights][2]bool{"": {}, View: {true, false}, Control: {true, true}, "root": {}} {
		g := Grant{Rights: r}
		for i, list := range [][]string{view, control} {
			for _, m := range list {
				if g.Allows(m) != may[i] {
					t.Errorf("%q allows %q: %v", r, m, !may[i])
				}
			}
		}
		for _, m := range none {
			if g.Allows(m) {
				t.Errorf("%q allows %q", r, m)
			}
		}
	}
}
