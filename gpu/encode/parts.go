package encode

import "image"

// parts decides which macroblocks of a picture an encoder of one QP a picture
// codes. Of all others it is given what the reference has in their place, so that
// nothing is left to code: a film can be coarse on a desktop that is sharp, and a
// page that is coarse gets sharp piece by piece, while something moves on it. The
// source of those is kept aside meanwhile.
//
// It needs to see what the encoder made of the reference, and that pictures are
// not filtered after their decoding (no deblocking): a macroblock that was left
// then is what it was to the byte.
type parts struct {
	width   int    // macroblocks in a row
	picture planes // what the encoder reads
	aside   planes // of each held macroblock the source, of each taken one the reference
	blocks  []part
	stale   bool // what is held may not be what the reference has
}

// part is the state of one macroblock.
type part struct {
	fresh bool // its source changed since the last unit
	held  bool // picture has the reference's, aside the source
	taken bool // the last unit coded it anew: aside has what was held until then
	was   bool // it was fresh when the last unit was coded
}

func newParts(picture planes) parts {
	mbs := macroblocks(picture.size)
	aside := NewNV12(picture.size)
	return parts{
		width: mbs.X, picture: picture, blocks: make([]part, mbs.X*mbs.Y),
		aside: planes{size: aside.Size, luma: aside.Luma, chroma: aside.Chroma, lumaStride: aside.LumaStride, chromaStride: aside.ChromaStride},
	}
}

// source is where the source of a macroblock is.
func (p *parts) source(i int) *planes {
	if p.blocks[i].held {
		return &p.aside
	}
	return &p.picture
}

// touch makes room in picture for a part of the source that has changed.
func (p *parts) touch(r image.Rectangle) {
	if r.Empty() {
		return
	}
	for y := r.Min.Y / mbSide; y <= (r.Max.Y-1)/mbSide; y++ {
		for x := r.Min.X / mbSide; x <= (r.Max.X-1)/mbSide; x++ {
			p.release(y*p.width + x)
			p.blocks[y*p.width+x].fresh = true
		}
	}
}

// release gives the encoder a macroblock's source.
func (p *parts) release(i int) {
	if p.blocks[i].held {
		copyBlock(&p.picture, &p.aside, p.area(i))
		p.blocks[i].held = false
	}
}

// releaseAll gives it all of the source, for a picture without a reference.
func (p *parts) releaseAll() {
	for i := range p.blocks {
		p.release(i)
	}
}

// prepare gives the encoder the source of what changed and of what is to be
// sharpened, which it marks as changed. reference is what the encoder made of the
// picture that the next one is coded against; nil where that is not at hand any
// more: what is not held yet is then coded once more.
func (p *parts) prepare(reference *planes, sharpen []bool, m marks) {
	for i := range p.blocks {
		b := &p.blocks[i]
		switch {
		case b.fresh:
		case i < len(sharpen) && sharpen[i]:
			p.take(i, reference)
			m.mbs[i] = 0
		default:
			p.hold(i, reference)
		}
	}
	p.stale = reference == nil
}

// take has a macroblock coded that did not change.
func (p *parts) take(i int, reference *planes) {
	b, area := &p.blocks[i], p.area(i)
	switch {
	case b.held:
		swapBlock(&p.picture, &p.aside, area)
	case reference != nil:
		copyBlock(&p.aside, reference, area)
	default:
		b.fresh = true // should it be dropped, it is coded again
		return
	}
	b.held, b.taken = false, true
}

// hold has a macroblock left as it is.
func (p *parts) hold(i int, reference *planes) {
	b := &p.blocks[i]
	if reference == nil || b.held && !p.stale {
		return
	}
	area := p.area(i)
	if !b.held {
		copyBlock(&p.aside, &p.picture, area)
	}
	copyBlock(&p.picture, reference, area)
	b.held = true
}

// settle notes that a unit was coded.
func (p *parts) settle() {
	for i := range p.blocks {
		b := &p.blocks[i]
		b.was, b.fresh = b.fresh, false
	}
}

// begin forgets what the unit before could still have been dropped for.
func (p *parts) begin() {
	for i := range p.blocks {
		p.blocks[i].was, p.blocks[i].taken = false, false
	}
}

// drop takes the last unit back.
func (p *parts) drop() {
	for i := range p.blocks {
		b := &p.blocks[i]
		if b.taken && !b.fresh {
			swapBlock(&p.picture, &p.aside, p.area(i))
			b.held = true
		}
		b.fresh = b.fresh || b.was
		b.taken, b.was = false, false
	}
}

// area is the part of the picture that a macroblock covers.
func (p *parts) area(i int) image.Rectangle {
	at := image.Pt(i%p.width, i/p.width).Mul(mbSide)
	return image.Rectangle{Min: at, Max: at.Add(image.Pt(mbSide, mbSide))}.Intersect(image.Rectangle{Max: p.picture.size})
}

// copyBlock copies a part, with even corners, from one picture to another.
func copyBlock(dst, src *planes, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		copy(dst.luma[y*dst.lumaStride+r.Min.X:][:r.Dx()], src.luma[y*src.lumaStride+r.Min.X:])
	}
	for y := r.Min.Y / 2; y < r.Max.Y/2; y++ {
		copy(dst.chroma[y*dst.chromaStride+r.Min.X:][:r.Dx()], src.chroma[y*src.chromaStride+r.Min.X:])
	}
}

// swapBlock has two pictures change places in a part.
func swapBlock(a, b *planes, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		swapRow(a.luma[y*a.lumaStride+r.Min.X:][:r.Dx()], b.luma[y*b.lumaStride+r.Min.X:])
	}
	for y := r.Min.Y / 2; y < r.Max.Y/2; y++ {
		swapRow(a.chroma[y*a.chromaStride+r.Min.X:][:r.Dx()], b.chroma[y*b.chromaStride+r.Min.X:])
	}
}

func swapRow(a, b []byte) {
	var row [mbSide]byte
	n := copy(row[:], a)
	copy(a, b[:n])
	copy(b, row[:n])
}
