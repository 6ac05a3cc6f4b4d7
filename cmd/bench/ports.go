package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"nearglass/server/e2e/desk"
)

// freePort is a TCP port of this machine that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// awaitPort waits until a program listens on a port.
func awaitPort(ctx context.Context, p *desk.Process, port int) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	return desk.Poll(ctx, fmt.Sprintf("port %d", port), func() (bool, error) {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err != nil {
			return false, p.Err()
		}
		return true, c.Close()
	})
}
