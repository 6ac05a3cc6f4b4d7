//go:build cgo

package encode

/*
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"image"
	"time"
	"unsafe"

	"nearglass/cc/rate"
	"nearglass/gpu"
	"nearglass/gpu/encode/h264"

	"github.com/gen2brain/x264-go/x264c"
)

// x264Encoder owns one x264 instance and the picture that it reads. The
// picture and the marks lie in C memory, because x264 keeps pointers to them
// while it encodes.
type x264Encoder struct {
	config  Config
	params  *x264c.Param
	x264    *x264c.T
	picture *x264c.Picture
	out     *x264c.Picture
	parts   parts
	marks   marks
	rects   []image.Rectangle // scratch: what changed
	bands   []image.Rectangle // scratch: what is converted

	made       planes // what x264 made of the picture with that number; its own memory
	madeNumber uint64

	search  search
	reach   reach     // how far x264 is set to look for motion
	bitrate rate.Rate // that it is set to keep to, with CBR and CRF
	changed int       // pixels that were loaded since the last picture

	sets       parameterSets
	last       droppable
	references references

	pictures int64 // encoded so far; the pts of the next
	loaded   bool
	convert  time.Duration
}

func openX264(c Config) (Encoder, error) {
	if err := checkBuild(); err != nil {
		return nil, err
	}
	params, err := x264Params(c)
	if err != nil {
		return nil, err
	}
	e := &x264Encoder{config: c, params: params, search: newSearch(), reach: wide, picture: new(x264c.Picture), out: new(x264c.Picture)}
	e.sets.profile, e.sets.gaps, e.references.most = c.Profile, c.Gaps, c.References
	if c.Gaps {
		e.references.wraps = h264.MaxFrameNums
	}
	if err := e.allocate(); err != nil {
		return nil, err
	}
	if e.x264 = x264c.EncoderOpen(params); e.x264 == nil {
		e.free()
		return nil, fmt.Errorf("encode: x264 refuses %dx%d, preset %s, %s", c.Size.X, c.Size.Y, c.Preset, c.Profile)
	}
	return e, nil
}

func (e *x264Encoder) allocate() error {
	size := CodedSize(e.config.Size)
	if x264c.PictureAlloc(e.picture, x264c.CspNv12, int32(size.X), int32(size.Y)) < 0 {
		return fmt.Errorf("encode: no memory for a picture of %dx%d", size.X, size.Y)
	}
	img := e.picture.Img
	e.parts = newParts(planesOf(&img, size))
	mbs := macroblocks(size)
	info := C.calloc(C.size_t(mbs.X*mbs.Y), 1)
	if info == nil {
		x264c.PictureClean(e.picture)
		return fmt.Errorf("encode: no memory for %dx%d macroblocks", mbs.X, mbs.Y)
	}
	e.picture.Prop.MbInfo = (*uint8)(info)
	e.marks = newMarks(unsafe.Slice((*byte)(info), mbs.X*mbs.Y), size)
	return nil
}

// planesOf is what x264 calls an image, of a size that is even.
func planesOf(img *x264c.Image, size image.Point) planes {
	luma, chroma := int(img.IStride[0]), int(img.IStride[1])
	return planes{
		size: size, lumaStride: luma, chromaStride: chroma,
		luma:   unsafe.Slice((*byte)(img.Plane[0]), luma*(size.Y-1)+size.X),
		chroma: unsafe.Slice((*byte)(img.Plane[1]), chroma*(size.Y/2-1)+size.X),
	}
}

// Load implements Encoder.
func (e *x264Encoder) Load(f *gpu.Frame) error {
	if e.x264 == nil {
		return ErrClosed
	}
	if err := e.check(f); err != nil {
		return err
	}
	start := time.Now()
	e.rects = changedRects(e.rects[:0], f, !e.loaded)
	for _, r := range e.rects {
		e.parts.touch(r)
		e.marks.touch(r)
		e.changed += r.Dx() * r.Dy()
	}
	e.bands = cut(e.bands[:0], e.rects, f.Size)
	converters.convert(e.parts.picture, pixels{size: f.Size, stride: f.Stride, pix: f.Pix}, e.bands)
	e.loaded = true
	e.convert = time.Since(start)
	return nil
}

func (e *x264Encoder) check(f *gpu.Frame) error {
	switch {
	case f.Size != e.config.Size:
		return fmt.Errorf("encode: frame of %dx%d for an encoder of %dx%d", f.Size.X, f.Size.Y, e.config.Size.X, e.config.Size.Y)
	case f.Format != gpu.BGRA:
		return fmt.Errorf("encode: frame of format %d, want BGRA", f.Format)
	case f.Stride < 4*f.Size.X || len(f.Pix) < f.Stride*(f.Size.Y-1)+4*f.Size.X:
		return fmt.Errorf("encode: frame of %dx%d with stride %d in %d bytes", f.Size.X, f.Size.Y, f.Stride, len(f.Pix))
	}
	return nil
}

// Encode implements Encoder.
func (e *x264Encoder) Encode(o Order) (AccessUnit, error) {
	switch {
	case e.x264 == nil:
		return AccessUnit{}, ErrClosed
	case !e.loaded:
		return AccessUnit{}, ErrNotLoaded
	}
	if err := e.config.checkOrder(o); err != nil {
		return AccessUnit{}, err
	}
	start := time.Now()
	unit, err := e.encode(o)
	if err != nil {
		return AccessUnit{}, err
	}
	unit.Encode = time.Since(start)
	unit.Convert, e.convert = e.convert, 0
	return unit, nil
}

func (e *x264Encoder) encode(o Order) (AccessUnit, error) {
	unit := AccessUnit{Number: uint64(e.pictures) + 1}
	if err := e.giveUp(o.Newest); err != nil {
		return AccessUnit{}, err
	}
	unit.Reference = e.references.of(unit.Number)
	if unit.Key = o.Key || unit.Reference == 0; unit.Key {
		unit.Reference = 0
	}
	e.choose(unit, o.Sharpen)
	if err := e.prepare(o, unit); err != nil {
		return AccessUnit{}, err
	}
	nals, count := make([]*x264c.Nal, 1), int32(0)
	size := x264c.EncoderEncode(e.x264, nals, &count, e.picture, e.out)
	if size <= 0 || count <= 0 {
		return AccessUnit{}, fmt.Errorf("encode: x264 gave no access unit for picture %d (%d)", e.pictures, size)
	}
	e.pictures++
	e.marks.settle()
	e.parts.settle()
	e.made, e.madeNumber = planesOf(&e.out.Img, e.parts.picture.size), unit.Number
	e.references.add(unit.Number, unit.Key)
	if key := e.out.BKeyframe != 0; key != unit.Key {
		return AccessUnit{}, fmt.Errorf("encode: picture %d is a key frame: %v, and was ordered as one: %v", unit.Number, key, unit.Key)
	}
	unit.QP = min(int(e.out.IQpplus1)-1, MaxQP) // x264's own scale goes on, for what fits at none
	if e.config.PSNR {
		unit.PSNR = e.parts.psnr(&e.made)
	}
	err := e.collect(&unit, unsafe.Slice(nals[0], count), int(size))
	e.search.done(unit.QP, unit.SizeBytes)
	unit.Hasty = e.search.hasty
	e.last.keep(unit, e.changed)
	e.changed = 0
	return unit, err
}

// prepare tells x264 how to encode the next picture.
func (e *x264Encoder) prepare(o Order, unit AccessUnit) error {
	e.picture.IType, e.picture.IPts = x264c.TypeP, e.pictures
	if unit.Key {
		e.picture.IType = x264c.TypeIdr
	}
	e.picture.IQpplus1 = int32(o.QP) + 1
	if e.config.Control != ByOrder {
		e.picture.IQpplus1 = x264c.QpAuto
	}
	e.setSearch(unit)
	return e.holdRate(o.Bitrate)
}

// choose gives x264 what it is to code of a picture. It goes on keeping what it
// made of the one before, until that is given back to it with the next call.
func (e *x264Encoder) choose(u AccessUnit, sharpen []bool) {
	e.parts.begin()
	switch {
	case u.Key:
		e.parts.releaseAll()
	case u.Reference == e.madeNumber:
		e.parts.prepare(&e.made, sharpen, e.marks)
	default:
		e.parts.prepare(nil, sharpen, e.marks)
	}
}

// Drop implements Encoder. x264 takes marks for what they say only if the
// picture is coded against the one before it (mb_info counts the pictures in
// between), so that what the dropped one changed is looked at again.
func (e *x264Encoder) Drop() (AccessUnit, error) {
	switch {
	case e.x264 == nil:
		return AccessUnit{}, ErrClosed
	case e.last.slices == nil || !e.references.spares(e.last.unit.Number):
		return AccessUnit{}, ErrNotDroppable
	}
	slices, err := h264.Placeholder(&e.sets.sps, &e.sets.pps, e.last.slices)
	if err != nil {
		return AccessUnit{}, fmt.Errorf("encode: dropping picture %d: %w", e.pictures-1, err)
	}
	if err := e.giveUp(e.last.unit.Number - 1); err != nil {
		return AccessUnit{}, err
	}
	e.changed += e.last.changed
	e.parts.drop()
	e.search.repeat()
	return e.last.drop(slices), nil
}

// giveUp has no picture coded any more against those after the newest; 0 changes
// nothing. x264 names pictures by their pts, which is one less than the number.
func (e *x264Encoder) giveUp(newest uint64) error {
	if newest == 0 || newest >= uint64(e.pictures) {
		return nil
	}
	e.references.giveUp(newest)
	if x264c.EncoderInvalidateReference(e.x264, int(newest)) < 0 {
		return fmt.Errorf("encode: x264 does not give the pictures after %d up", newest)
	}
	return nil
}

// setSearch sets x264 to the motion search that fits the next picture. An IDR
// picture has no motion, and one that is its reference over again has none either:
// looking for it would take a fifth of the time of a refinement and find nothing.
func (e *x264Encoder) setSearch(unit AccessUnit) {
	if unit.Key {
		e.changed = 0
	}
	same := e.changed == 0 && !unit.Key && unit.Reference+1 == unit.Number
	r := e.search.choose(e.changed, e.config.Size.X*e.config.Size.Y)
	if same {
		r = near
	}
	if r == e.reach {
		return
	}
	setSearch(e.params, r)
	if x264c.EncoderReconfig(e.x264, e.params) == 0 {
		e.reach = r
	}
}

// sizePrefix is what x264 puts before a unit when it writes no start codes.
const sizePrefix = 4

// collect copies the units out of x264's memory, which the next picture
// reuses. x264's version message (SEI) is left out: nobody reads it.
func (e *x264Encoder) collect(unit *AccessUnit, nals []x264c.Nal, sizeBytes int) error {
	memory := make([]byte, 0, sizeBytes)
	unit.NALs = make([][]byte, 0, len(nals))
	for _, n := range nals {
		body := unsafe.Slice((*byte)(n.PPayload), n.IPayload)[sizePrefix:]
		if h264.TypeOf(body) == h264.TypeSEI {
			continue
		}
		start := len(memory)
		memory = append(memory, body...)
		nal := memory[start:len(memory):len(memory)]
		nal, err := e.sets.pass(nal, unit.Number-e.references.key)
		if err != nil {
			return fmt.Errorf("encode: x264 wrote an unusable header: %w", err)
		}
		unit.NALs = append(unit.NALs, nal)
		unit.SizeBytes += len(nal)
	}
	return nil
}

// Close implements Encoder.
func (e *x264Encoder) Close() error {
	if e.x264 != nil {
		x264c.EncoderClose(e.x264)
		e.x264 = nil
		e.free()
	}
	return nil
}

func (e *x264Encoder) free() {
	C.free(unsafe.Pointer(e.picture.Prop.MbInfo))
	e.picture.Prop.MbInfo = nil
	x264c.PictureClean(e.picture)
	e.parts, e.made, e.marks = parts{}, planes{}, marks{}
}
