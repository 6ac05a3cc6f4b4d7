package h264

import (
	"errors"
	"reflect"
	"testing"
)

type parameterSets struct {
	sps SPS
	pps PPS
}

// sets each give a header other fields.
func sets() []parameterSets {
	base := SPS{ProfileIDC: 66, ChromaFormatIDC: 1, PicOrderCntType: 2, FrameMBsOnly: true, WidthInMBsMinus1: 19, HeightInMapsMinus1: 11}
	order0, order1 := base, base
	order0.PicOrderCntType, order0.Log2MaxPOCLSBMinus4, order0.Log2MaxFrameNumMinus4 = 0, 3, 12
	order1.PicOrderCntType = 1
	return []parameterSets{
		{base, PPS{DeblockingControlPresent: true}},
		{order0, PPS{CABAC: true, BottomFieldPicOrder: true, RedundantPicCntPresent: true}},
		{order1, PPS{CABAC: true, BottomFieldPicOrder: true, DeblockingControlPresent: true, NumRefIdxL0DefaultMinus1: 2}},
	}
}

// nal is the header as a slice without data.
func (h *SliceHeader) nal(sps *SPS, pps *PPS) []byte {
	c := &composer{}
	h.walk(c, sps, pps)
	return Escape([]byte{h.RefIDC<<5 | byte(h.Unit)}, c.Finish())
}

func TestSliceHeaderRoundTrip(t *testing.T) {
	long := make([]ListModification, maxRefs+1)
	long[maxRefs].IDC = endOfModifications
	for i, s := range sets() {
		sps, pps := s.sps, s.pps
		for j, want := range []SliceHeader{
			{RefIDC: 3, Unit: TypeIDR, Type: 7, IDRPicID: 1, QPDelta: -3, LongTermReference: true},
			{RefIDC: 2, Unit: TypeSlice, FirstMB: 40, FrameNum: 9, QPDelta: 25, NumRefIdxOverride: true, NumRefIdxL0ActiveMinus1: 3},
			{Unit: TypeSlice, Type: 5, ListModified: true, Modifications: long},
			{RefIDC: 1, Unit: TypeSlice, ListModified: true, Modifications: []ListModification{{0, 4}, {1, 0}, {2, 77}, {IDC: endOfModifications}},
				AdaptiveMarking: true, Markings: []Marking{{1, [2]uint32{7}}, {2, [2]uint32{1}}, {3, [2]uint32{0, 5}}, {4, [2]uint32{2}}, {6, [2]uint32{1}}, {Op: 5}, {}}},
		} {
			if !want.NumRefIdxOverride {
				want.NumRefIdxL0ActiveMinus1 = pps.NumRefIdxL0DefaultMinus1
			}
			if pps.CABAC && want.Type%5 == SliceP {
				want.CABACInitIDC = 2
			}
			if pps.DeblockingControlPresent {
				want.AlphaOffsetDiv2, want.BetaOffsetDiv2 = -2, 3
			}
			got, err := ParseSliceHeader(want.nal(&sps, &pps), &sps, &pps)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("sets %d, header %d: %v, came back as\n%+v, want\n%+v", i, j, err, got, want)
			}
		}
	}
}

func TestSliceHeaderRefuses(t *testing.T) {
	good := SliceHeader{RefIDC: 2, Unit: TypeSlice}
	endless := SliceHeader{Unit: TypeSlice, ListModified: true, Modifications: make([]ListModification, maxRefs+1)}
	for name, change := range map[string]func(*SPS, *PPS, *SliceHeader){
		"fields":         func(s *SPS, _ *PPS, _ *SliceHeader) { s.FrameMBsOnly = false },
		"weights":        func(_ *SPS, p *PPS, _ *SliceHeader) { p.WeightedPred = true },
		"a B slice":      func(_ *SPS, _ *PPS, h *SliceHeader) { h.Type = 6 },
		"another PPS":    func(_ *SPS, _ *PPS, h *SliceHeader) { h.PPSID = 3 },
		"another SPS":    func(s *SPS, _ *PPS, _ *SliceHeader) { s.ID = 1 },
		"an endless one": func(_ *SPS, _ *PPS, h *SliceHeader) { *h = endless },
		"no slice":       func(_ *SPS, _ *PPS, h *SliceHeader) { h.Unit = TypeSEI },
	} {
		sps, pps, h := sets()[0].sps, sets()[0].pps, good
		change(&sps, &pps, &h)
		if _, err := ParseSliceHeader(h.nal(&sps, &pps), &sps, &pps); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	sps, pps := sets()[0].sps, sets()[0].pps
	whole := good.nal(&sps, &pps)
	for n := range len(whole) - 1 {
		if _, err := ParseSliceHeader(whole[:n], &sps, &pps); err == nil {
			t.Errorf("%d of %d bytes were accepted", n, len(whole))
		}
	}
}

// ppsNAL writes a set as an encoder would; the package itself only reads them.
func ppsNAL(p PPS, sliceGroups uint32) []byte {
	flag := map[bool]uint32{true: 1}
	var w BitWriter
	w.UE(p.ID)
	w.UE(p.SPSID)
	w.Bit(flag[p.CABAC])
	w.Bit(flag[p.BottomFieldPicOrder])
	w.UE(sliceGroups)
	w.UE(p.NumRefIdxL0DefaultMinus1)
	w.UE(p.NumRefIdxL1DefaultMinus1)
	w.Bit(flag[p.WeightedPred])
	w.Bits(2, p.WeightedBipredIDC)
	w.SE(p.PicInitQPMinus26)
	w.SE(p.PicInitQSMinus26)
	w.SE(p.ChromaQPIndexOffset)
	w.Bit(flag[p.DeblockingControlPresent])
	w.Bit(flag[p.ConstrainedIntraPred])
	w.Bit(flag[p.RedundantPicCntPresent])
	return Escape([]byte{3<<5 | byte(TypePPS)}, w.Finish())
}

func TestParsePPS(t *testing.T) {
	for _, want := range []PPS{
		{DeblockingControlPresent: true},
		{ID: 255, SPSID: 31, CABAC: true, NumRefIdxL0DefaultMinus1: 3, NumRefIdxL1DefaultMinus1: 1, WeightedBipredIDC: 2, PicInitQPMinus26: -3, ChromaQPIndexOffset: -2},
		{BottomFieldPicOrder: true, WeightedPred: true, PicInitQSMinus26: 5, ConstrainedIntraPred: true, RedundantPicCntPresent: true},
	} {
		if got, err := ParsePPS(ppsNAL(want, 0)); err != nil || got != want {
			t.Errorf("%v, got %+v, want %+v", err, got, want)
		}
	}
	if _, err := ParsePPS(ppsNAL(PPS{}, 1)); !errors.Is(err, errUnsupported) {
		t.Errorf("slice groups: %v", err)
	}
	for _, nal := range [][]byte{nil, {0x68}, {0x67, 1, 2}} {
		if _, err := ParsePPS(nal); err == nil {
			t.Errorf("%x was accepted", nal)
		}
	}
}

func FuzzParsePPS(f *testing.F) {
	f.Add(ppsNAL(PPS{ID: 4, CABAC: true, PicInitQPMinus26: -9}, 0))
	f.Fuzz(func(t *testing.T, nal []byte) {
		p, err := ParsePPS(nal)
		if err != nil {
			return
		}
		if again, err := ParsePPS(ppsNAL(p, 0)); err != nil || again != p {
			t.Errorf("%x came back as %+v (%v), want %+v", nal, again, err, p)
		}
	})
}

func FuzzParseSliceHeader(f *testing.F) {
	for i, s := range sets() {
		sps, pps := s.sps, s.pps
		h := SliceHeader{RefIDC: 2, Unit: TypeSlice, ListModified: true, Modifications: []ListModification{{IDC: endOfModifications}}, AdaptiveMarking: true}
		f.Add(h.nal(&sps, &pps), i)
	}
	f.Fuzz(func(t *testing.T, nal []byte, set int) {
		s := sets()[uint(set)%3]
		sps, pps := s.sps, s.pps
		h, err := ParseSliceHeader(nal, &sps, &pps)
		if err != nil {
			return
		}
		again, err := ParseSliceHeader(h.nal(&sps, &pps), &sps, &pps)
		if err != nil || !reflect.DeepEqual(h, again) {
			t.Errorf("%x came back as %+v (%v), want %+v", nal, again, err, h)
		}
	})
}
