package capture

import (
	"errors"
	"fmt"
)

func openX11(display string) (Backend, error) {
	return nil, fmt.Errorf("capture of %q through X11: %w", display, errors.ErrUnsupported)
}
