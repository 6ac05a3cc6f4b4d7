//go:build unix

package main

import "syscall"

// suspend stops processes where they are, and resume has them go on.
func suspend(pids []int) { send(pids, syscall.SIGSTOP) }

func resume(pids []int) { send(pids, syscall.SIGCONT) }

func send(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s)
	}
}
