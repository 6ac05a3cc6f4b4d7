//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the command into a process group of its own, so that a stop
// reaches the test binaries below go test as well.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
