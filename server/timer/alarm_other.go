//go:build !linux

package timer

import (
	"errors"
	"fmt"
	"time"
)

// clock has no implementation here: where Go's timers are as fine as the
// system's there is nothing to add.
type clock struct{}

func openClock() (clock, error) {
	return clock{}, fmt.Errorf("a timer of the kernel: %w", errors.ErrUnsupported)
}

func (clock) set(time.Duration) error { return errors.ErrUnsupported }

func (clock) wait() error { return errors.ErrUnsupported }

func (clock) close() error { return errors.ErrUnsupported }
