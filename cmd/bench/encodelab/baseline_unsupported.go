//go:build !cgo

package encodelab

import (
	"errors"
	"fmt"
)

func openX264(setup, regime) (encoder, error) {
	return nil, fmt.Errorf("x264 without cgo: %w", errors.ErrUnsupported)
}
