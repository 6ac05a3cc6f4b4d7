package h264

// VUI is the video usability information of an SPS (H.264 E.1.1).
type VUI struct {
	AspectRatioPresent  bool
	AspectRatioIDC      uint32
	SARWidth, SARHeight uint32 // when AspectRatioIDC is 255

	OverscanPresent     bool
	OverscanAppropriate bool

	SignalTypePresent   bool
	VideoFormat         uint32 // 5 is unspecified
	FullRange           bool
	ColourDescription   bool
	ColourPrimaries     uint32 // 1 is BT.709
	TransferCharacter   uint32
	MatrixCoefficients  uint32
	ChromaLocPresent    bool
	ChromaLocTop        uint32
	ChromaLocBottom     uint32
	TimingPresent       bool
	NumUnitsInTick      uint32
	TimeScale           uint32
	FixedFrameRate      bool
	NALHRDPresent       bool
	NALHRD              HRD
	VCLHRDPresent       bool
	VCLHRD              HRD
	LowDelayHRD         bool
	PicStructPresent    bool
	BitstreamRestricted bool
	MVsOverBoundaries   bool
	MaxBytesPerPicDenom uint32
	MaxBitsPerMBDenom   uint32
	Log2MaxMVHorizontal uint32
	Log2MaxMVVertical   uint32
	// MaxNumReorder of 0 lets a decoder show each picture as soon as it is
	// decoded. MaxDecFrameBuffering is the size of its picture buffer.
	MaxNumReorder        uint32
	MaxDecFrameBuffering uint32
}

// HRD holds hypothetical reference decoder parameters (H.264 E.1.2).
type HRD struct {
	CountMinus1                uint32
	BitRateScale, CPBSizeScale uint32
	BitRateMinus1, SizeMinus1  [32]uint32
	CBR                        [32]bool
	InitialDelayLengthMinus1   uint32
	RemovalDelayLengthMinus1   uint32
	OutputDelayLengthMinus1    uint32
	TimeOffsetLength           uint32
}

// sarExtended is Extended_SAR of table E-1.
const sarExtended = 255

// noLimit is the largest value that one ue(v) carries.
const noLimit = 1<<32 - 2

func (v *VUI) walk(c coder) {
	v.walkDisplay(c)
	v.walkTiming(c)
	c.flag(&v.PicStructPresent)
	c.flag(&v.BitstreamRestricted)
	if v.BitstreamRestricted {
		c.flag(&v.MVsOverBoundaries)
		c.ue(&v.MaxBytesPerPicDenom, 16)
		c.ue(&v.MaxBitsPerMBDenom, 16)
		c.ue(&v.Log2MaxMVHorizontal, 16)
		c.ue(&v.Log2MaxMVVertical, 16)
		c.ue(&v.MaxNumReorder, 16)
		c.ue(&v.MaxDecFrameBuffering, 16)
	}
}

func (v *VUI) walkDisplay(c coder) {
	c.flag(&v.AspectRatioPresent)
	if v.AspectRatioPresent {
		c.bits(8, &v.AspectRatioIDC)
		if v.AspectRatioIDC == sarExtended {
			c.bits(16, &v.SARWidth)
			c.bits(16, &v.SARHeight)
		}
	}
	c.flag(&v.OverscanPresent)
	if v.OverscanPresent {
		c.flag(&v.OverscanAppropriate)
	}
	c.flag(&v.SignalTypePresent)
	if v.SignalTypePresent {
		v.walkSignal(c)
	}
	c.flag(&v.ChromaLocPresent)
	if v.ChromaLocPresent {
		c.ue(&v.ChromaLocTop, 5)
		c.ue(&v.ChromaLocBottom, 5)
	}
}

func (v *VUI) walkSignal(c coder) {
	c.bits(3, &v.VideoFormat)
	c.flag(&v.FullRange)
	c.flag(&v.ColourDescription)
	if v.ColourDescription {
		c.bits(8, &v.ColourPrimaries)
		c.bits(8, &v.TransferCharacter)
		c.bits(8, &v.MatrixCoefficients)
	}
}

func (v *VUI) walkTiming(c coder) {
	c.flag(&v.TimingPresent)
	if v.TimingPresent {
		c.bits(32, &v.NumUnitsInTick)
		c.bits(32, &v.TimeScale)
		c.flag(&v.FixedFrameRate)
	}
	c.flag(&v.NALHRDPresent)
	if v.NALHRDPresent {
		v.NALHRD.walk(c)
	}
	c.flag(&v.VCLHRDPresent)
	if v.VCLHRDPresent {
		v.VCLHRD.walk(c)
	}
	if v.NALHRDPresent || v.VCLHRDPresent {
		c.flag(&v.LowDelayHRD)
	}
}

func (h *HRD) walk(c coder) {
	c.ue(&h.CountMinus1, 31)
	c.bits(4, &h.BitRateScale)
	c.bits(4, &h.CPBSizeScale)
	for i := range int(h.CountMinus1) + 1 {
		c.ue(&h.BitRateMinus1[i], noLimit)
		c.ue(&h.SizeMinus1[i], noLimit)
		c.flag(&h.CBR[i])
	}
	c.bits(5, &h.InitialDelayLengthMinus1)
	c.bits(5, &h.RemovalDelayLengthMinus1)
	c.bits(5, &h.OutputDelayLengthMinus1)
	c.bits(5, &h.TimeOffsetLength)
}
