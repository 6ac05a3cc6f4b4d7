package netpath

import (
	"os"
	"path/filepath"
)

// zeroTierDirs are the daemon's working folder and the one where its installer
// leaves a copy of the token for the user.
func zeroTierDirs() []string {
	dirs := []string{"/Library/Application Support/ZeroTier/One"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, dirs[0]), filepath.Join(home, "Library/Application Support/ZeroTier"))
	}
	return dirs
}
