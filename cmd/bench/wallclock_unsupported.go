//go:build !linux || !amd64

package main

import (
	"errors"
	"fmt"
	"time"
)

// setWallClock is made for the vDSO of Linux on x86-64 alone.
func setWallClock(int, time.Duration) error {
	return fmt.Errorf("setting the clock of one process: %w", errors.ErrUnsupported)
}
