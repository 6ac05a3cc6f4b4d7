package h264

// coder is one direction of the syntax walk. The walk names each element
// once, in order; a parser fills it and a composer writes it, so that the two
// directions cannot disagree.
type coder interface {
	bits(n int, v *uint32)
	flag(v *bool)
	ue(v *uint32, most uint32) // out of 0..most is an error when reading
	se(v *int32)
}

type parser struct{ *BitReader }

func (p *parser) bits(n int, v *uint32) { *v = p.Bits(n) }
func (p *parser) flag(v *bool)          { *v = p.Bit() == 1 }
func (p *parser) se(v *int32)           { *v = p.SE() }

func (p *parser) ue(v *uint32, most uint32) {
	*v = p.UE()
	if *v > most {
		p.fail(errRange)
		*v = 0
	}
}

type composer struct{ BitWriter }

func (c *composer) bits(n int, v *uint32)  { c.Bits(n, *v) }
func (c *composer) ue(v *uint32, _ uint32) { c.UE(*v) }
func (c *composer) se(v *int32)            { c.SE(*v) }

func (c *composer) flag(v *bool) {
	b := uint32(0)
	if *v {
		b = 1
	}
	c.Bit(b)
}

// maxSideMBs keeps the picture size inside an int: level 6.2 allows 1055.
const maxSideMBs = 4095

func (s *SPS) walk(c coder) {
	c.bits(8, &s.ProfileIDC)
	c.bits(8, &s.Constraints)
	c.bits(8, &s.LevelIDC)
	c.ue(&s.ID, 31)
	if s.hasChromaInfo() {
		s.walkChroma(c)
	}
	c.ue(&s.Log2MaxFrameNumMinus4, 12)
	s.walkOrder(c)
	c.ue(&s.MaxNumRefFrames, 16)
	c.flag(&s.GapsInFrameNum)
	c.ue(&s.WidthInMBsMinus1, maxSideMBs)
	c.ue(&s.HeightInMapsMinus1, maxSideMBs)
	c.flag(&s.FrameMBsOnly)
	if !s.FrameMBsOnly {
		c.flag(&s.MBAdaptiveField)
	}
	c.flag(&s.Direct8x8Inference)
	c.flag(&s.Cropping)
	if s.Cropping {
		const most = maxSideMBs * 16
		c.ue(&s.CropLeft, most)
		c.ue(&s.CropRight, most)
		c.ue(&s.CropTop, most)
		c.ue(&s.CropBottom, most)
	}
	c.flag(&s.VUIPresent)
	if s.VUIPresent {
		s.VUI.walk(c)
	}
}

func (s *SPS) walkChroma(c coder) {
	c.ue(&s.ChromaFormatIDC, 3)
	if s.ChromaFormatIDC == 3 {
		c.flag(&s.SeparateColourPlane)
	}
	c.ue(&s.BitDepthLumaMinus8, 6)
	c.ue(&s.BitDepthChromaMinus8, 6)
	c.flag(&s.TransformBypass)
	c.flag(&s.ScalingMatrixPresent)
	if !s.ScalingMatrixPresent {
		return
	}
	lists := 8
	if s.ChromaFormatIDC == 3 {
		lists = 12
	}
	for i := range lists {
		entries := 16
		if i >= 6 {
			entries = 64
		}
		s.ScalingLists[i].walk(c, entries)
	}
}

// walk follows scaling_list (7.3.2.1.1.1): deltas until the next scale is 0.
func (l *ScalingList) walk(c coder, entries int) {
	c.flag(&l.Present)
	if !l.Present {
		return
	}
	scale := int32(8)
	for i := range entries {
		if i == len(l.Deltas) {
			l.Deltas = append(l.Deltas, 0)
		}
		c.se(&l.Deltas[i])
		scale = (scale + l.Deltas[i]%256 + 256) % 256
		if scale == 0 {
			return
		}
	}
}

func (s *SPS) walkOrder(c coder) {
	c.ue(&s.PicOrderCntType, 2)
	switch s.PicOrderCntType {
	case 0:
		c.ue(&s.Log2MaxPOCLSBMinus4, 12)
	case 1:
		c.flag(&s.DeltaPicOrderAlwaysZero)
		c.se(&s.OffsetForNonRefPic)
		c.se(&s.OffsetForTopToBottom)
		c.ue(&s.NumRefFramesInPOCCycle, 255)
		for i := range int(s.NumRefFramesInPOCCycle) {
			if i == len(s.OffsetForRefFrame) {
				s.OffsetForRefFrame = append(s.OffsetForRefFrame, 0)
			}
			c.se(&s.OffsetForRefFrame[i])
		}
	}
}
