package netpath

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// tailscaleSocket is the named pipe at which Tailscale listens on Windows.
const tailscaleSocket = `\\.\pipe\ProtectedPrefix\Administrators\Tailscale\tailscaled`

func tailscaleWayOf(socket string) tailscaleWay {
	if socket == "" {
		socket = tailscaleSocket
	}
	return tailscaleWay{func(ctx context.Context) (net.Conn, error) { return dialPipe(ctx, socket) }, noSecret}
}

// pipeFlags open a pipe for overlapped input and output, so that deadlines work,
// and let the server learn who asks without acting for them.
const pipeFlags = windows.FILE_FLAG_OVERLAPPED | windows.SECURITY_SQOS_PRESENT | windows.SECURITY_IDENTIFICATION

// pipeBusyWait is how long to wait while every instance of the pipe is taken.
const pipeBusyWait = 10 * time.Millisecond

func dialPipe(ctx context.Context, name string) (net.Conn, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|pipeFlags, 0)
		if err == nil {
			return pipe{f}, nil
		}
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pipeBusyWait):
		}
	}
}

// pipe is a named pipe as a connection.
type pipe struct{ *os.File }

// LocalAddr is the pipe's name.
func (p pipe) LocalAddr() net.Addr { return pipeAddr(p.Name()) }

// RemoteAddr is the pipe's name.
func (p pipe) RemoteAddr() net.Addr { return pipeAddr(p.Name()) }

type pipeAddr string

// Network is the kind of address.
func (pipeAddr) Network() string { return "pipe" }

// String is the pipe's name.
func (a pipeAddr) String() string { return string(a) }
