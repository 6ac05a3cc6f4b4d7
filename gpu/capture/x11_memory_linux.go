package capture

import (
	"image"
	"math"
	"sync"

	"github.com/jezek/xgb/shm"
	"github.com/jezek/xgb/xproto"
	"golang.org/x/sys/unix"

	"nearglass/gpu"
	"nearglass/gpu/xconn"
)

// xmemory is the memory of the slots as the X server knows it.
type xmemory struct {
	server *xserver
	segs   []shm.Seg // one a slot; empty when pictures come over the wire
	stride int
}

// newMemory makes memory for pictures of this size that the server can write
// to, or ordinary memory when it cannot: on another machine, or in another
// IPC namespace.
func newMemory(s *xserver, size image.Point) (*xmemory, []gpu.Memory) {
	m := &xmemory{server: s, stride: size.X * gpu.BGRA.BytesPerPixel()}
	sizeBytes := m.stride * size.Y
	if !s.has[xconn.Shm] {
		return m, gpu.HostMemory(slots, sizeBytes)
	}
	mem := make([]gpu.Memory, 0, slots)
	for range slots {
		one, seg, err := m.segment(sizeBytes)
		if err != nil {
			m.detach()
			for _, o := range mem {
				o.Free()
			}
			s.has[xconn.Shm] = false
			return m, gpu.HostMemory(slots, sizeBytes)
		}
		mem, m.segs = append(mem, one), append(m.segs, seg)
	}
	return m, mem
}

// segment makes one piece of shared memory. It is marked for removal as soon
// as both sides have it, so that nothing is left behind however we end.
func (m *xmemory) segment(sizeBytes int) (gpu.Memory, shm.Seg, error) {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, sizeBytes, unix.IPC_CREAT|0o600)
	if err != nil {
		return gpu.Memory{}, 0, err
	}
	defer func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) }()
	pix, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return gpu.Memory{}, 0, err
	}
	seg, err := shm.NewSegId(m.server.conn)
	if err == nil {
		err = shm.AttachChecked(m.server.conn, seg, uint32(id), false).Check()
	}
	if err != nil {
		_ = unix.SysvShmDetach(pix)
		return gpu.Memory{}, 0, err
	}
	free := sync.OnceFunc(func() { _ = unix.SysvShmDetach(pix) })
	return gpu.Memory{Pix: pix, Free: free}, seg, nil
}

// detach lets go of the memory on the server's side.
func (m *xmemory) detach() {
	for _, seg := range m.segs {
		shm.Detach(m.server.conn, seg)
	}
	m.segs = nil
}

// bandGap is how many unchanged rows between two bands are copied too, to save
// a request: one costs about 20 us here, as much as 16 rows of 1920 pixels.
const bandGap = 16

// grab copies the rows that the rectangles touch from the drawable, whose
// picture starts at origin, into the slot.
func (m *xmemory) grab(from xproto.Drawable, origin image.Point, s *gpu.Slot, rects []image.Rectangle) error {
	bands := rowBands(rects, s.Size)
	if m.segs == nil {
		return m.grabOverWire(from, origin, s, bands)
	}
	seg := m.segs[s.Index]
	var cookies [32]shm.GetImageCookie
	for len(bands) > 0 {
		n := min(len(bands), len(cookies))
		for i, b := range bands[:n] {
			cookies[i] = shm.GetImage(m.server.conn, from, int16(origin.X), int16(origin.Y+b.Min.Y), uint16(s.Size.X), uint16(b.Dy()),
				math.MaxUint32, xproto.ImageFormatZPixmap, seg, uint32(b.Min.Y*m.stride))
		}
		var first error
		for _, c := range cookies[:n] {
			if _, err := c.Reply(); err != nil && first == nil {
				first = m.server.wrap(err)
			}
		}
		if first != nil {
			return first
		}
		bands = bands[n:]
	}
	return nil
}

// grabOverWire does the same without shared memory.
func (m *xmemory) grabOverWire(from xproto.Drawable, origin image.Point, s *gpu.Slot, bands []image.Rectangle) error {
	for _, b := range bands {
		reply, err := xproto.GetImage(m.server.conn, xproto.ImageFormatZPixmap, from, int16(origin.X), int16(origin.Y+b.Min.Y),
			uint16(s.Size.X), uint16(b.Dy()), math.MaxUint32).Reply()
		if err != nil {
			return m.server.wrap(err)
		}
		copy(s.Pix[b.Min.Y*m.stride:b.Max.Y*m.stride], reply.Data)
	}
	return nil
}

// rowBands replaces rectangles by the full rows that they touch, from top to
// bottom, closing small gaps. It works in place.
func rowBands(rects []image.Rectangle, size image.Point) []image.Rectangle {
	for i := range rects {
		rects[i].Min.X, rects[i].Max.X = 0, size.X
		rects[i].Max.Y += bandGap
	}
	bands := gpu.Bands(rects)
	for i := range bands {
		bands[i].Max.Y = min(bands[i].Max.Y-bandGap, size.Y)
	}
	return bands
}
