package input

import (
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"nearglass/gpu/xconn"
)

// Requests and sizes of the X Keyboard Extension, version 1.0 of its protocol.
// xgb has no package for it.
const (
	xkbName         = "XKEYBOARD"
	xkbUseExtension = 0
	xkbGetControls  = 6
	xkbCoreKeyboard = 0x100 // UseCoreKbd
	xkbRequestSize  = 8     // of both requests, in bytes
)

// keyboardGroups asks the server how many groups (layouts that a user can
// switch between) its keyboard has; 1 where it lacks XKB. It asks on a
// connection of its own: to one that has used XKB the server no longer sends
// MappingNotify.
func keyboardGroups(display string) int {
	conn, _, err := xconn.Open(display)
	if err != nil {
		return 1
	}
	defer conn.Close()
	ext, err := xproto.QueryExtension(conn, uint16(len(xkbName)), xkbName).Reply()
	if err != nil || !ext.Present {
		return 1
	}
	// Version 1.0 in two numbers of 16 bits.
	if _, err := xkbRequest(conn, ext.MajorOpcode, xkbUseExtension, 1); err != nil {
		return 1
	}
	const groupsAt = 9
	reply, err := xkbRequest(conn, ext.MajorOpcode, xkbGetControls, xkbCoreKeyboard)
	if err != nil || len(reply) <= groupsAt {
		return 1
	}
	return max(1, int(reply[groupsAt]))
}

// xkbRequest sends a request of one 32 bit argument and waits for its reply.
func xkbRequest(conn *xgb.Conn, major, minor byte, argument uint32) ([]byte, error) {
	buf := make([]byte, xkbRequestSize)
	buf[0], buf[1] = major, minor
	xgb.Put16(buf[2:], xkbRequestSize/4)
	xgb.Put32(buf[4:], argument)
	cookie := conn.NewCookie(true, true)
	conn.NewRequest(buf, cookie)
	return cookie.Reply()
}
