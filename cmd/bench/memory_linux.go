package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// mapFile maps a file that another process writes, to be read.
func mapFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return data, nil
}

// unmap ends mapFile.
func unmap(data []byte) { _ = unix.Munmap(data) }

// sharedMemory makes memory that an X server of this machine can attach by id.
// Once attach has returned it is marked for removal, so that nothing of it is
// left however the bench ends.
func sharedMemory(sizeBytes int, attach func(id uint32) error) ([]byte, error) {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, sizeBytes, unix.IPC_CREAT|0o600)
	if err != nil {
		return nil, fmt.Errorf("make shared memory: %w", err)
	}
	defer func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) }()
	pix, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("attach shared memory: %w", err)
	}
	return pix, attach(uint32(id))
}

// nap sleeps without Go's timers, which round to a millisecond.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil)
}

// ownCPU is the CPU time that this process has used, all threads.
func ownCPU() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}
