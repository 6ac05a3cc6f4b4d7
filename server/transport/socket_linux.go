package transport

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// bufferSizes reads what the kernel granted. It keeps twice what it was asked
// for, the second half for its own records (socket(7)).
func bufferSizes(conn *net.UDPConn) (send, receive int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var errs [2]error
	err = raw.Control(func(fd uintptr) {
		send, errs[0] = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
		receive, errs[1] = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	})
	return send / 2, receive / 2, errors.Join(err, errs[0], errs[1])
}
