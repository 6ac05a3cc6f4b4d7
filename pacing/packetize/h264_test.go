package packetize

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// depacketize is the receiver's side of RFC 6184, as strict as the RFC
// allows, so that what it accepts any receiver accepts.
func depacketize(payloads [][]byte) ([][]byte, error) {
	var nals [][]byte
	var open []byte
	for _, p := range payloads {
		if len(p) == 0 {
			return nil, errors.New("empty payload")
		}
		kind := p[0] & 0x1f
		if open != nil && kind != 28 {
			return nil, errors.New("fragment left open")
		}
		switch {
		case kind >= 1 && kind <= 23:
			nals = append(nals, p)
		case kind == 24:
			rest := p[1:]
			for len(rest) > 0 {
				if len(rest) < 2 {
					return nil, errors.New("short aggregation size")
				}
				n := int(rest[0])<<8 | int(rest[1])
				if n == 0 || len(rest) < 2+n {
					return nil, errors.New("aggregated unit cut short")
				}
				nals = append(nals, rest[2:2+n])
				rest = rest[2+n:]
			}
		case kind == 28:
			if len(p) < 3 {
				return nil, errors.New("short fragment")
			}
			start, end := p[1]&0x80 != 0, p[1]&0x40 != 0
			if start && end || start == (open != nil) {
				return nil, errors.New("bad fragment order")
			}
			if start {
				open = []byte{p[0]&0xe0 | p[1]&0x1f}
			}
			open = append(open, p[2:]...)
			if end {
				nals, open = append(nals, open), nil
			}
		default:
			return nil, errors.New("unknown packet type")
		}
	}
	if open != nil {
		return nil, errors.New("fragment left open")
	}
	return nals, nil
}

// check packetizes nals and reports what the receiver would object to.
func check(t *testing.T, nals [][]byte, limit int) []Payload {
	t.Helper()
	payloads := H264(nil, nals, limit)
	var wire [][]byte
	for _, p := range payloads {
		b := append(slices.Clone(p.Head[:p.HeadLen]), p.Body...)
		if len(b) != p.SizeBytes() || len(b) > max(limit, MinPayloadBytes) {
			t.Fatalf("payload of %d bytes, SizeBytes %d, limit %d", len(b), p.SizeBytes(), limit)
		}
		wire = append(wire, b)
	}
	got, err := depacketize(wire)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(slices.Clone(nals), func(n []byte) bool { return len(n) == 0 })
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Fatalf("got %d NALs back, want %d equal ones", len(got), len(want))
	}
	return payloads
}

func nalOf(kind byte, sizeBytes int) []byte {
	nal := bytes.Repeat([]byte{0xab}, sizeBytes)
	nal[0] = 0x60 | kind
	return nal
}

func TestPacketKinds(t *testing.T) {
	const limit = 1150
	for _, c := range []struct {
		name  string
		nals  [][]byte
		sizes []int
	}{
		{"one slice that fits exactly", [][]byte{nalOf(1, limit)}, []int{limit}},
		{"one byte too many", [][]byte{nalOf(1, limit+1)}, []int{577, 577}},
		{"parameter sets share a packet", [][]byte{nalOf(7, 24), nalOf(8, 5), nalOf(5, 2000)}, []int{34, 1001, 1002}},
		{"small slices share a packet", [][]byte{nalOf(1, 20), nalOf(1, 20), nalOf(1, 20), nalOf(1, 20)}, []int{89}},
		{"nothing", [][]byte{nil, {}}, nil},
		{"an empty one between", [][]byte{nalOf(7, 24), nil, nalOf(8, 5)}, []int{24, 5}},
	} {
		var sizes []int
		for _, p := range check(t, c.nals, limit) {
			sizes = append(sizes, p.SizeBytes())
		}
		if !slices.Equal(sizes, c.sizes) {
			t.Errorf("%s: sizes %v, want %v", c.name, sizes, c.sizes)
		}
	}
}

func TestHeadersKeepImportance(t *testing.T) {
	nals := [][]byte{{0x27, 1}, {0x48, 2}, {0x06, 3}}
	if got := check(t, nals, 1150); len(got) != 1 || got[0].Head[0] != 0x40|24 {
		t.Errorf("aggregation header %#x, want the highest NRI", got[0].Head[0])
	}
	long, aliased := nalOf(5, 3000), false
	for _, p := range check(t, [][]byte{long}, 1000) {
		if p.Head[0] != 0x60|28 || p.Head[1]&0x1f != 5 {
			t.Errorf("fragment header % x", p.Head[:2])
		}
		aliased = aliased || &p.Body[0] == &long[1]
	}
	if !aliased {
		t.Error("the body was copied")
	}
}

func TestFragmentsAreEven(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		limit := MinPayloadBytes + rng.IntN(1400)
		payloads := check(t, [][]byte{nalOf(1, limit+1+rng.IntN(100_000))}, limit)
		least, most := len(payloads[0].Body), len(payloads[0].Body)
		for _, p := range payloads {
			least, most = min(least, len(p.Body)), max(most, len(p.Body))
		}
		if most-least > 1 {
			t.Fatalf("limit %d: fragments between %d and %d bytes", limit, least, most)
		}
	}
}

func TestNoAllocationIntoGivenSpace(t *testing.T) {
	nals := [][]byte{nalOf(1, 50_000)}
	dst := H264(nil, nals, 1150)
	if n := testing.AllocsPerRun(100, func() { dst = H264(dst[:0], nals, 1150) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzH264 cuts the input into NALs at zero bytes and wants them back.
func FuzzH264(f *testing.F) {
	f.Add([]byte{0x67, 1, 2, 0, 0x68, 3, 0, 0x65, 4, 5, 6}, 1150)
	f.Add(nalOf(5, 4000), 100)
	f.Add([]byte{0}, -1)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		limit %= 3000
		var nals [][]byte
		for _, nal := range bytes.Split(data, []byte{0}) {
			if len(nal) > 0 {
				nal[0] = nal[0]&0xe0 | (nal[0]&0x1f)%23 + 1 // a type that may be sent
			}
			nals = append(nals, nal)
		}
		check(t, nals, limit)
	})
}

func BenchmarkH264(b *testing.B) {
	nals := [][]byte{nalOf(1, 20_000)}
	var dst []Payload
	b.ReportAllocs()
	packets := 0
	for b.Loop() {
		dst = H264(dst[:0], nals, 1150)
		packets += len(dst)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(packets), "ns/packet")
}
