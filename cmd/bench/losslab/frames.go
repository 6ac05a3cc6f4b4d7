package losslab

import (
	"maps"
	"slices"
	"time"
)

// frames puts pictures together and says which the decoder gets next: libwebrtc's
// PacketBuffer, its reference finder and its FrameBuffer.
type frames struct {
	// descriptors takes a picture's reference from the packets. Without, every
	// picture needs all packets since the last key frame.
	descriptors bool

	parts   map[uint64]*part    // of which packets are missing
	got     map[int64]bool      // media numbers that came
	from    int64               // the first packet of the newest whole key frame
	front   int64               // all from there to this one came
	waiting map[uint64]*picture // whole, and not decoded
	decoded map[uint64]bool
	newest  uint64 // decoded last
}

// part is a picture of which not all has come.
type part struct {
	picture
	first, end int64 // media numbers; 0: not known yet
	count      int64
}

// picture is one that came whole.
type picture struct {
	frame, reference uint64 // reference 0: a key frame
	last             int64  // media number of the last packet
	timestamp        uint32
	captured         time.Time
	continuous       bool // and all that it needs came whole, too
}

func (p *picture) key() bool { return p.reference == 0 }

func newFrames(descriptors bool) frames {
	return frames{descriptors: descriptors, parts: map[uint64]*part{}, got: map[int64]bool{}, waiting: map[uint64]*picture{}, decoded: map[uint64]bool{}}
}

// take adds a packet. It gives the media number up to which nothing needs to be
// asked for any more; 0 for none.
func (f *frames) take(p *packet) (passed int64) {
	if f.got[p.media] {
		return 0
	}
	f.got[p.media] = true
	if p.payload() && p.frame > f.newest {
		f.add(p)
	}
	for f.front > 0 && f.got[f.front+1] {
		f.front++
	}
	return f.settle()
}

// add puts a packet to its picture, which may be whole by that.
func (f *frames) add(p *packet) {
	t := f.parts[p.frame]
	if t == nil {
		t = &part{picture: picture{frame: p.frame, reference: p.reference, timestamp: p.timestamp, captured: p.captured}}
		f.parts[p.frame] = t
	}
	t.count++
	if p.first {
		t.first = p.media
	}
	if p.last {
		t.end = p.media
	}
	if t.first == 0 || t.end == 0 || t.count <= t.end-t.first {
		return
	}
	delete(f.parts, p.frame)
	t.last = t.end
	f.waiting[p.frame] = &t.picture
	if t.key() {
		f.from, f.front = t.first, max(f.front, t.end)
	}
}

// settle finds which pictures are continuous by now, and gives the last packet of the
// newest; 0 when none waits.
func (f *frames) settle() (last int64) {
	for _, n := range slices.Sorted(maps.Keys(f.waiting)) {
		p := f.waiting[n]
		if f.descriptors {
			r := f.waiting[p.reference]
			p.continuous = p.continuous || p.key() || f.decoded[p.reference] || r != nil && r.continuous
		} else {
			p.continuous = p.continuous || p.last >= f.from && p.last <= f.front
		}
		if p.continuous {
			last = max(last, p.last)
		}
	}
	return last
}

// next takes the picture that is decoded next; false for none. Older ones are of no
// use then.
func (f *frames) next() (picture, bool) {
	for _, n := range slices.Sorted(maps.Keys(f.waiting)) {
		p := f.waiting[n]
		if !p.continuous || f.descriptors && !p.key() && !f.decoded[p.reference] {
			continue
		}
		f.decoded[n], f.newest = true, n
		maps.DeleteFunc(f.waiting, func(m uint64, _ *picture) bool { return m <= n })
		maps.DeleteFunc(f.parts, func(m uint64, _ *part) bool { return m <= n })
		return *p, true
	}
	return picture{}, false
}
