package netpath

import (
	"os"
	"path/filepath"
)

// zeroTierDirs are the daemon's working folder and the one where its installer
// leaves a copy of the token for the user.
func zeroTierDirs() []string {
	var dirs []string
	for _, root := range []string{"ProgramData", "LOCALAPPDATA"} {
		if dir := os.Getenv(root); dir != "" {
			dirs = append(dirs, filepath.Join(dir, "ZeroTier", "One"))
		}
	}
	return dirs
}
