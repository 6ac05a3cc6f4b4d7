package tailnet

import (
	"io"
	"net"
	"testing"
	"time"
)

// distant opens a port that leads to a server of TCP over a longer way: what is
// written on one end comes out at the other that much later. Nothing here knows
// how to delay packets in the kernel.
func distant(t *testing.T, server string, by time.Duration) (port int) {
	listener, err := net.Listen("tcp", net.JoinHostPort(controlAddr, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			go carry(far, near, by)
			go carry(near, far, by)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

// parcel is a piece of a connection under way.
type parcel struct {
	due  time.Time
	data []byte
}

// mostUnderWay is how many pieces may be under way at once: more than a stream
// writes in a second.
const mostUnderWay = 10_000

// carry brings what comes from one connection to another, later, until one of
// them ends; then both do.
func carry(to io.WriteCloser, from io.ReadCloser, by time.Duration) {
	parcels := make(chan parcel, mostUnderWay)
	go func() {
		defer close(parcels)
		for {
			b := make([]byte, 8<<10)
			n, err := from.Read(b)
			if n > 0 {
				parcels <- parcel{time.Now().Add(by), b[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	failed := false
	for p := range parcels {
		if failed {
			continue
		}
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			failed = true
			_ = from.Close()
		}
	}
	_ = to.Close()
}
