//go:build !linux

package capture

import (
	"errors"
	"fmt"
)

func openX11(string) (Backend, error) {
	return nil, fmt.Errorf("capture through X11 on this system: %w", errors.ErrUnsupported)
}
