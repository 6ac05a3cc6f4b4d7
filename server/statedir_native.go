//go:build windows || darwin

package server

import (
	"os"
	"path/filepath"
)

func defaultStateDir() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "nearglass"), err
}
