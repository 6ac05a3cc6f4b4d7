//go:build !linux

package usage

import "time"

// read knows nothing here: what the log then says is zero.
func read(bool) counters { return counters{} }

func processTime() time.Duration { return 0 }

// Slept is for how long the machine has slept since it was started; 0 where that
// is not known.
func Slept() time.Duration { return 0 }
