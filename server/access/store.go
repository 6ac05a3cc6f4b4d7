package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	tokenBytes = 32
	tokenChars = 43  // of it in base64url; the decoder skips line breaks, this does not
	maxDevices = 256 // far above a household; bounds the scan that Authenticate makes
	maxName    = 64  // runes of a device's name

	// SeenStep is how far LastSeen may lag: a stream that renews its cookie
	// each second must not write the disk each second.
	SeenStep = 5 * time.Minute

	// Lifetime is how long a device stays paired without being used. The
	// cookie carries the same age and is renewed on use.
	Lifetime = 365 * 24 * time.Hour
)

// Store holds the paired devices and the open pairing codes of one host. It is
// safe for concurrent use. One process at a time may own a state folder.
type Store struct {
	log  *slog.Logger
	path string

	mu       sync.Mutex
	devices  []Device
	watchers map[string]chan struct{} // by device id; closed on revocation
	codes    []Code
	limits   limits
}

// Open reads devices.json in the folder dir, which it makes when missing
// (mode 0700). A file that is not whole is an error that wraps [ErrCorrupt]:
// nobody is let in by it and nothing in it is thrown away. A nil log discards.
func Open(dir string, log *slog.Logger) (*Store, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	path, devices, err := load(dir)
	if err != nil {
		return nil, err
	}
	return &Store{log: log, path: path, devices: devices,
		watchers: map[string]chan struct{}{}, limits: newLimits()}, nil
}

// Devices returns the paired devices, oldest first.
func (s *Store) Devices() []Device {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.devices)
}

// Issue pairs a device without a code and returns its token: for WHEP players,
// which cannot type one. Only a person at the host may be given this.
func (s *Store) Issue(now time.Time, name string, rights Rights) (string, Device, error) {
	if _, err := ParseRights(string(rights)); err != nil {
		return "", Device{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(now, name, rights)
}

// Authenticate finds the device that holds this token. Any error wraps
// [ErrToken] and means: not paired. Every stored hash is compared, each in
// constant time.
func (s *Store) Authenticate(now time.Time, token string) (Grant, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != tokenBytes || len(token) != tokenChars {
		return Grant{}, fmt.Errorf("%w: the token is malformed", ErrToken)
	}
	sum := sha256.Sum256(raw)
	hash := []byte(hex.EncodeToString(sum[:]))
	s.mu.Lock()
	defer s.mu.Unlock()
	found := -1
	for i := range s.devices {
		if subtle.ConstantTimeCompare([]byte(s.devices[i].TokenHash), hash) == 1 {
			found = i
		}
	}
	if found < 0 {
		return Grant{}, fmt.Errorf("%w: the token is unknown or was revoked", ErrToken)
	}
	d := &s.devices[found]
	if now.Sub(d.LastSeen) > Lifetime {
		return Grant{}, fmt.Errorf("%w: it was not used for %d days", ErrToken, Lifetime/(24*time.Hour))
	}
	s.seen(now, d)
	return Grant{DeviceID: d.ID, Name: d.Name, Rights: d.Rights}, nil
}

// seen moves LastSeen on. A failed write is logged and not fatal: the device
// is paired all the same.
func (s *Store) seen(now time.Time, d *Device) {
	if now.Sub(d.LastSeen) < SeenStep {
		return
	}
	d.LastSeen = now.UTC().Truncate(time.Second)
	if err := save(s.path, s.devices); err != nil {
		s.log.Warn("last use of a device was not written", "device", d.ID, "err", err)
	}
}

// Revoke removes a device and ends what it is watching: its channel from Watch
// is closed before Revoke returns. When the file cannot be written the device
// is cut off all the same and the error says that it would be back after a
// restart.
func (s *Store) Revoke(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.devices, func(d Device) bool { return d.ID == id })
	if i < 0 {
		return fmt.Errorf("%w: %q", ErrDevice, id)
	}
	name := s.devices[i].Name
	s.devices = slices.Delete(s.devices, i, i+1)
	if c, ok := s.watchers[id]; ok {
		close(c)
		delete(s.watchers, id)
	}
	s.log.Info("device revoked", "device", id, "name", name)
	if err := save(s.path, s.devices); err != nil {
		return fmt.Errorf("device %s is cut off now but would be back after a restart: %w", id, err)
	}
	return nil
}

// Watch returns a channel that is closed when the device is revoked. For a
// device that is not paired it is closed already.
func (s *Store) Watch(id string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.watchers[id]; ok {
		return c
	}
	c := make(chan struct{})
	if !slices.ContainsFunc(s.devices, func(d Device) bool { return d.ID == id }) {
		close(c)
		return c
	}
	s.watchers[id] = c
	return c
}

// add appends a device with a fresh token and writes the file before it
// answers. The caller holds the lock.
func (s *Store) add(now time.Time, name string, rights Rights) (string, Device, error) {
	if len(s.devices) >= maxDevices {
		return "", Device{}, fmt.Errorf("%w: %d devices are paired; remove one with nearglass pair revoke", ErrFull, maxDevices)
	}
	raw, id := make([]byte, tokenBytes), make([]byte, 4)
	if _, err := io.ReadFull(rand.Reader, raw); err != nil {
		return "", Device{}, fmt.Errorf("drawing a token: %w", err)
	}
	if _, err := io.ReadFull(rand.Reader, id); err != nil {
		return "", Device{}, fmt.Errorf("drawing a device id: %w", err)
	}
	sum := sha256.Sum256(raw)
	at := now.UTC().Truncate(time.Second)
	d := Device{ID: hex.EncodeToString(id), Name: cleanName(name), Rights: rights,
		Created: at, LastSeen: at, TokenHash: hex.EncodeToString(sum[:])}
	next := append(slices.Clone(s.devices), d)
	if err := save(s.path, next); err != nil {
		return "", Device{}, err
	}
	s.devices = next
	return base64.RawURLEncoding.EncodeToString(raw), d, nil
}

// cleanName makes a viewer's own name for itself fit to print on a terminal.
func cleanName(name string) string {
	if !utf8.ValidString(name) {
		name = strings.ToValidUTF8(name, "")
	}
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName])
	}
	if name == "" {
		return "unnamed device"
	}
	return name
}
