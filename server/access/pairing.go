package access

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	codeDigits = 6
	maxCodes   = 8 // open at once; each more makes guessing one of them easier

	// CodeLifetime is how long a pairing code can be used.
	CodeLifetime = 10 * time.Minute
)

// Code is an open pairing code.
type Code struct {
	Digits  string // six digits, for one use
	Rights  Rights // of the device that uses it
	Expires time.Time
}

// String writes the code as people read it, 123-456.
func (c Code) String() string {
	if len(c.Digits) != codeDigits {
		return c.Digits
	}
	return c.Digits[:3] + "-" + c.Digits[3:]
}

// NewCode opens a pairing code. When eight are open the oldest ends.
func (s *Store) NewCode(now time.Time, rights Rights) (Code, error) {
	if _, err := ParseRights(string(rights)); err != nil {
		return Code{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	digits, err := s.draw()
	if err != nil {
		return Code{}, err
	}
	if len(s.codes) >= maxCodes {
		s.codes = slices.Delete(s.codes, 0, 1)
	}
	c := Code{Digits: digits, Rights: rights, Expires: now.Add(CodeLifetime)}
	s.codes = append(s.codes, c)
	return c, nil
}

// draw picks six digits that no open code has.
func (s *Store) draw() (string, error) {
	for {
		n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
		if err != nil {
			return "", fmt.Errorf("drawing a pairing code: %w", err)
		}
		digits := fmt.Sprintf("%06d", n)
		if !slices.ContainsFunc(s.codes, func(c Code) bool { return c.Digits == digits }) {
			return digits, nil
		}
	}
}

func (s *Store) expire(now time.Time) {
	s.codes = slices.DeleteFunc(s.codes, func(c Code) bool { return !now.Before(c.Expires) })
}

// Redeem trades a pairing code for a device and its token. The code may be
// written with spaces or dashes. It fails with [ErrCode], a [*LockedError]
// after too many wrong ones, or an error of the disk, in which case the code
// stays good. Of two that redeem one code at once, one gets a device.
func (s *Store) Redeem(now time.Time, code string, remote netip.Addr, name string) (string, Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	if wait := s.limits.wait(now, remote); wait > 0 {
		s.log.Warn("pairing refused", "addr", remote, "reason", "too many wrong codes", "lockedFor", wait)
		return "", Device{}, &LockedError{RetryAfter: wait}
	}
	i := s.match(code)
	if i < 0 {
		s.miss(now, remote)
		return "", Device{}, ErrCode
	}
	c := s.codes[i]
	token, d, err := s.add(now, name, c.Rights)
	if err != nil {
		return "", Device{}, err
	}
	s.codes = slices.Delete(s.codes, i, i+1)
	s.limits.forget(remote)
	s.log.Info("device paired", "device", d.ID, "name", d.Name, "rights", d.Rights, "addr", remote)
	return token, d, nil
}

// match compares the code with every open one, each in constant time.
func (s *Store) match(code string) int {
	digits := strings.NewReplacer("-", "", " ", "").Replace(code)
	found := -1
	for i, c := range s.codes {
		if subtle.ConstantTimeCompare([]byte(c.Digits), []byte(digits)) == 1 {
			found = i
		}
	}
	return found
}

// miss counts a wrong code against its sender and against the whole host.
func (s *Store) miss(now time.Time, remote netip.Addr) {
	locked, flood := s.limits.fail(now, remote)
	s.log.Warn("pairing refused", "addr", remote, "reason", "wrong, used or expired code", "lockedFor", locked)
	if flood {
		s.codes = nil
		s.log.Warn("all pairing codes are void", "reason", "too many wrong codes",
			"wrong", floodFailures, "within", floodWindow, "next", "make a new one with nearglass pair")
	}
}
