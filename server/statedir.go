package server

// DefaultStateDir is where a host keeps its paired devices when it is told
// nothing else: nearglass in $XDG_STATE_HOME or ~/.local/state, and in the
// user's own configuration folder on Windows and macOS.
func DefaultStateDir() (string, error) { return defaultStateDir() }
