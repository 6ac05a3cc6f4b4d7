package access

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	phone = netip.MustParseAddr("192.168.1.7")
)

func open(t *testing.T) (*Store, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s, err := Open(t.TempDir(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s, &log
}

func code(t *testing.T, s *Store, now time.Time, r Rights) Code {
	t.Helper()
	c, err := s.NewCode(now, r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wrong is six digits that no open code has.
func wrong(s *Store) string {
	for n := 0; ; n++ {
		d := fmt.Sprintf("%06d", n)
		if s.match(d) < 0 {
			return d
		}
	}
}

func TestRedeem(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(c Code) string
		after time.Duration
		want  error
	}{
		{"as printed", Code.String, 0, nil},
		{"digits alone", func(c Code) string { return c.Digits }, 0, nil},
		{"with spaces", func(c Code) string { return " " + c.Digits[:3] + " " + c.Digits[3:] + " " }, 0, nil},
		{"at the last moment", Code.String, CodeLifetime - time.Nanosecond, nil},
		{"expired", Code.String, CodeLifetime, ErrCode},
		{"empty", func(Code) string { return "" }, 0, ErrCode},
		{"short", func(c Code) string { return c.Digits[:5] }, 0, ErrCode},
		{"long", func(c Code) string { return c.Digits + "0" }, 0, ErrCode},
		{"last digit wrong", func(c Code) string { return c.Digits[:5] + string('0'+(c.Digits[5]-'0'+1)%10) }, 0, ErrCode},
		{"no digits", func(Code) string { return "abcdef" }, 0, ErrCode},
		{"digits of another script", func(Code) string { return "١٢٣٤٥٦" }, 0, ErrCode},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := open(t)
			c := code(t, s, start, Control)
			token, d, err := s.Redeem(start.Add(tt.after), tt.spoil(c), phone, "Pixel 9")
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if tt.want != nil {
				if token != "" || len(s.Devices()) != 0 {
					t.Fatal("a refused code left a device behind")
				}
				return
			}
			g, err := s.Authenticate(start, token)
			if err != nil || g.DeviceID != d.ID || g.Rights != Control {
				t.Fatalf("the token gives %+v, %v", g, err)
			}
		})
	}
}

func TestCodeWorksOnce(t *testing.T) {
	s, log := open(t)
	c := code(t, s, start, View)
	if _, _, err := s.Redeem(start, c.Digits, phone, "one"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Redeem(start, c.Digits, phone, "two"); !errors.Is(err, ErrCode) {
		t.Fatalf("a used code gives %v", err)
	}
	if len(s.Devices()) != 1 {
		t.Fatal("a used code paired a device")
	}
	if !strings.Contains(log.String(), "pairing refused") || strings.Contains(log.String(), c.Digits) {
		t.Fatalf("the log lacks the refusal or shows the code:\n%s", log)
	}
}

func TestTwoRedeemAtOnce(t *testing.T) {
	s, _ := open(t)
	c := code(t, s, start, View)
	var wg sync.WaitGroup
	won := make(chan string, 16)
	for i := range cap(won) {
		wg.Go(func() {
			addr := netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})
			if token, _, err := s.Redeem(start, c.Digits, addr, "x"); err == nil {
				won <- token
			}
		})
	}
	wg.Wait()
	if len(won) != 1 || len(s.Devices()) != 1 {
		t.Fatalf("%d won, %d devices", len(won), len(s.Devices()))
	}
}

func TestFailedWriteKeepsTheCode(t *testing.T) {
	s, _ := open(t)
	c := code(t, s, start, View)
	path := s.path
	s.path = "/nonexistent/folder/devices.json"
	if _, _, err := s.Redeem(start, c.Digits, phone, "x"); err == nil || errors.Is(err, ErrCode) {
		t.Fatalf("got %v", err)
	}
	s.path = path
	if _, _, err := s.Redeem(start, c.Digits, phone, "x"); err != nil {
		t.Fatalf("the code was lost: %v", err)
	}
}

func TestOldestCodeEndsWhenTooManyAreOpen(t *testing.T) {
	s, _ := open(t)
	first := code(t, s, start, View)
	for range maxCodes {
		code(t, s, start, View)
	}
	if s.match(first.Digits) >= 0 || len(s.codes) != maxCodes {
		t.Fatalf("%d codes are open", len(s.codes))
	}
}

// TestBruteForce walks an attacker from one address through the locks.
func TestBruteForce(t *testing.T) {
	s, _ := open(t)
	c := code(t, s, start, Control)
	now := start
	for range freeTries {
		if _, _, err := s.Redeem(now, wrong(s), phone, ""); !errors.Is(err, ErrCode) {
			t.Fatalf("got %v", err)
		}
	}
	var locked *LockedError
	if _, _, err := s.Redeem(now, c.Digits, phone, ""); !errors.As(err, &locked) || locked.RetryAfter != lockFirst {
		t.Fatalf("the right code while locked gives %v", err)
	}
	if _, _, err := s.Redeem(now, wrong(s), phone, ""); !errors.As(err, &locked) || locked.RetryAfter != lockFirst {
		t.Fatalf("a try while locked changed the lock: %v", err)
	}
	for want := 2 * lockFirst; want < lockMost; want *= 2 {
		now = now.Add(locked.RetryAfter)
		_, _, _ = s.Redeem(now, "000", phone, "")
		if _, _, err := s.Redeem(now, "000", phone, ""); !errors.As(err, &locked) || locked.RetryAfter != want {
			t.Fatalf("got %v, want a lock of %s", err, want)
		}
	}
	for range 3 {
		now = now.Add(locked.RetryAfter)
		_, _, _ = s.Redeem(now, "000", phone, "")
		if _, _, err := s.Redeem(now, "000", phone, ""); !errors.As(err, &locked) || locked.RetryAfter != lockMost {
			t.Fatalf("got %v, want the longest lock", err)
		}
	}
	other := netip.MustParseAddr("192.168.1.8")
	c = code(t, s, now, View)
	if _, _, err := s.Redeem(now, c.Digits, other, ""); err != nil {
		t.Fatalf("the lock of one address holds another: %v", err)
	}
}

func TestLockHoldsAWholeIPv6Network(t *testing.T) {
	s, _ := open(t)
	for i := range freeTries {
		a := netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1))
		_, _, _ = s.Redeem(start, "000", a, "")
	}
	var locked *LockedError
	if _, _, err := s.Redeem(start, "000", netip.MustParseAddr("2001:db8::ffff"), ""); !errors.As(err, &locked) {
		t.Fatalf("got %v", err)
	}
}

func TestFloodVoidsAllCodes(t *testing.T) {
	s, log := open(t)
	c := code(t, s, start, View)
	for i := range floodFailures {
		a := netip.AddrFrom4([4]byte{10, 1, byte(i), 1})
		_, _, _ = s.Redeem(start.Add(time.Duration(i)*time.Second), "000", a, "")
	}
	if _, _, err := s.Redeem(start.Add(time.Minute), c.Digits, phone, ""); !errors.Is(err, ErrCode) {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(log.String(), "all pairing codes are void") {
		t.Fatalf("no warning:\n%s", log)
	}
	c = code(t, s, start.Add(time.Minute), View)
	if _, _, err := s.Redeem(start.Add(time.Minute), c.Digits, phone, ""); err != nil {
		t.Fatalf("a new code after the flood: %v", err)
	}
}

func TestSlowMissesAreNoFlood(t *testing.T) {
	s, _ := open(t)
	now := start
	for i := range 3 * floodFailures {
		now = now.Add(floodWindow / (floodFailures - 2))
		a := netip.AddrFrom4([4]byte{10, 1, byte(i), 1})
		_, _, _ = s.Redeem(now, "000", a, "")
	}
	c := code(t, s, now, View)
	if _, _, err := s.Redeem(now, c.Digits, phone, ""); err != nil {
		t.Fatal(err)
	}
}

func TestAddressesAreBounded(t *testing.T) {
	l := newLimits()
	for i := range 3 * maxAddresses {
		a := netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)})
		l.fail(start.Add(time.Duration(i)), a)
	}
	if len(l.byAddr) != maxAddresses || len(l.recent) >= floodFailures {
		t.Fatalf("%d addresses, %d misses are remembered", len(l.byAddr), len(l.recent))
	}
}
