package packetize

// Descriptor is what the Dependency Descriptor header extension says of one
// packet: which picture it belongs to and what that is predicted from. A receiver
// that gets it takes references from there, and not from the order of sequence
// numbers, so that it can go on with a picture whose predecessors are lost.
//
// Format: https://aomediacodec.github.io/av1-rtp-spec/, appendix A.
type Descriptor struct {
	First, Last bool   // packet of its picture
	Frame       uint64 // number of the picture; 16 bits of it are sent
	// Back is how many pictures before it the one is that it is predicted from,
	// at most MaxBack; 0 for a key frame.
	Back uint64
}

const (
	// MaxBack is the farthest reference that the format can name.
	MaxBack = 1 << 12
	// MaxDescriptorBytes is the longest descriptor written: that of the first
	// packet of a key frame.
	MaxDescriptorBytes = 8
	// UsualDescriptorBytes is that of a picture predicted from the one before.
	UsualDescriptorBytes = 3
)

// The template structure that each key frame brings along: one decode target,
// which needs every picture (decode target indication "switch"), and no chains.
const (
	templateKey  = 0 // refers to nothing
	templateNext = 1 // refers to the picture before
	dtiSwitch    = 2
)

// Append writes the descriptor behind dst. Memory is allocated only if dst has no
// room for it.
func (d Descriptor) Append(dst []byte) []byte {
	w := bitWriter{dst: dst}
	w.flag(d.First)
	w.flag(d.Last)
	template := uint64(templateNext)
	if d.Back == 0 {
		template = templateKey
	}
	w.bits(6, template) // frame_dependency_template_id
	w.bits(16, d.Frame) // frame_number
	switch {
	case d.Back == 0 && d.First:
		w.bits(5, 0b10000) // template_dependency_structure_present_flag
		w.structure()
	case d.Back > 1:
		w.bits(5, 0b00010) // custom_fdiffs_flag
		w.back(d.Back)
	}
	return w.dst
}

// structure writes template_dependency_structure.
func (w *bitWriter) structure() {
	w.bits(6, 0) // template_id_offset
	w.bits(5, 0) // dt_cnt_minus_one
	w.bits(2, 0) // next_layer_idc: the second template, in the same layer
	w.bits(2, 3) // next_layer_idc: no more
	w.bits(2, dtiSwitch)
	w.bits(2, dtiSwitch)
	w.bits(1, 0) // fdiff_follows_flag of templateKey
	w.bits(1, 1) // fdiff_follows_flag of templateNext
	w.bits(4, 0) // fdiff_minus_one
	w.bits(1, 0) // fdiff_follows_flag
	w.bits(1, 0) // chain_cnt, ns(2)
	w.bits(1, 0) // resolutions_present_flag
}

// back writes frame_fdiffs with one difference, in as few groups of four bits as
// it takes.
func (w *bitWriter) back(n uint64) {
	n = min(n, MaxBack) - 1
	groups := 1
	for n>>(4*groups) > 0 {
		groups++
	}
	w.bits(2, uint64(groups)) // next_fdiff_size
	w.bits(4*groups, n)       // fdiff_minus_one
	w.bits(2, 0)              // next_fdiff_size: no more
}

// bitWriter appends bits, the most significant first.
type bitWriter struct {
	dst  []byte
	used int // bits of the last byte, 0 when it is full
}

func (w *bitWriter) bits(n int, v uint64) {
	for i := n - 1; i >= 0; i-- {
		if w.used == 0 {
			w.dst = append(w.dst, 0)
		}
		w.dst[len(w.dst)-1] |= byte(v>>i&1) << (7 - w.used)
		w.used = (w.used + 1) & 7
	}
}

func (w *bitWriter) flag(v bool) {
	b := uint64(0)
	if v {
		b = 1
	}
	w.bits(1, b)
}
