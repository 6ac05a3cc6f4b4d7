//go:build !unix

package main

import "os/exec"

// ownGroup does nothing: without process groups only the command is stopped.
func ownGroup(*exec.Cmd) {}
