package packetize

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// template is one of a structure's.
type template struct {
	dti    int
	fdiffs []int
}

// reader reads descriptors by the syntax of the format, for any structure with
// one decode target, and knows nothing of how they are written here.
type reader struct {
	offset    int
	templates []template
}

// said is what a descriptor says.
type said struct {
	first, last, structure bool
	frame                  int
	fdiffs                 []int
}

var errDescriptor = errors.New("no descriptor")

// bitSource reads bits; beyond the end it fails.
type bitSource struct {
	b   []byte
	pos int
	bad bool
}

func (s *bitSource) f(n int) int {
	v := 0
	for range n {
		if s.pos >= 8*len(s.b) {
			s.bad = true
			return 0
		}
		v = v<<1 | int(s.b[s.pos/8]>>(7-s.pos%8)&1)
		s.pos++
	}
	return v
}

func (r *reader) read(b []byte) (said, error) {
	s := &bitSource{b: b}
	d := said{first: s.f(1) == 1, last: s.f(1) == 1}
	id := s.f(6)
	d.frame = s.f(16)
	customDTIs, customFdiffs, customChains := 0, 0, 0
	if len(b) > 3 {
		d.structure = s.f(1) == 1
		targets := s.f(1)
		customDTIs, customFdiffs, customChains = s.f(1), s.f(1), s.f(1)
		if d.structure {
			r.readStructure(s)
		}
		if targets == 1 {
			s.f(1)
		}
	}
	at := (id + 64 - r.offset) % 64
	if s.bad || at >= len(r.templates) {
		return d, errDescriptor
	}
	d.fdiffs = r.templates[at].fdiffs
	if customDTIs == 1 {
		s.f(2)
	}
	if customFdiffs == 1 {
		d.fdiffs = nil
		for size := s.f(2); size > 0; size = s.f(2) {
			d.fdiffs = append(d.fdiffs, 1+s.f(4*size))
		}
	}
	if customChains == 1 || s.bad {
		return d, errDescriptor
	}
	for s.pos < 8*len(s.b) { // zero_padding
		if s.f(1) != 0 || s.pos+8 < 8*len(s.b) {
			return d, errDescriptor
		}
	}
	return d, nil
}

func (r *reader) readStructure(s *bitSource) {
	r.offset = s.f(6)
	if s.f(5) != 0 {
		s.bad = true // more than one decode target
		return
	}
	n := 1
	for s.f(2) == 0 && !s.bad {
		n++
	}
	r.templates = make([]template, n)
	for i := range r.templates {
		r.templates[i].dti = s.f(2)
	}
	for i := range r.templates {
		for s.f(1) == 1 {
			r.templates[i].fdiffs = append(r.templates[i].fdiffs, 1+s.f(4))
		}
	}
	if s.f(2) != 0 {
		s.bad = true // chains or resolutions
	}
}

// keyed is a reader that has seen a key frame.
func keyed(t *testing.T) *reader {
	t.Helper()
	r := &reader{}
	d, err := r.read(Descriptor{First: true, Frame: 1}.Append(nil))
	want := []template{{dti: 2}, {dti: 2, fdiffs: []int{1}}}
	if err != nil || !d.structure || d.fdiffs != nil || !reflect.DeepEqual(r.templates, want) {
		t.Fatalf("a key frame says %+v (%v), with %+v", d, err, r.templates)
	}
	return r
}

func TestDescriptors(t *testing.T) {
	for _, c := range []struct {
		d     Descriptor
		bytes int
	}{
		{Descriptor{First: true, Frame: 7}, MaxDescriptorBytes},
		{Descriptor{Last: true, Frame: 7}, UsualDescriptorBytes},
		{Descriptor{First: true, Last: true, Frame: 8, Back: 1}, UsualDescriptorBytes},
		{Descriptor{Frame: 1<<40 + 9, Back: 1}, UsualDescriptorBytes},
		{Descriptor{First: true, Frame: 20, Back: 2}, 5},
		{Descriptor{Last: true, Frame: 20, Back: 16}, 5},
		{Descriptor{Frame: 20, Back: 17}, 6},
		{Descriptor{Frame: 20, Back: 256}, 6},
		{Descriptor{Frame: 20, Back: MaxBack}, 6},
	} {
		b := c.d.Append(nil)
		got, err := keyed(t).read(b)
		if err != nil || len(b) != c.bytes || !c.d.is(got) {
			t.Errorf("%+v takes %d bytes, want %d, and says %+v (%v)", c.d, len(b), c.bytes, got, err)
		}
	}
}

// is says whether a receiver understands what was meant.
func (d Descriptor) is(s said) bool {
	var fdiffs []int
	if d.Back > 0 {
		fdiffs = []int{int(d.Back)}
	}
	return s.first == d.First && s.last == d.Last && s.frame == int(d.Frame&0xffff) &&
		s.structure == (d.Back == 0 && d.First) && reflect.DeepEqual(s.fdiffs, fdiffs)
}

func TestDescriptorAllocatesNothing(t *testing.T) {
	room := make([]byte, 0, MaxDescriptorBytes)
	if n := testing.AllocsPerRun(100, func() { Descriptor{First: true, Frame: 3}.Append(room) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDescriptor(f *testing.F) {
	f.Add(true, false, uint64(1), uint64(0))
	f.Add(false, true, uint64(65536), uint64(5))
	f.Fuzz(func(t *testing.T, first, last bool, frame, back uint64) {
		d := Descriptor{First: first, Last: last, Frame: frame, Back: back % (MaxBack + 1)}
		r := keyed(t)
		before := []byte{1, 2, 3}
		b := d.Append(before)
		got, err := r.read(b[len(before):])
		if err != nil || !d.is(got) || !bytes.Equal(b[:3], before) {
			t.Errorf("%+v as %x says %+v (%v)", d, b[3:], got, err)
		}
	})
}
