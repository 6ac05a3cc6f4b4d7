//go:build !linux

package main

import (
	"errors"
	"fmt"
	"time"
)

var errLinux = fmt.Errorf("the benches need Linux with Xvfb: %w", errors.ErrUnsupported)

func mapFile(string) ([]byte, error) { return nil, errLinux }

func unmap([]byte) {}

func sharedMemory(int, func(uint32) error) ([]byte, error) { return nil, errLinux }

func nap(d time.Duration) { time.Sleep(d) }

func ownCPU() time.Duration { return 0 }
