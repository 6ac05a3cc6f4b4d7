package timer

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// clock is a timerfd (timerfd_create(2)): the runtime's poller waits for it among
// the sockets, and the kernel ends that wait when it expires, by its
// high-resolution timers.
type clock struct {
	file *os.File
	fd   int // of file
}

func openClock() (clock, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return clock{}, fmt.Errorf("open a timer of the kernel: %w", err)
	}
	return clock{file: os.NewFile(uintptr(fd), "timerfd"), fd: fd}, nil
}

// set arms the clock to expire once after d; 0 disarms it.
func (c clock) set(d time.Duration) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(c.fd, 0, &spec, nil); err != nil {
		return fmt.Errorf("set a timer of the kernel: %w", err)
	}
	return nil
}

// wait returns when the clock has expired, or with an error once it is closed.
func (c clock) wait() error {
	var expirations [8]byte
	_, err := c.file.Read(expirations[:])
	return err
}

func (c clock) close() error { return c.file.Close() }
