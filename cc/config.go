package cc

import (
	"time"

	"nearglass/cc/rate"
)

// Part names a part of the controller that can be switched off, so that a bench
// can show what it is worth.
type Part uint16

// Parts.
const (
	Drain   Part = 1 << iota // lowers the target while a queue stands
	Share                    // gives way to others on the path
	Compete                  // but holds its own against one that fills every queue
	Loss                     // tells a policer from random loss
	Outage                   // holds back while nothing comes through
	Probes                   // sends trains where pictures tell nothing
	Recall                   // starts near what the same route carried before
	Change                   // believes two trains against all before them
	Calm                     // averages longer on a path that spaces trains unevenly
)

// Config sets up a Controller. Zero values mean the defaults named here.
type Config struct {
	// Start is the target before anything is known, Min and Max its bounds.
	// Defaults 1 Mbit/s, 150 kbit/s and 50 Mbit/s.
	Start, Min, Max rate.Rate
	// FrameInterval is the least time between two pictures; default 1/60 s.
	FrameInterval time.Duration
	// Memory is that of an earlier connection over the same route; the zero
	// value is none.
	Memory Memory
	// Relayed says that a relay passes the packets on: the start is careful.
	Relayed bool
	// Off are parts to switch off.
	Off Part
}

// Memory is what a controller knew of a route.
type Memory struct {
	Capacity rate.Rate // on the wire
	At       time.Time // when it was last confirmed
}

// memoryAge is how long a memory is of use.
const memoryAge = 10 * time.Minute

const (
	defaultStart         = 1000 * rate.Kbps
	defaultMin           = 150 * rate.Kbps
	defaultMax           = 50 * rate.Mbps
	defaultFrameInterval = time.Second / 60
)

func (c Config) withDefaults() Config {
	if c.Min <= 0 {
		c.Min = defaultMin
	}
	if c.Max <= 0 {
		c.Max = defaultMax
	}
	c.Max = max(c.Max, c.Min)
	if c.Start <= 0 {
		c.Start = defaultStart
	}
	c.Start = min(max(c.Start, c.Min), c.Max)
	if c.FrameInterval <= 0 {
		c.FrameInterval = defaultFrameInterval
	}
	return c
}
