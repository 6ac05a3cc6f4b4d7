package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// prefix begins the names of our namespaces; the process's ID follows.
const prefix = "ngwire-"

// namespaces is where ip keeps them.
const namespaces = "/run/netns"

func namespaceNames() (near, far string) {
	id := prefix + strconv.Itoa(os.Getpid())
	return id + "-near", id + "-far"
}

// removeStale removes namespaces whose process is gone.
func removeStale(ctx context.Context) {
	found, _ := filepath.Glob(filepath.Join(namespaces, prefix+"*"))
	for _, path := range found {
		name := filepath.Base(path)
		id, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
		pid, err := strconv.Atoi(id)
		if err == nil && (pid == os.Getpid() || errors.Is(unix.Kill(pid, 0), unix.ESRCH)) {
			_ = ip(ctx, "netns", "del", name)
		}
	}
}

// ip runs the program of that name.
func ip(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// open makes the namespace with its device, and gives the device's descriptor,
// from which packets are read without waiting.
func (e End) open(ctx context.Context) (int, error) {
	if err := ip(ctx, "netns", "add", e.Name); err != nil {
		return -1, err
	}
	fd := -1
	err := e.Do(func() error {
		// Without IPv6 nothing but the programs measured sends anything.
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0)
		var err error
		fd, err = openDevice("eth0")
		return err
	})
	if err != nil {
		return -1, err
	}
	for _, line := range []string{
		"link set lo up",
		fmt.Sprintf("addr add %s/30 dev eth0", e.Addr),
		fmt.Sprintf("link set eth0 mtu %d txqueuelen 1000 up", mtu),
		"route add default dev eth0",
	} {
		if err := ip(ctx, append([]string{"-n", e.Name}, strings.Fields(line)...)...); err != nil {
			_ = unix.Close(fd)
			return -1, err
		}
	}
	return fd, nil
}

// remove removes the namespace if it is there.
func (e End) remove(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(namespaces, e.Name)); err != nil {
		return nil
	}
	return ip(ctx, "netns", "del", e.Name)
}

// openDevice makes a TUN device in the thread's namespace. It goes away with
// its descriptor.
func openDevice(name string) (int, error) {
	const path = "/dev/net/tun"
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("make a TUN device: %w", err)
	}
	return fd, nil
}

// Do runs f in a thread inside the namespace. Sockets that f makes stay in the
// namespace wherever they are used later.
func (e End) Do(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		done <- func() error {
			ns, err := os.Open(filepath.Join(namespaces, e.Name))
			if err != nil {
				return err
			}
			defer ns.Close()
			if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("enter the namespace %s: %w", e.Name, err)
			}
			return f()
		}()
	}()
	return <-done
}

// UseCubic makes a TCP socket of this descriptor use the kernel's CUBIC,
// whatever the machine's default is.
func UseCubic(fd uintptr) error {
	return unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
}

// hurry binds the calling goroutine to a thread that runs before all others of
// the machine, because a link does not wait for a processor. Without the right
// to do so it has to take its turn; Packet.Late shows it.
func hurry() {
	runtime.LockOSThread()
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: 10}, 0)
}
