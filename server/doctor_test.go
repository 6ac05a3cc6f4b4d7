package server

import (
	"context"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nearglass/server/access"
)

// find returns the check of this name.
func find(t *testing.T, checks []Check, what string) Check {
	t.Helper()
	for _, c := range checks {
		if c.What == what {
			return c
		}
	}
	t.Fatalf("%q was not looked at: %+v", what, checks)
	return Check{}
}

// TestExamine breaks one thing at a time and wants it named, with advice.
func TestExamine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	tests := []struct {
		what   string
		spoil  func(c *Config)
		want   Verdict
		advice string
	}{
		{"settings", func(*Config) {}, Good, ""},
		{"settings", func(c *Config) { c.FPS = 999 }, Bad, "config file"},
		{"paired devices", func(*Config) {}, Good, ""},
		{"paired devices", func(c *Config) {
			_ = os.WriteFile(filepath.Join(c.StateDir, access.FileName), []byte(`{"ver`), 0o600)
		}, Bad, "brackets"},
		{"port", func(*Config) {}, Good, ""},
		{"port", func(c *Config) { c.Listen = taken.Addr().String() }, Bad, "--listen"},
		{"addresses", func(*Config) {}, Limited, "Tailscale"}, // bound to loopback
		{"HTTPS", func(*Config) {}, Limited, "tls-cert"},
		{"display", func(*Config) {}, Bad, "X11 session"},
		{"display", func(c *Config) { c.Display = ":9999" }, Bad, ""},
	}
	for _, tt := range tests {
		cfg := Config{StateDir: t.TempDir(), Listen: "127.0.0.1:0"}
		tt.spoil(&cfg)
		c := find(t, Examine(context.Background(), cfg), tt.what)
		if c.Verdict != tt.want || !strings.Contains(c.Advice, tt.advice) || (c.Verdict != Good && c.Advice == "") {
			t.Errorf("%s: %+v, want %s with %q", tt.what, c, tt.want, tt.advice)
		}
	}
}

func TestExamineFindsARunningHost(t *testing.T) {
	dir := t.TempDir()
	f := startFront(t, dir, nil)
	c := find(t, Examine(context.Background(), Config{StateDir: dir, Listen: f.addr().String()}), "port")
	if c.Verdict != Good || !strings.Contains(c.Found, "3 streams") {
		t.Errorf("%+v", c)
	}
}

func TestLeaf(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for name, tt := range map[string]struct {
		from, to time.Duration
		want     Verdict
	}{
		"fresh":     {-day, 80 * day, Good},
		"ends soon": {-day, 10 * day, Limited},
		"ended":     {-9 * day, -day, Bad},
		"not yet":   {day, 80 * day, Bad},
	} {
		leaf := &x509.Certificate{NotBefore: now.Add(tt.from), NotAfter: now.Add(tt.to), DNSNames: []string{"desk"}}
		if c := leafCheck(leaf, now); c.Verdict != tt.want {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
