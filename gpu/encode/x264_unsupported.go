//go:build !cgo

package encode

import (
	"errors"
	"fmt"
)

const noEncoder = "this build has no H.264 encoder, because it was built without cgo; build it with CGO_ENABLED=1 and a C compiler"

func openX264(Config) (Encoder, error) {
	return nil, fmt.Errorf("encode: %s: %w", noEncoder, errors.ErrUnsupported)
}

func probe() Capabilities {
	return Capabilities{Converter: converterName, Warning: noEncoder}
}
