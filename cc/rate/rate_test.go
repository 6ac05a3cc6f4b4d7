package rate

import (
	"math"
	"testing"
	"time"
)

func TestBytesAndDuration(t *testing.T) {
	for _, c := range []struct {
		rate  Rate
		d     time.Duration
		bytes int
	}{
		{8 * Mbps, time.Millisecond, 1000},
		{10 * Mbps, time.Second, 1_250_000},
		{Kbps, 8 * time.Millisecond, 1},
		{0, time.Second, 0},
		{-Mbps, time.Second, 0},
		{Mbps, -time.Second, 0},
		{math.MaxInt64, math.MaxInt64, math.MaxInt},
	} {
		if got := c.rate.Bytes(c.d); got != c.bytes {
			t.Errorf("%v.Bytes(%v) = %d, want %d", c.rate, c.d, got, c.bytes)
		}
	}
	for _, c := range []struct {
		rate  Rate
		bytes int
		d     time.Duration
	}{
		{8 * Mbps, 1000, time.Millisecond},
		{3 * Mbps, 1, 2667 * time.Nanosecond},
		{Mbps, 0, 0},
		{0, 1, math.MaxInt64},
		{1, math.MaxInt, math.MaxInt64},
	} {
		if got := c.rate.Duration(c.bytes); got != c.d {
			t.Errorf("%v.Duration(%d) = %v, want %v", c.rate, c.bytes, got, c.d)
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		bytes int
		d     time.Duration
		want  Rate
	}{
		{1000, time.Millisecond, 8 * Mbps},
		{1000, 0, 0},
		{-1, time.Second, 0},
		{math.MaxInt, 1, math.MaxInt64},
	} {
		if got := Of(c.bytes, c.d); got != c.want {
			t.Errorf("Of(%d, %v) = %v, want %v", c.bytes, c.d, got, c.want)
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		factor float64
		want   Rate
	}{{1.5, 3 * Mbps}, {-1, 0}, {math.NaN(), 0}, {math.Inf(1), math.MaxInt64}} {
		if got := (2 * Mbps).Scale(c.factor); got != c.want {
			t.Errorf("Scale(%v) = %v, want %v", c.factor, got, c.want)
		}
	}
}

func TestString(t *testing.T) {
	for r, want := range map[Rate]string{
		5_240_000: "5.2 Mbit/s", 640 * Kbps: "640 kbit/s", 999_499: "999 kbit/s",
		999_500: "1.0 Mbit/s", 12: "12 bit/s", 0: "0 bit/s",
	} {
		if got := r.String(); got != want {
			t.Errorf("Rate(%d).String() = %q, want %q", int64(r), got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for s, want := range map[string]Rate{
		"8M": 8 * Mbps, "5.2 Mbit/s": 5_200_000, "640kbps": 640 * Kbps,
		" 64000 ": 64000, "0": 0, "1g": 1000 * Mbps,
	} {
		got, err := Parse(s)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "fast", "8MB/s", "-1M", "1e30", "NaN", "8 M M", "99999999999G"} {
		if got, err := Parse(s); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", s, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"8M", "5.2 Mbit/s", "..", "k", "1.k"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s)
		if err != nil {
			return
		}
		if r < 0 {
			t.Fatalf("Parse(%q) = %d", s, int64(r))
		}
		if _, err := Parse(r.String()); err != nil {
			t.Fatalf("String of %d does not parse: %v", int64(r), err)
		}
	})
}
