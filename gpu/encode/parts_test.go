package encode

import (
	"image"
	"testing"
)

// flat is a picture of one value.
func flat(size image.Point, v byte) planes {
	n := NewNV12(size)
	for _, p := range [][]byte{n.Luma, n.Chroma} {
		for i := range p {
			p[i] = v
		}
	}
	return planes{size: n.Size, luma: n.Luma, chroma: n.Chroma, lumaStride: n.LumaStride, chromaStride: n.ChromaStride}
}

// values are what the encoder is given of each macroblock, which are flat.
func (p *parts) values(t *testing.T) (out []byte) {
	t.Helper()
	for i := range p.blocks {
		r := p.area(i)
		v := p.picture.luma[r.Min.Y*p.picture.lumaStride+r.Min.X]
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if p.picture.luma[y*p.picture.lumaStride+x] != v || p.picture.chroma[y/2*p.picture.chromaStride+x] != v {
					t.Fatalf("macroblock %d is not given as a whole", i)
				}
			}
		}
		out = append(out, v)
	}
	return out
}

const source, first, second = 200, 100, 150

// TestParts: what is not to be coded is given as the reference has it, what is
// sharpened as it is, and a unit that is dropped leaves nothing behind.
func TestParts(t *testing.T) {
	size := image.Pt(40, 18) // three macroblocks by two, most of them cut
	all := image.Rectangle{Max: size}
	for name, tt := range map[string]struct {
		do   func(*parts, marks)
		want [6]byte
	}{
		"a new picture": {func(*parts, marks) {}, [6]byte{source, source, source, source, source, source}},
		"nothing new":   {func(p *parts, m marks) { code(p, m, first, nil) }, [6]byte{first, first, first, first, first, first}},
		"part of it is new": {func(p *parts, m marks) {
			code(p, m, first, nil)
			p.touch(image.Rect(20, 3, 22, 4))
		}, [6]byte{first, source, first, first, first, first}},
		"part of it is sharpened": {func(p *parts, m marks) {
			code(p, m, first, nil)
			code(p, m, first, []bool{true, false, false, false, false, true})
		}, [6]byte{source, first, first, first, first, source}},
		"what was sharpened is left next time": {func(p *parts, m marks) {
			code(p, m, first, []bool{true})
			code(p, m, second, nil)
		}, [6]byte{second, first, first, first, first, first}},
		"a dropped sharpening": {func(p *parts, m marks) {
			code(p, m, first, nil)
			code(p, m, first, []bool{true, true})
			p.drop()
		}, [6]byte{first, first, first, first, first, first}},
		"a dropped change": {func(p *parts, m marks) {
			code(p, m, first, nil)
			p.touch(all)
			code(p, m, first, nil)
			p.drop()
			code(p, m, 0, nil)
		}, [6]byte{source, source, source, source, source, source}},
		"a change to what a dropped unit had sharpened": {func(p *parts, m marks) {
			code(p, m, first, nil)
			code(p, m, first, []bool{true, true})
			p.drop()
			p.touch(image.Rect(0, 0, 1, 1))
		}, [6]byte{source, first, first, first, first, first}},
		"an older reference, and the next": {func(p *parts, m marks) {
			code(p, m, first, nil)
			code(p, m, 0, nil)
			code(p, m, second, nil)
		}, [6]byte{second, second, second, second, second, second}},
		"a key frame": {func(p *parts, m marks) {
			code(p, m, first, nil)
			p.releaseAll()
		}, [6]byte{source, source, source, source, source, source}},
	} {
		p, m := newParts(flat(size, source)), newMarks(make([]byte, 6), size)
		p.touch(all)
		code(&p, m, first, nil)
		tt.do(&p, m)
		if got := [6]byte(p.values(t)); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		p.releaseAll()
		if got := [6]byte(p.values(t)); got != [6]byte{source, source, source, source, source, source} {
			t.Errorf("%s: of the source %v is left", name, got)
		}
	}
}

// code has a picture coded against one of a value; 0: it is not at hand.
func code(p *parts, m marks, reference byte, sharpen []bool) {
	made := flat(p.picture.size, reference)
	p.begin()
	if reference == 0 {
		p.prepare(nil, sharpen, m)
	} else {
		p.prepare(&made, sharpen, m)
	}
	m.settle()
	p.settle()
}
