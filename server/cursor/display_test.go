//go:build linux

package cursor

import (
	"bytes"
	"testing"
)

func TestParseDisplay(t *testing.T) {
	tests := []struct {
		name, network, address string // network "" means an error
	}{
		{":0", "unix", "/tmp/.X11-unix/X0"},
		{":12.1", "unix", "/tmp/.X11-unix/X12"},
		{"unix:3", "unix", "/tmp/.X11-unix/X3"},
		{"localhost:10.0", "tcp", "localhost:6010"},
		{"tcp/host:1", "tcp", "host:6001"},
		{"/run/x/sock:0", "unix", "/run/x/sock:0"},
		{"", "", ""}, {":", "", ""}, {":x", "", ""}, {":-1", "", ""}, {":99999", "", ""},
	}
	for _, tt := range tests {
		d, err := parseDisplay(tt.name)
		if (err != nil) != (tt.network == "") || d.network != tt.network || d.address != tt.address {
			t.Errorf("%q: %s %s %v, want %s %s", tt.name, d.network, d.address, err, tt.network, tt.address)
		}
	}
}

// entry is one record of an authority file.
func entry(family uint16, fields ...string) []byte {
	b := []byte{byte(family >> 8), byte(family)}
	for _, f := range fields {
		b = append(b, byte(len(f)>>8), byte(len(f)))
		b = append(b, f...)
	}
	return b
}

func TestFindCookie(t *testing.T) {
	file := bytes.Join([][]byte{
		entry(familyLocal, "other", "7", cookieName, "wrong host"),
		entry(familyLocal, "here", "8", cookieName, "wrong number"),
		entry(familyLocal, "here", "7", "XDM-AUTHORIZATION-1", "wrong kind"),
		entry(familyLocal, "here", "7", cookieName, "right"),
		entry(familyWild, "", "", cookieName, "wild"),
	}, nil)
	tests := []struct{ host, number, want string }{{"here", "7", "right"}, {"else", "1", "wild"}}
	for _, tt := range tests {
		if got := findCookie(bytes.NewReader(file), tt.host, tt.number); string(got) != tt.want {
			t.Errorf("%s:%s: %q, want %q", tt.host, tt.number, got, tt.want)
		}
	}
	if got := findCookie(bytes.NewReader(file[:len(file)-3]), "else", "1"); got != nil {
		t.Errorf("cut off file: %q", got)
	}
}

func FuzzFindCookie(f *testing.F) {
	f.Add(entry(familyLocal, "here", "7", cookieName, "right"))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(_ *testing.T, file []byte) { findCookie(bytes.NewReader(file), "here", "7") })
}
