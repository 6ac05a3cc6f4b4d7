package h264

import (
	"bytes"
	"fmt"
)

// bt709 is the code for BT.709 in tables E-3, E-4 and E-5.
const bt709 = 1

// RewriteSPS gives an SPS (a NAL unit without start code) that says what our
// streams are: no reordering, so that a decoder shows each picture at once; a
// picture buffer of the references and no more; BT.709 colors in the limited
// range; no fixed picture rate, because a picture comes when something changes;
// the constraint flags of the profile; and, if gaps, what AllowGaps does.
// Everything else stays. When nothing has to change the unit itself is returned.
//
// It is an error when the unit is no SPS, is damaged, or is of another
// profile.
func RewriteSPS(nal []byte, profile Profile, gaps bool) ([]byte, error) {
	s, err := ParseSPS(nal)
	if err != nil {
		return nil, err
	}
	if err := s.Constrain(profile); err != nil {
		return nil, err
	}
	if gaps {
		s.AllowGaps()
	}
	out := s.NAL()
	if bytes.Equal(out, nal) {
		return nal, nil
	}
	return out, nil
}

// Constrain sets what RewriteSPS promises, but for the gaps.
func (s *SPS) Constrain(profile Profile) error {
	idc, constraints := profile.header()
	if s.ProfileIDC != uint32(idc) {
		return fmt.Errorf("sps: profile_idc %d, want %d (%s)", s.ProfileIDC, idc, profile)
	}
	s.Constraints |= uint32(constraints)
	if !s.VUIPresent {
		s.VUI = VUI{}
		s.VUIPresent = true
	}
	s.VUI.colors()
	s.VUI.FixedFrameRate = false
	s.VUI.restrict(s.MaxNumRefFrames)
	return nil
}

func (v *VUI) colors() {
	if !v.SignalTypePresent {
		v.VideoFormat = 5
	}
	v.SignalTypePresent = true
	v.FullRange = false
	v.ColourDescription = true
	v.ColourPrimaries = bt709
	v.TransferCharacter = bt709
	v.MatrixCoefficients = bt709
}

// restrict ends reordering. Where the set said nothing before, the other
// limits are the widest that E.2.1 allows.
func (v *VUI) restrict(references uint32) {
	if !v.BitstreamRestricted {
		v.BitstreamRestricted = true
		v.MVsOverBoundaries = true
		v.MaxBytesPerPicDenom = 0
		v.MaxBitsPerMBDenom = 0
		v.Log2MaxMVHorizontal = 15
		v.Log2MaxMVVertical = 15
	}
	v.MaxNumReorder = 0
	v.MaxDecFrameBuffering = references
}
