//go:build !windows

package timer

// fine has nothing to ask for.
func fine() error { return nil }

func coarse() error { return nil }
