package h264

import (
	"fmt"
	"strconv"
	"strings"
)

// Profile is one of the two H.264 profiles that nearglass encodes. The zero
// value is ConstrainedBaseline, which every WebRTC receiver decodes.
type Profile uint8

const (
	// ConstrainedBaseline is profile_idc 66 with constraint_set1_flag
	// (H.264 A.2.1.1): CAVLC, no B pictures, no 8x8 transform.
	ConstrainedBaseline Profile = iota
	// High is profile_idc 100: CABAC and the 8x8 transform.
	High
)

const (
	profileBaseline = 66
	profileMain     = 77
	profileHigh     = 100

	// constraintSet0 and constraintSet1 stand in the byte after profile_idc,
	// most significant bit first (H.264 7.3.2.1.1).
	constraintSet0 = 0x80
	constraintSet1 = 0x40
	constraintSet4 = 0x08
	constraintSet5 = 0x04
)

// String gives the name used in logs and in the viewer's figures.
func (p Profile) String() string {
	switch p {
	case ConstrainedBaseline:
		return "constrained baseline"
	case High:
		return "high"
	}
	return "profile " + strconv.Itoa(int(p))
}

// header is profile_idc and the constraint flags as they stand in an SPS.
// For High, constraint_set4 and 5 say "progressive, no B pictures"
// (constrained high, H.264 A.2.4.2).
func (p Profile) header() (idc, constraints uint8) {
	if p == High {
		return profileHigh, constraintSet4 | constraintSet5
	}
	return profileBaseline, constraintSet0 | constraintSet1
}

// LevelID is the profile-level-id of an SDP fmtp line (RFC 6184 8.1): six
// lower-case hex digits. level is level_idc, ten times the level: 31 is 3.1.
func (p Profile) LevelID(level uint8) string {
	idc, constraints := p.header()
	if p == ConstrainedBaseline {
		// "42e0xx", also claiming the extended profile, is the form
		// that every browser writes and compares with.
		constraints |= 0x20
	}
	return fmt.Sprintf("%02x%02x%02x", idc, constraints, level)
}

// ParseLevelID reads a profile-level-id (six hex digits). Baseline without
// constraint_set1 is taken as ConstrainedBaseline too: a receiver of the
// larger profile decodes the smaller. Main and unknown profiles are errors.
func ParseLevelID(id string) (Profile, uint8, error) {
	value, err := strconv.ParseUint(strings.TrimSpace(id), 16, 24)
	if err != nil || len(strings.TrimSpace(id)) != 6 {
		return 0, 0, fmt.Errorf("profile-level-id %q is not six hex digits", id)
	}
	level := uint8(value)
	switch value >> 16 {
	case profileBaseline:
		return ConstrainedBaseline, level, nil
	case profileMain:
		if value>>8&constraintSet0 != 0 {
			return ConstrainedBaseline, level, nil
		}
	case profileHigh:
		return High, level, nil
	}
	return 0, 0, fmt.Errorf("profile-level-id %q names a profile that is not encoded here", id)
}
