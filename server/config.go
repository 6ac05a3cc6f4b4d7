package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"nearglass/cc/rate"
	"nearglass/gpu/encode"
	"nearglass/server/access"
	"nearglass/server/session"
)

// Config is all that a host can be told. Every field has a default that
// WithDefaults fills in; the command line, the environment and the config file
// use the names in quotes.
type Config struct {
	// Name is what viewers call this host ("name"). Empty means the machine's
	// own name.
	Name string
	// Version is shown to viewers and in logs. Empty means "dev".
	Version string
	// Listen is the TCP address of the page and the UDP address of the streams
	// ("listen"). Empty means DefaultListen, every interface. Port 0 picks one.
	Listen string
	// TLSCert and TLSKey are PEM files ("tls-cert", "tls-key"). Both or neither.
	// They are read again when they change. Without them the page is served over
	// plain HTTP, and to private addresses only.
	TLSCert, TLSKey string
	// AllowHosts are further names under which browsers may address this host
	// ("allow-host"), beside its addresses, its own name, localhost and *.ts.net.
	AllowHosts []string
	// StateDir holds the paired devices ("state"). Empty means DefaultStateDir.
	StateDir string
	// Display is the X display ("display"). Empty means $DISPLAY; without that
	// the demo and the pattern are all there is.
	Display string
	// Source is what a viewer sees first when it names nothing ("source").
	// Empty leaves the choice to the viewer.
	Source string
	// Bitrate fixes what one viewer's video uses ("bitrate"), LowestBitrate to
	// HighestBitrate. 0 means that it follows what the path carries.
	Bitrate rate.Rate
	// MaxBitrate bounds the video of a viewer whose bitrate follows the path
	// ("max-bitrate"), LowestBitrate to HighestBitrate. 0 means
	// DefaultMaxBitrate. It has no effect on a fixed Bitrate.
	MaxBitrate rate.Rate
	// MaxAverage bounds what one viewer's video uses on the average of its whole stream
	// ("max-kbps", in kbit/s), whatever the path carries, LowestBitrate to
	// HighestBitrate. What a still screen leaves of it may be used later, up to three
	// times as much at a time. 0 is no such bound.
	MaxAverage rate.Rate
	// RateControl is "qp", "cbr" or "crf" ("rate-control"). Empty means qp: ratecontrol
	// gives each picture its QP. With cbr the encoder holds the bitrate by itself, picture
	// by picture; with crf it holds a quality and keeps to the bitrate where it has to.
	RateControl string
	// RedoEvery has one picture in so many encoded twice and replaced by a placeholder
	// ("redo-every"), to try what a viewer's decoder makes of that. 0: only those that
	// come out too large.
	RedoEvery int
	// QP is the sharpest that pictures in motion are encoded at ("qp"), LeastQP to
	// MostQP; a still picture is sharpened by a few more. 0 leaves it to
	// ratecontrol.
	QP int
	// CRF says the same in the words of x264's other mode ("crf"): the QP that it
	// stands for. Either, or neither.
	CRF float64
	// FullSize sends no smaller pictures when a path carries even the coarsest no
	// more ("full-size").
	FullSize bool
	// PSNR has the encoder measure what viewers decode, for the figures and traces
	// of a stream ("psnr"). It costs about a millisecond a 1080p picture.
	PSNR bool
	// FPS is the most pictures a second ("fps"), 1 to 240. 0 means 60.
	FPS int
	// Preset is the x264 preset ("preset"). Empty means the encoder's default.
	Preset string
	// Profile is "auto", "baseline" or "high" ("profile"). Empty means auto:
	// high for the viewers that offer it, else constrained baseline.
	Profile string
	// LogFrames has the stream logs hold each picture's way at both ends
	// ("log-frames"): about ten times the size.
	LogFrames bool
	// Repair is how losses are repaired ("repair"): one of session.Repairs. Empty
	// means session.RepairAuto; the others are for measuring (docs/LOSS.md).
	Repair string
	// Rights are those of the code printed at the start ("rights"). Empty means
	// control.
	Rights access.Rights
}

// Bounds and defaults of Config.
const (
	DefaultListen               = ":7433"
	DefaultMaxBitrate rate.Rate = 50 * rate.Mbps
	LowestBitrate     rate.Rate = 200 * rate.Kbps // below it text stays unreadable for seconds
	HighestBitrate    rate.Rate = 500 * rate.Mbps
	LeastQP                     = 1
	MostQP                      = 40 // beyond it no text can be read
	DefaultFPS                  = 60
	MaxFPS                      = 240
)

// controls are the values of Config.RateControl.
var controls = map[string]encode.Control{"qp": encode.ByOrder, "cbr": encode.CBR, "crf": encode.CRF}

// presets are those of x264 that can keep up with a live picture.
var presets = []string{"ultrafast", "superfast", "veryfast", "faster", "fast", "medium"}

// WithDefaults returns c with its empty fields filled in, or an error when it
// cannot be run as it stands; the error says which setting to change.
func (c Config) WithDefaults() (Config, error) {
	if c.StateDir == "" {
		dir, err := DefaultStateDir()
		if err != nil {
			return c, fmt.Errorf("finding a folder for the paired devices: %w (name one with --state)", err)
		}
		c.StateDir = dir
	}
	if c.Name == "" {
		c.Name, _ = os.Hostname()
	}
	c.Name = or(c.Name, "nearglass")
	c.Version = or(c.Version, "dev")
	c.Listen = or(c.Listen, DefaultListen)
	c.Profile = or(c.Profile, "auto")
	c.RateControl = or(c.RateControl, "qp")
	c.Rights = or(c.Rights, access.Control)
	c.MaxBitrate = or(c.MaxBitrate, DefaultMaxBitrate)
	c.FPS = or(c.FPS, DefaultFPS)
	return c, c.Validate()
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Validate checks a filled-in Config and names every setting that is wrong, one
// a line. It reads the certificate when there is one.
func (c Config) Validate() error {
	return errors.Join(c.checkListen(), c.checkTLS(), c.checkPicture(), c.checkNames())
}

func (c Config) checkListen() error {
	_, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("listen %q is no address: write it like %s or 127.0.0.1:7433", c.Listen, DefaultListen)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("listen %q: port %q is not a number from 0 to 65535", c.Listen, port)
	}
	return nil
}

func (c Config) checkTLS() error {
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
		return nil
	case c.TLSCert == "":
		return errors.New("tls-key is set and tls-cert is not: set both, or neither")
	case c.TLSKey == "":
		return errors.New("tls-cert is set and tls-key is not: set both, or neither")
	}
	if _, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
		return fmt.Errorf("tls-cert and tls-key cannot be used: %w", err)
	}
	return nil
}

func (c Config) checkPicture() error {
	var errs []error
	if c.Bitrate != 0 {
		errs = append(errs, checkBitrate("bitrate", c.Bitrate))
	}
	errs = append(errs, checkBitrate("max-bitrate", c.MaxBitrate))
	if c.MaxAverage != 0 {
		errs = append(errs, checkBitrate("max-kbps", c.MaxAverage))
	}
	errs = append(errs, c.checkControl(), c.checkQP())
	if c.FPS < 1 || c.FPS > MaxFPS {
		errs = append(errs, fmt.Errorf("fps %d is outside 1 to %d", c.FPS, MaxFPS))
	}
	if c.Preset != "" && !slices.Contains(presets, c.Preset) {
		errs = append(errs, fmt.Errorf("preset %q is unknown: write one of %s", c.Preset, strings.Join(presets, ", ")))
	}
	if !slices.Contains([]string{"auto", "baseline", "high"}, c.Profile) {
		errs = append(errs, fmt.Errorf("profile %q is unknown: write auto, baseline or high", c.Profile))
	}
	if !session.Repair(c.Repair).Known() {
		errs = append(errs, fmt.Errorf("repair %q is unknown: write one of %q", c.Repair, session.Repairs))
	}
	return errors.Join(errs...)
}

func (c Config) checkControl() error {
	if _, ok := controls[c.RateControl]; !ok {
		return fmt.Errorf("rate-control %q is unknown: write one of %q", c.RateControl, slices.Sorted(maps.Keys(controls)))
	}
	if c.RedoEvery < 0 {
		return fmt.Errorf("redo-every %d is below 0", c.RedoEvery)
	}
	return nil
}

func (c Config) checkQP() error {
	switch {
	case c.QP != 0 && c.CRF != 0:
		return fmt.Errorf("qp and crf are both set, to %d and %g, and mean the same: set one of them", c.QP, c.CRF)
	case c.QP != 0 && (c.QP < LeastQP || c.QP > MostQP):
		return fmt.Errorf("qp %d is outside %d to %d", c.QP, LeastQP, MostQP)
	case c.CRF != 0 && !(c.CRF >= LeastQP && c.CRF <= MostQP):
		return fmt.Errorf("crf %g is outside %d to %d", c.CRF, LeastQP, MostQP)
	}
	return nil
}

// sharpest is the QP that either setting asks for, 0 when none does. A CRF is the
// QP that x264 gives to content of average complexity.
func (c Config) sharpest() int {
	if c.CRF != 0 {
		return int(math.Round(c.CRF))
	}
	return c.QP
}

func checkBitrate(name string, r rate.Rate) error {
	if r < LowestBitrate || r > HighestBitrate {
		return fmt.Errorf("%s %s is outside %s to %s", name, r, LowestBitrate, HighestBitrate)
	}
	return nil
}

// bitrateInWords says which of the rates hold.
func (c Config) bitrateInWords() string {
	words := fmt.Sprintf("the bitrate follows the path, up to %s", c.MaxBitrate)
	if c.Bitrate != 0 {
		words = fmt.Sprintf("the bitrate is fixed at %s", c.Bitrate)
	}
	if c.MaxAverage != 0 {
		words += fmt.Sprintf(", and is at most %s on the average", c.MaxAverage)
	}
	return words
}

func (c Config) checkNames() error {
	var errs []error
	if _, err := access.ParseRights(string(c.Rights)); err != nil {
		errs = append(errs, err)
	}
	for _, h := range c.AllowHosts {
		if h == "" || strings.ContainsAny(h, "/:* \t") {
			errs = append(errs, fmt.Errorf("allow-host %q is no host name: write the name alone, as in desk.example.com", h))
		}
	}
	if len(c.Name) > 64 {
		errs = append(errs, errors.New("name is longer than 64 bytes"))
	}
	return errors.Join(errs...)
}
