//go:build !windows && !darwin

package server

import (
	"os"
	"path/filepath"
)

func defaultStateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "nearglass"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "nearglass"), err
}
