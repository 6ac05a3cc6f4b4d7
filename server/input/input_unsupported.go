//go:build !linux

package input

import (
	"errors"
	"fmt"
	"runtime"
)

func open(string) (*Injector, error) {
	return nil, fmt.Errorf("injecting input on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
