package capture

import (
	"errors"
	"os"
)

// OpenX11 connects to an X server, such as ":0"; an empty display means the
// one that the environment names. Its sources are the whole desktop, each
// monitor and each application window. When the server goes away every method
// answers ErrGone, and OpenX11 must be called again once it is back. Where
// there is no X11 support the error wraps errors.ErrUnsupported.
func OpenX11(display string) (Backend, error) {
	if display == "" && os.Getenv("DISPLAY") == "" {
		return nil, errors.New("no X display is named: set $DISPLAY, or name one as in --display :0")
	}
	return openX11(display)
}
