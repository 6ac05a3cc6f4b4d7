package cursor

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// display is where an X server listens.
type display struct {
	network, address string // for net.Dial
	host             string // "" for this machine
	number           string
}

// parseDisplay reads a display name: [protocol/][host]:number[.screen], or the
// path of a socket followed by :number (X(7), "Display names").
func parseDisplay(name string) (display, error) {
	colon := strings.LastIndex(name, ":")
	if colon < 0 {
		return display{}, fmt.Errorf("display name %q has no colon", name)
	}
	where := name[:colon]
	number, _, _ := strings.Cut(name[colon+1:], ".")
	n, err := strconv.ParseUint(number, 10, 15)
	if err != nil {
		return display{}, fmt.Errorf("display name %q has no number", name)
	}
	if strings.HasPrefix(where, "/") {
		return display{network: "unix", address: where + ":" + number, number: number}, nil
	}
	protocol, host, found := strings.Cut(where, "/")
	if !found {
		protocol, host = "tcp", where
	}
	if host == "" || host == "unix" || protocol == "unix" {
		return display{network: "unix", address: "/tmp/.X11-unix/X" + number, number: number}, nil
	}
	const firstPort = 6000
	return display{network: protocol, address: net.JoinHostPort(host, strconv.Itoa(firstPort+int(n))), host: host, number: number}, nil
}

// cookieName is the one way to prove oneself to an X server that is in common
// use.
const cookieName = "MIT-MAGIC-COOKIE-1"

// cookie finds the display's cookie in the user's authority file; nil when
// there is none, which many servers accept from the local user.
func (d display) cookie() []byte {
	path := os.Getenv("XAUTHORITY")
	if path == "" {
		path = filepath.Join(os.Getenv("HOME"), ".Xauthority")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	host := d.host
	if host == "" || host == "localhost" {
		host, _ = os.Hostname()
	}
	return findCookie(bufio.NewReader(f), host, d.number)
}

// Address families of authority files that name hosts by their names.
const (
	familyLocal = 256
	familyWild  = 65535
)

// findCookie reads entries of an authority file (Xau(3)) until one fits.
func findCookie(r io.Reader, host, number string) []byte {
	for {
		var family uint16
		if binary.Read(r, binary.BigEndian, &family) != nil {
			return nil
		}
		var fields [4][]byte // address, display number, name, data
		for i := range fields {
			var err error
			if fields[i], err = readField(r); err != nil {
				return nil
			}
		}
		fits := family == familyWild || family == familyLocal && string(fields[0]) == host
		if fits && (len(fields[1]) == 0 || string(fields[1]) == number) && string(fields[2]) == cookieName {
			return fields[3]
		}
	}
}

// readField reads a length of 16 bits and as many bytes.
func readField(r io.Reader) ([]byte, error) {
	var size uint16
	if err := binary.Read(r, binary.BigEndian, &size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	_, err := io.ReadFull(r, b)
	return b, err
}
