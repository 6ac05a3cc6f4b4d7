package server

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nearglass/cc/rate"
	"nearglass/server/access"
)

func TestDefaults(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/tmp/state")
	c, err := Config{}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != ":7433" || c.Bitrate != 0 || c.MaxBitrate != 50*rate.Mbps || c.FPS != 60 || c.Profile != "auto" || c.Rights != access.Control || c.Name == "" {
		t.Errorf("%+v", c)
	}
	if c.StateDir != filepath.FromSlash("/tmp/state/nearglass") {
		t.Skipf("this system keeps state in %s", c.StateDir)
	}
}

// TestSharpestQP: a CRF is read as the QP that it stands for.
func TestSharpestQP(t *testing.T) {
	for _, tt := range []struct {
		qp   int
		crf  float64
		want int
	}{{0, 0, 0}, {20, 0, 20}, {0, 23, 23}, {0, 23.5, 24}, {40, 0, 40}, {0, 1, 1}} {
		c, err := Config{StateDir: "/tmp/x", QP: tt.qp, CRF: tt.crf}.WithDefaults()
		if err != nil || c.sharpest() != tt.want {
			t.Errorf("qp %d, crf %g: %d, %v; want %d", tt.qp, tt.crf, c.sharpest(), err, tt.want)
		}
	}
}

// TestValidate: each wrong setting is named, and so is what to write instead.
func TestValidate(t *testing.T) {
	tests := map[string]struct {
		change func(*Config)
		want   []string
	}{
		"listen":         {func(c *Config) { c.Listen = "7433" }, []string{"listen", "7433", "127.0.0.1:7433"}},
		"port":           {func(c *Config) { c.Listen = ":http" }, []string{"listen", "http", "65535"}},
		"cert alone":     {func(c *Config) { c.TLSCert = "a" }, []string{"tls-key"}},
		"key alone":      {func(c *Config) { c.TLSKey = "a" }, []string{"tls-cert"}},
		"missing cert":   {func(c *Config) { c.TLSCert, c.TLSKey = "/nonexistent", "/nonexistent" }, []string{"tls-cert", "/nonexistent"}},
		"low bitrate":    {func(c *Config) { c.Bitrate = 20 }, []string{"bitrate", "20 bit/s", "200 kbit/s"}},
		"high bitrate":   {func(c *Config) { c.Bitrate = 1000 * rate.Mbps }, []string{"bitrate"}},
		"low maximum":    {func(c *Config) { c.MaxBitrate = rate.Kbps }, []string{"max-bitrate", "1 kbit/s", "200 kbit/s"}},
		"high maximum":   {func(c *Config) { c.MaxBitrate = 501 * rate.Mbps }, []string{"max-bitrate", "500.0 Mbit/s"}},
		"low average":    {func(c *Config) { c.MaxAverage = 8 * rate.Kbps }, []string{"max-kbps", "8 kbit/s", "200 kbit/s"}},
		"average":        {func(c *Config) { c.MaxAverage = -rate.Mbps }, []string{"max-kbps"}},
		"rate control":   {func(c *Config) { c.RateControl = "vbr" }, []string{"rate-control", "vbr", "cbr", "crf", "qp"}},
		"redo":           {func(c *Config) { c.RedoEvery = -1 }, []string{"redo-every -1"}},
		"fine qp":        {func(c *Config) { c.QP = -1 }, []string{"qp -1", "1 to 40"}},
		"coarse qp":      {func(c *Config) { c.QP = 41 }, []string{"qp 41", "1 to 40"}},
		"crf":            {func(c *Config) { c.CRF = 51.5 }, []string{"crf 51.5", "1 to 40"}},
		"no crf":         {func(c *Config) { c.CRF = math.NaN() }, []string{"crf NaN", "1 to 40"}},
		"qp and crf":     {func(c *Config) { c.QP, c.CRF = 20, 23 }, []string{"qp", "crf", "one of them"}},
		"fps":            {func(c *Config) { c.FPS = 1000 }, []string{"fps", "240"}},
		"negative fps":   {func(c *Config) { c.FPS = -1 }, []string{"fps"}},
		"preset":         {func(c *Config) { c.Preset = "warp" }, []string{"preset", "warp", "superfast"}},
		"repair":         {func(c *Config) { c.Repair = "fec" }, []string{"repair", "fec", "rtx", "reference"}},
		"profile":        {func(c *Config) { c.Profile = "main" }, []string{"profile", "baseline"}},
		"rights":         {func(c *Config) { c.Rights = "root" }, []string{"rights", "root", "view or control"}},
		"host with port": {func(c *Config) { c.AllowHosts = []string{"a.example.com:1"} }, []string{"allow-host", "the name alone"}},
		"two at once":    {func(c *Config) { c.FPS, c.Preset = 999, "warp" }, []string{"fps", "preset"}},
	}
	for name, tt := range tests {
		c := Config{StateDir: "/tmp/x"}
		tt.change(&c)
		_, err := c.WithDefaults()
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", name, err, w)
			}
		}
	}
	_, err := Config{StateDir: "/tmp/x", TLSCert: "/nonexistent", TLSKey: "/nonexistent"}.WithDefaults()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
}
