package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// setWallClock sets the wall clock of one process forward, or back, by whole
// seconds. Programs ask the kernel's vDSO for the time, which lies in their own
// memory: its function is replaced by one that makes the system call and adds to
// what that says of CLOCK_REALTIME. The machine's clock stays as it is.
func setWallClock(pid int, by time.Duration) error {
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	at, err := clockFunction(pid, memory)
	if err != nil {
		return err
	}
	suspend([]int{pid})
	defer resume([]int{pid})
	_, err = memory.WriteAt(clockCode(int32(by/time.Second)), at)
	return err
}

// clockCode is the machine code of clock_gettime with so many seconds more.
func clockCode(seconds int32) []byte {
	code := []byte{
		0xb8, 0xe4, 0, 0, 0, // mov $228, %eax: the system call clock_gettime
		0x0f, 0x05, // syscall
		0x85, 0xff, // test %edi, %edi: CLOCK_REALTIME is 0
		0x75, 0x07, // jne to the end
		0x48, 0x81, 0x06, // addq to (%rsi), the seconds
	}
	return append(binary.LittleEndian.AppendUint32(code, uint32(seconds)), 0xc3)
}

// clockFunction finds the function in a process.
func clockFunction(pid int, memory *os.File) (int64, error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		var from, to int64
		if _, err := fmt.Sscanf(line, "%x-%x ", &from, &to); err != nil {
			return 0, err
		}
		image := make([]byte, to-from)
		if _, err := memory.ReadAt(image, from); err != nil {
			return 0, err
		}
		offset, err := symbolIn(image, "__vdso_clock_gettime")
		return from + offset, err
	}
	return 0, errors.New("the process has no vDSO")
}

// symbolIn finds where a function begins in an image of a shared object.
func symbolIn(image []byte, name string) (int64, error) {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, err
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("the vDSO has no %s", name)
	}
	return int64(symbols[i].Value), nil
}
