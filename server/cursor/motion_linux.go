package cursor

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// motionConn is a small X client that learns from XInput 2 when the pointer
// moves. It has a connection of its own because xgb knows neither XInput nor
// the length of generic events, so that one of them would garble its stream.
type motionConn struct {
	conn  net.Conn
	in    *bufio.Reader
	root  uint32
	major byte // opcode of XInput

	mu sync.Mutex // guards writes
}

// Numbers of the X protocol and of XInput 2.2 (XI2proto.h's protocol text).
const (
	xSetupOK        = 1
	xError          = 0
	xReply          = 1
	xGenericEvent   = 35
	xMessageSize    = 32
	xQueryExtension = 98
	xiSelectEvents  = 46
	xiQueryVersion  = 47
	xiRawMotion     = 17
	xiAllMasters    = 1
	xiName          = "XInputExtension"
	// Version 2.1 tells of raw motion while another client has grabbed the
	// pointer too; 2.2 is what servers have had since 2012.
	xiMajor, xiMinor = 2, 2
	// maxExtra bounds what follows a message, in bytes; the set-up of a
	// server with many visuals takes some 20 KB.
	maxExtra = 1 << 20
	// dialTimeout bounds the whole set-up.
	dialTimeout = 3 * time.Second
)

// dialMotion connects to display and finds XInput 2.1 or newer there.
func dialMotion(display string, root uint32) (*motionConn, error) {
	if display == "" {
		display = os.Getenv("DISPLAY")
	}
	d, err := parseDisplay(display)
	if err != nil {
		return nil, err
	}
	conn, err := net.DialTimeout(d.network, d.address, dialTimeout)
	if err != nil {
		return nil, fmt.Errorf("connecting to display %q: %w", display, err)
	}
	m := &motionConn{conn: conn, in: bufio.NewReader(conn), root: root}
	_ = conn.SetDeadline(time.Now().Add(dialTimeout))
	if err := m.setUp(d.cookie()); err != nil {
		conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return m, nil
}

// setUp opens the protocol with a cookie (none when empty), little endian.
func (m *motionConn) setUp(cookie []byte) error {
	var name string
	if len(cookie) > 0 {
		name = cookieName
	}
	req := []byte{'l', 0, 11, 0, 0, 0, byte(len(name)), 0, byte(len(cookie)), 0, 0, 0}
	req = pad(append(req, name...))
	req = pad(append(req, cookie...))
	if _, err := m.conn.Write(req); err != nil {
		return fmt.Errorf("setting up XInput: %w", err)
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(m.in, head); err != nil {
		return fmt.Errorf("setting up XInput: %w", err)
	}
	if head[0] != xSetupOK {
		return errors.New("setting up XInput: the X server refused the connection")
	}
	if err := m.skip(int(binary.LittleEndian.Uint16(head[6:])) * 4); err != nil {
		return err
	}
	return m.findXInput()
}

func (m *motionConn) findXInput() error {
	req := []byte{xQueryExtension, 0, 0, 0, byte(len(xiName)), 0, 0, 0}
	reply, err := m.ask(pad(append(req, xiName...)))
	if err != nil {
		return err
	}
	if reply[8] == 0 {
		return errors.New("the X server lacks XInput")
	}
	m.major = reply[9]
	reply, err = m.ask([]byte{m.major, xiQueryVersion, 0, 0, xiMajor, 0, xiMinor, 0})
	if err != nil {
		return err
	}
	major, minor := binary.LittleEndian.Uint16(reply[8:]), binary.LittleEndian.Uint16(reply[10:])
	if major < 2 || major == 2 && minor < 1 {
		return fmt.Errorf("the X server has XInput %d.%d, 2.1 is needed", major, minor)
	}
	return nil
}

// ask sends a request and reads its reply.
func (m *motionConn) ask(req []byte) ([]byte, error) {
	if err := m.send(req); err != nil {
		return nil, err
	}
	for {
		msg, err := m.next()
		if err != nil || msg[0] == xReply {
			return msg, err
		}
	}
}

// send fills in the length of a request and sends it.
func (m *motionConn) send(req []byte) error {
	binary.LittleEndian.PutUint16(req[2:], uint16(len(req)/4))
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.conn.Write(req); err != nil {
		return fmt.Errorf("asking XInput: %w", err)
	}
	return nil
}

// next reads one message; what follows its 32 bytes is left out.
func (m *motionConn) next() ([]byte, error) {
	msg := make([]byte, xMessageSize)
	if _, err := io.ReadFull(m.in, msg); err != nil {
		return nil, fmt.Errorf("reading from XInput: %w", err)
	}
	switch msg[0] & 0x7f {
	case xError:
		return nil, fmt.Errorf("the X server refused a request of XInput: error %d", msg[1])
	case xReply, xGenericEvent:
		extra := binary.LittleEndian.Uint32(msg[4:])
		if extra > maxExtra/4 {
			return nil, fmt.Errorf("reading from XInput: %d words follow a message", extra)
		}
		return msg, m.skip(int(extra) * 4)
	}
	return msg, nil
}

func (m *motionConn) skip(sizeBytes int) error {
	if _, err := m.in.Discard(sizeBytes); err != nil {
		return fmt.Errorf("reading from XInput: %w", err)
	}
	return nil
}

// listen asks for raw motion of every pointer, or for nothing.
func (m *motionConn) listen(on bool) error {
	var mask uint32
	if on {
		mask = 1 << xiRawMotion
	}
	req := []byte{m.major, xiSelectEvents, 0, 0}
	req = binary.LittleEndian.AppendUint32(req, m.root)
	req = append(req, 1, 0, 0, 0) // one mask
	req = append(req, xiAllMasters, 0, 1, 0)
	return m.send(binary.LittleEndian.AppendUint32(req, mask))
}

// follow calls moved for each motion until the connection ends.
func (m *motionConn) follow(moved func()) error {
	for {
		msg, err := m.next()
		if err != nil {
			return err
		}
		if msg[0] == xGenericEvent && binary.LittleEndian.Uint16(msg[8:]) == xiRawMotion {
			moved()
		}
	}
}

func (m *motionConn) close() { _ = m.conn.Close() }

// pad fills b up to a multiple of four bytes.
func pad(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}
