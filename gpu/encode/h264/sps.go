package h264

import (
	"errors"
	"fmt"
	"image"
)

// SPS is a sequence parameter set (H.264 7.3.2.1.1). The field names are
// those of the standard. Fields that the set does not carry are zero, or what
// the standard infers where that is not zero.
type SPS struct {
	RefIDC      uint8 // nal_ref_idc of the unit it came in
	ProfileIDC  uint32
	Constraints uint32 // constraint_set0_flag is 0x80
	LevelIDC    uint32
	ID          uint32

	ChromaFormatIDC         uint32 // 1 is 4:2:0
	SeparateColourPlane     bool
	BitDepthLumaMinus8      uint32
	BitDepthChromaMinus8    uint32
	TransformBypass         bool // qpprime_y_zero_transform_bypass_flag
	ScalingMatrixPresent    bool
	ScalingLists            [12]ScalingList
	Log2MaxFrameNumMinus4   uint32
	PicOrderCntType         uint32
	Log2MaxPOCLSBMinus4     uint32
	DeltaPicOrderAlwaysZero bool
	OffsetForNonRefPic      int32
	OffsetForTopToBottom    int32
	NumRefFramesInPOCCycle  uint32
	OffsetForRefFrame       []int32

	MaxNumRefFrames     uint32
	GapsInFrameNum      bool // gaps_in_frame_num_value_allowed_flag
	WidthInMBsMinus1    uint32
	HeightInMapsMinus1  uint32 // pic_height_in_map_units_minus1
	FrameMBsOnly        bool
	MBAdaptiveField     bool
	Direct8x8Inference  bool
	Cropping            bool
	CropLeft, CropRight uint32 // in crop units: 2 luma samples at 4:2:0
	CropTop, CropBottom uint32
	VUIPresent          bool
	VUI                 VUI
}

// ScalingList keeps a scaling list as it was coded: its deltas.
type ScalingList struct {
	Present bool
	Deltas  []int32
}

var (
	errNotSPS = errors.New("not a sequence parameter set")
	errRange  = errors.New("a value is out of its range")
)

// ParseSPS reads a NAL unit of type 7, without start code.
func ParseSPS(nal []byte) (SPS, error) {
	if TypeOf(nal) != TypeSPS {
		return SPS{}, fmt.Errorf("sps: unit of type %d: %w", TypeOf(nal), errNotSPS)
	}
	s := SPS{RefIDC: nal[0] >> 5 & 3, ChromaFormatIDC: 1}
	c := &parser{BitReader: NewBitReader(Unescape(nal[1:]))}
	s.walk(c)
	if err := c.Err(); err != nil {
		return SPS{}, fmt.Errorf("sps: %w", err)
	}
	if size := s.Size(); size.X < 1 || size.Y < 1 {
		return SPS{}, fmt.Errorf("sps: picture of %dx%d: %w", size.X, size.Y, errRange)
	}
	return s, nil
}

// NAL gives the set as a NAL unit, without start code.
func (s *SPS) NAL() []byte {
	c := &composer{}
	s.walk(c)
	return Escape([]byte{s.RefIDC<<5 | byte(TypeSPS)}, c.Finish())
}

// Size is the size of the picture that a decoder shows, after cropping.
func (s *SPS) Size() image.Point {
	unit := s.cropUnit()
	fields := 2
	if s.FrameMBsOnly {
		fields = 1
	}
	coded := image.Pt(16*int(s.WidthInMBsMinus1+1), 16*fields*int(s.HeightInMapsMinus1+1))
	return coded.Sub(image.Pt(
		unit.X*int(s.CropLeft+s.CropRight),
		unit.Y*int(s.CropTop+s.CropBottom)))
}

// cropUnit is CropUnitX and CropUnitY (H.264 7-19 to 7-22).
func (s *SPS) cropUnit() image.Point {
	unit := image.Pt(1, 1)
	if !s.SeparateColourPlane && (s.ChromaFormatIDC == 1 || s.ChromaFormatIDC == 2) {
		unit.X = 2
	}
	if !s.SeparateColourPlane && s.ChromaFormatIDC == 1 {
		unit.Y = 2
	}
	if !s.FrameMBsOnly {
		unit.Y *= 2
	}
	return unit
}

// hasChromaInfo lists the profiles whose sets carry chroma_format_idc.
func (s *SPS) hasChromaInfo() bool {
	switch s.ProfileIDC {
	case 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135:
		return true
	}
	return false
}
