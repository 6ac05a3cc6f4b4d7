//go:build !linux

package cursor

import (
	"errors"
	"fmt"
	"runtime"
)

func open(string, *signals) (source, error) {
	return nil, fmt.Errorf("following the pointer on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
