//go:build !linux

package desk

import "os/exec"

// Without process groups only the program itself is ended.
func setGroup(*exec.Cmd)      {}
func askGroup(cmd *exec.Cmd)  { _ = cmd.Process.Kill() }
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
