package h264

import (
	"bytes"
	"slices"
	"testing"
)

func TestNALsSplitsAnnexB(t *testing.T) {
	stream := []byte{
		9, 9, // junk before the first start code
		0, 0, 0, 1, 0x67, 1, 2, 0, 0, 3, 1, 0x80,
		0, 0, 1, 0x68, 5, 0, 0, // trailing zeros
		0, 0, 0, 1, 0x65, 7,
	}
	got := slices.Collect(NALs(stream))
	want := [][]byte{{0x67, 1, 2, 0, 0, 3, 1, 0x80}, {0x68, 5}, {0x65, 7}}
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("got %x, want %x", got, want)
	}
	types := []UnitType{TypeSPS, TypePPS, TypeIDR}
	for i, nal := range got {
		if TypeOf(nal) != types[i] {
			t.Errorf("unit %d has type %d, want %d", i, TypeOf(nal), types[i])
		}
	}
	if n := len(slices.Collect(NALs([]byte{0, 0, 0, 1, 0, 0, 1}))); n != 0 {
		t.Errorf("empty units counted: %d", n)
	}
}

func TestEscape(t *testing.T) {
	for _, c := range []struct{ rbsp, escaped []byte }{
		{[]byte{1, 2, 3}, []byte{1, 2, 3}},
		{[]byte{0, 0, 0, 5}, []byte{0, 0, 3, 0, 5}},
		{[]byte{0, 0, 1}, []byte{0, 0, 3, 1}},
		{[]byte{0, 0, 4}, []byte{0, 0, 4}},
		{[]byte{0, 0, 3, 0, 0, 2}, []byte{0, 0, 3, 3, 0, 0, 3, 2}},
	} {
		if got := Escape(nil, c.rbsp); !bytes.Equal(got, c.escaped) {
			t.Errorf("Escape(%x) = %x, want %x", c.rbsp, got, c.escaped)
		}
		if got := Unescape(c.escaped); !bytes.Equal(got, c.rbsp) {
			t.Errorf("Unescape(%x) = %x, want %x", c.escaped, got, c.rbsp)
		}
	}
}

// Table 9-2 and 9-3 of the standard.
func TestExpGolomb(t *testing.T) {
	for _, c := range []struct {
		bits string
		ue   uint32
		se   int32
	}{
		{"1", 0, 0}, {"010", 1, 1}, {"011", 2, -1}, {"00100", 3, 2}, {"00101", 4, -2},
		{"00111", 6, -3}, {"0001000", 7, 4}, {"000010011", 18, -9},
	} {
		var w BitWriter
		for _, b := range c.bits {
			w.Bit(uint32(b - '0'))
		}
		rbsp := w.Finish()
		if got := NewBitReader(rbsp).UE(); got != c.ue {
			t.Errorf("ue(%s) = %d, want %d", c.bits, got, c.ue)
		}
		if got := NewBitReader(rbsp).SE(); got != c.se {
			t.Errorf("se(%s) = %d, want %d", c.bits, got, c.se)
		}
		var u, s BitWriter
		u.UE(c.ue)
		s.SE(c.se)
		if !bytes.Equal(u.Finish(), rbsp) || !bytes.Equal(s.Finish(), rbsp) {
			t.Errorf("writing %d or %d does not give %s", c.ue, c.se, c.bits)
		}
	}
}

func TestReaderFailureSticks(t *testing.T) {
	r := NewBitReader([]byte{0, 0, 0, 0, 0, 0xff})
	if r.UE(); r.Err() == nil {
		t.Fatal("a code of 40 zeros was read")
	}
	if v := r.Bits(8); v != 0 {
		t.Errorf("read %d after a failure", v)
	}
	if r := NewBitReader(nil); r.Bit() != 0 || r.Err() == nil {
		t.Error("reading nothing did not fail")
	}
}

func FuzzEscape(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 0, 0, 3})
	f.Fuzz(func(t *testing.T, rbsp []byte) {
		rbsp = append(bytes.Clone(rbsp), 0x80)
		escaped := Escape(nil, rbsp)
		if bytes.Contains(escaped, []byte{0, 0, 1}) || bytes.Contains(escaped, []byte{0, 0, 0}) {
			t.Errorf("%x contains a start code", escaped)
		}
		if got := Unescape(escaped); !bytes.Equal(got, rbsp) {
			t.Errorf("%x came back as %x", rbsp, got)
		}
	})
}

func FuzzExpGolomb(f *testing.F) {
	f.Add(uint32(0), int32(-5), 7)
	f.Fuzz(func(t *testing.T, u uint32, s int32, n int) {
		u, n = min(u, noLimit), min(max(n, 0), 32)
		s = max(s, -1<<31+1)
		var w BitWriter
		w.UE(u)
		w.SE(s)
		w.Bits(n, u)
		r := NewBitReader(w.Finish())
		if gu, gs := r.UE(), r.SE(); gu != u || gs != s {
			t.Errorf("got %d and %d, want %d and %d", gu, gs, u, s)
		}
		if got := r.Bits(n); uint64(got) != uint64(u)&(1<<n-1) || r.Err() != nil {
			t.Errorf("got %d, %v", got, r.Err())
		}
	})
}

func FuzzNALs(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68})
	f.Fuzz(func(t *testing.T, stream []byte) {
		for nal := range NALs(stream) {
			if len(nal) == 0 || nal[len(nal)-1] == 0 || bytes.Contains(nal, []byte{0, 0, 1}) {
				t.Errorf("unit %x", nal)
			}
		}
	})
}
