//go:build !windows && !darwin

package netpath

// zeroTierDirs are the working folders that the daemon may have.
func zeroTierDirs() []string { return []string{"/var/lib/zerotier-one", "/var/db/zerotier-one"} }
