package transport

import (
	"errors"
	"net/netip"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSegmentRuns(t *testing.T) {
	a, b := netip.MustParseAddrPort("192.0.2.1:5"), netip.MustParseAddrPort("192.0.2.2:5")
	lay := func(to netip.AddrPort, start int, sizes ...int) []waiting {
		var list []waiting
		for _, size := range sizes {
			list = append(list, waiting{to, start, start + size})
			start += size
		}
		return list
	}
	equal := func(count, size int) []int { return slices.Repeat([]int{size}, count) }
	for _, c := range []struct {
		name    string
		packets []waiting
		want    int
	}{
		{"one", lay(a, 0, 1200), 1},
		{"equal", lay(a, 0, 1200, 1200, 1200), 3},
		{"a shorter one ends it", lay(a, 0, 1200, 1200, 700, 700), 3},
		{"a longer one begins another", lay(a, 0, 1184, 1184, 1196), 2},
		{"the first of a picture is longer", lay(a, 0, 1196, 1184, 1184), 2},
		{"another address", append(lay(a, 0, 1200, 1200), lay(b, 2400, 1200)...), 2},
		{"as many as the kernel takes", lay(a, 0, equal(100, 500)...), maxSegments},
		{"as many bytes as a datagram has", lay(a, 7, equal(64, 1200)...), 54},
	} {
		if got := segmentRun(c.packets); got != c.want {
			t.Errorf("%s: a run of %d, want %d", c.name, got, c.want)
		}
	}
}

// fault is the sendmmsg of a system in trouble.
type fault struct {
	// answer gives the error of the message that a call begins with, as the
	// number of the call and whether it is to be cut say it.
	answer func(call int, cut bool) syscall.Errno
	most   int // messages a call takes
	calls  int
}

func (f *fault) sendmmsg(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno) {
	f.calls++
	if errno := f.answer(f.calls, messages[0].Hdr.Controllen > 0); errno != 0 {
		return 0, errno
	}
	for i := range messages { // as in the kernel: an error after the first ends the call
		if i > 0 && (i == f.most || f.answer(f.calls, messages[i].Hdr.Controllen > 0) != 0) {
			return i, 0
		}
		if _, errno := sendmmsg(fd, messages[i:i+1]); errno != 0 {
			return i, errno
		}
	}
	return len(messages), 0
}

func TestErrorsOfTheKernel(t *testing.T) {
	if bestSendMode() != sendSegments {
		t.Skip("this kernel has no UDP_SEGMENT")
	}
	always := func(errno syscall.Errno) func(int, bool) syscall.Errno {
		return func(_ int, cut bool) syscall.Errno {
			if cut {
				return errno
			}
			return 0
		}
	}
	once := func(call int, errno syscall.Errno) func(int, bool) syscall.Errno {
		return func(n int, _ bool) syscall.Errno {
			if n == call {
				return errno
			}
			return 0
		}
	}
	// The packets: 0 to 9 and 20 to 29 of one size, 10 to 19 each longer than
	// the one before, and so messages of their own.
	for _, c := range []struct {
		name  string
		fault fault
		lost  int // from the first on
		plain bool
	}{
		{"no checksum offload", fault{answer: always(unix.EIO), most: 64}, 0, true},
		{"segments above the MTU", fault{answer: always(unix.EINVAL), most: 64}, 0, true},
		{"interrupted", fault{answer: once(1, unix.EINTR), most: 64}, 0, false},
		{"few at a time", fault{answer: once(0, 0), most: 2}, 0, false},
		{"no memory for one message", fault{answer: once(1, unix.ENOBUFS), most: 64}, 10, false},
		{"no route", fault{answer: once(1, unix.ENETUNREACH), most: 64}, 10, false},
		{"the buffer is full", fault{answer: once(1, unix.EAGAIN), most: 64}, 30, false},
		{"no trouble", fault{answer: once(0, 0), most: 0}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := newTestSocket(t, "udp4", sendSegments), newReceiver(t, "udp4")
			b := newTestBatch()
			b.sender.sendmmsg = c.fault.sendmmsg
			sizes := map[int]int{}
			for i := range 30 {
				sizes[i] = 100
				if i >= 10 && i < 20 {
					sizes[i] = 100 + i
				}
				b.add(s, packet(i, sizes[i]), r.addr)
			}
			err := b.flush()
			if (err != nil) != (c.lost > 0) {
				t.Errorf("flush: %v", err)
			}
			r.wants(sizes, numbers(c.lost, 30)...)
			if got := slices.Contains(b.sender.plain, r.addr); got != c.plain {
				t.Errorf("sends single packets from now on: %v, want %v", got, c.plain)
			}
		})
	}
}

// TestAddressesWithoutSegments forgets the oldest of many.
func TestAddressesWithoutSegments(t *testing.T) {
	var s sender
	for port := range uint16(plainRemembered + 1) {
		s.avoidSegments(netip.AddrPortFrom(netip.IPv4Unspecified(), port))
	}
	if len(s.plain) != plainRemembered || s.plain[0].Port() != 1 {
		t.Errorf("remembered %v", s.plain)
	}
}

func TestProbeTellsTheTruth(t *testing.T) {
	if err := sendsInMode(sendEach); err != nil {
		t.Fatal(err)
	}
	if mode := bestSendMode(); mode < sendMany {
		t.Errorf("mode %v: every kernel since 3.0 has sendmmsg", mode)
	}
}

// TestBufferSizes asks for little and for more than any kernel allows.
func TestBufferSizes(t *testing.T) {
	conn := newReceiver(t, "udp4").conn
	check(t, errors.Join(conn.SetWriteBuffer(8192), conn.SetReadBuffer(16384)))
	send, receive, err := bufferSizes(conn)
	if err != nil || send != 8192 || receive != 16384 {
		t.Errorf("send %d, receive %d, %v", send, receive, err)
	}
}

// TestBatchAllocatesNothing holds the whole way from pion's writer into the
// kernel to no allocation.
func TestBatchAllocatesNothing(t *testing.T) {
	for _, mode := range modes() {
		s, r := newTestSocket(t, "udp4", mode), newReceiver(t, "udp4")
		b := newTestBatch()
		p := packet(1, 1200)
		if n := testing.AllocsPerRun(100, func() {
			for range batchPackets + 5 {
				b.add(s, p, r.addr)
			}
			check(t, b.flush())
		}); n != 0 {
			t.Errorf("%v: %v allocations for each 69 packets", mode, n)
		}
	}
}
