// Package rate is bit rates as a type, so that a rate, a size and a time
// cannot be mistaken for one another.
//
// A Rate is a whole number of bits per second; a kilobit is 1000 bits, as on
// every network data sheet. Sizes are bytes, durations are time.Duration. All
// functions are pure and safe for concurrent use.
package rate

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Rate is a bit rate in bit/s. Negative rates have no meaning; functions here
// treat them as zero.
type Rate int64

// Units of Rate.
const (
	Kbps Rate = 1000
	Mbps      = 1000 * Kbps
)

// maxDuration is what Duration answers for a rate of zero: never.
const maxDuration = time.Duration(math.MaxInt64)

// bitNanos converts bytes at a bit rate to nanoseconds: 8 bits a byte times
// 1e9 nanoseconds a second.
const bitNanos = 8 * uint64(time.Second)

// Bytes returns how many whole bytes pass in d at rate r, rounded down, and
// zero for a negative rate or duration. Results beyond the range of int are
// capped.
func (r Rate) Bytes(d time.Duration) int {
	if r <= 0 || d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(r), uint64(d))
	if hi >= bitNanos {
		return math.MaxInt
	}
	n, _ := bits.Div64(hi, lo, bitNanos)
	return int(min(n, math.MaxInt))
}

// Duration returns how long sizeBytes bytes take at rate r, rounded up to a
// nanosecond. It is zero for no bytes and the longest duration for a rate of
// zero.
func (r Rate) Duration(sizeBytes int) time.Duration {
	if sizeBytes <= 0 {
		return 0
	}
	if r <= 0 {
		return maxDuration
	}
	hi, lo := bits.Mul64(uint64(sizeBytes), bitNanos)
	lo, carry := bits.Add64(lo, uint64(r)-1, 0)
	hi += carry
	if hi >= uint64(r) {
		return maxDuration
	}
	n, _ := bits.Div64(hi, lo, uint64(r))
	return time.Duration(min(n, uint64(maxDuration)))
}

// Scale returns r times factor, rounded, at least zero. A factor that is not
// a number gives zero.
func (r Rate) Scale(factor float64) Rate {
	v := float64(r) * factor
	switch {
	case !(v > 0):
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	}
	return Rate(math.Round(v))
}

// String formats r with two significant steps of unit, as in "5.2 Mbit/s",
// "640 kbit/s" or "12 bit/s".
func (r Rate) String() string {
	switch {
	case r >= Mbps-Kbps/2:
		return strconv.FormatFloat(float64(r)/float64(Mbps), 'f', 1, 64) + " Mbit/s"
	case r >= Kbps:
		return strconv.FormatFloat(float64(r)/float64(Kbps), 'f', 0, 64) + " kbit/s"
	}
	return strconv.FormatInt(int64(r), 10) + " bit/s"
}

// Of returns the rate at which sizeBytes bytes pass in d, rounded down. It is
// zero when d is not positive, for then no rate can be told.
func Of(sizeBytes int, d time.Duration) Rate {
	if sizeBytes <= 0 || d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(sizeBytes), bitNanos)
	if hi >= uint64(d) {
		return math.MaxInt64
	}
	n, _ := bits.Div64(hi, lo, uint64(d))
	return Rate(min(n, math.MaxInt64))
}

// unitNames lists what Parse accepts after the number, in lower case.
var unitNames = map[string]float64{
	"": 1, "bit/s": 1, "bps": 1,
	"k": 1e3, "kbit/s": 1e3, "kbps": 1e3,
	"m": 1e6, "mbit/s": 1e6, "mbps": 1e6,
	"g": 1e9, "gbit/s": 1e9, "gbps": 1e9,
}

// Parse reads a rate such as "8M", "5.2 Mbit/s", "640kbps" or "64000". Units
// are bits per second, in any case, never bytes. It is the inverse of String
// up to the digits that String shows.
func Parse(s string) (Rate, error) {
	text := strings.TrimSpace(s)
	end := strings.LastIndexAny(text, "0123456789.") + 1
	unit, ok := unitNames[strings.ToLower(strings.TrimSpace(text[end:]))]
	if !ok {
		return 0, fmt.Errorf("parse rate %q: unknown unit; write it like 8M, 640k or 5.2 Mbit/s", s)
	}
	number, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0, fmt.Errorf("parse rate %q: want a number and a unit, like 8M, 640k or 5.2 Mbit/s", s)
	}
	v := number * unit
	if !(v >= 0 && v < math.MaxInt64) {
		return 0, fmt.Errorf("parse rate %q: out of range", s)
	}
	return Rate(math.Round(v)), nil
}
