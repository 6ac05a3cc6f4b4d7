package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/composite"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"

	"nearglass/gpu/xconn"
)

// xserver is one connection to an X server with the extensions in use.
type xserver struct {
	conn    *xgb.Conn
	display string
	has     map[string]bool // extensions by their names in xconn
	randr   int             // minor version of RandR 1; 0 without
	screen  *xproto.ScreenInfo
	root    xproto.Window
	events  chan xgb.Event // closed when the connection ends
	quit    chan struct{}
	once    sync.Once

	atomLock sync.Mutex
	atoms    map[string]xproto.Atom
}

// dialX connects and starts the reader of events. The caller must close.
func dialX(display string) (*xserver, error) {
	conn, has, err := xconn.Open(display, xconn.Composite, xconn.Damage, xconn.RandR, xconn.Shm, xconn.XFixes)
	if display == "" {
		display = os.Getenv("DISPLAY")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	setup := xproto.Setup(conn)
	screen := setup.DefaultScreen(conn)
	s := &xserver{
		conn: conn, display: display, has: has, screen: screen, root: screen.Root,
		events: make(chan xgb.Event, 64), quit: make(chan struct{}), atoms: map[string]xproto.Atom{},
	}
	go s.readEvents()
	if err := s.check(setup); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// check refuses servers whose pixels are not gpu.BGRA, or that do not report
// damage, and agrees on the versions of the extensions.
func (s *xserver) check(setup *xproto.SetupInfo) error {
	if !s.has[xconn.Damage] || !s.has[xconn.XFixes] {
		return fmt.Errorf("the X server on %s lacks the DAMAGE or XFIXES extension, which capture needs: %w", s.display, errors.ErrUnsupported)
	}
	if setup.ImageByteOrder != xproto.ImageOrderLSBFirst || !has32Bits(setup, s.screen.RootDepth) || !isBGR(s.screen) {
		return fmt.Errorf("the X server on %s has pixels of depth %d; run it with depth 24: %w", s.display, s.screen.RootDepth, errors.ErrUnsupported)
	}
	// XFIXES comes first: DAMAGE regions are its objects.
	if _, err := xfixes.QueryVersion(s.conn, 5, 0).Reply(); err != nil {
		return s.wrap(err)
	}
	if _, err := damage.QueryVersion(s.conn, 1, 1).Reply(); err != nil {
		return s.wrap(err)
	}
	if s.has[xconn.Composite] {
		if v, err := composite.QueryVersion(s.conn, 0, 4).Reply(); err != nil || v.MajorVersion == 0 && v.MinorVersion < 2 {
			s.has[xconn.Composite] = false
		}
	}
	if s.has[xconn.RandR] {
		if v, err := randr.QueryVersion(s.conn, 1, 5).Reply(); err == nil && v.MajorVersion == 1 {
			s.randr = int(v.MinorVersion)
		}
	}
	return nil
}

func has32Bits(setup *xproto.SetupInfo, depth byte) bool {
	for _, f := range setup.PixmapFormats {
		if f.Depth == depth {
			return f.BitsPerPixel == 32
		}
	}
	return false
}

func isBGR(screen *xproto.ScreenInfo) bool {
	for _, d := range screen.AllowedDepths {
		for _, v := range d.Visuals {
			if v.VisualId == screen.RootVisual {
				return v.RedMask == 0xff0000 && v.GreenMask == 0xff00 && v.BlueMask == 0xff
			}
		}
	}
	return false
}

// readEvents passes events on until the connection ends. After close it only
// empties xgb's queue, without which xgb's own goroutines would not end.
func (s *xserver) readEvents() {
	defer close(s.events)
	for {
		ev, xerr := s.conn.WaitForEvent()
		if ev == nil && xerr == nil {
			return
		}
		if ev == nil {
			continue // the error of an unchecked request, made when cleaning up
		}
		select {
		case s.events <- ev:
		case <-s.quit:
		}
	}
}

func (s *xserver) close() {
	s.once.Do(func() {
		close(s.quit)
		s.conn.Close()
	})
}

// gone is the error of a connection that the server ended.
func (s *xserver) gone() error {
	return fmt.Errorf("%w: the X server on %s ended the connection", ErrGone, s.display)
}

// wrap turns the end of the connection into ErrGone and leaves other errors.
func (s *xserver) wrap(err error) error {
	if errors.Is(err, io.EOF) {
		return s.gone()
	}
	return err
}

// atom returns the number of a name.
func (s *xserver) atom(name string) (xproto.Atom, error) {
	s.atomLock.Lock()
	defer s.atomLock.Unlock()
	if a, ok := s.atoms[name]; ok {
		return a, nil
	}
	reply, err := xproto.InternAtom(s.conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, s.wrap(err)
	}
	s.atoms[name] = reply.Atom
	return reply.Atom, nil
}

// propertyWords is how much of a property is read, in units of four bytes.
const propertyWords = 1 << 16

// property returns the bytes of a property, or nil when there is none.
func (s *xserver) property(w xproto.Window, name string) ([]byte, error) {
	a, err := s.atom(name)
	if err != nil {
		return nil, err
	}
	reply, err := xproto.GetProperty(s.conn, false, w, a, xproto.GetPropertyTypeAny, 0, propertyWords).Reply()
	if err != nil {
		return nil, s.wrap(err)
	}
	return reply.Value, nil
}

// numbers returns a property made of 32-bit values.
func (s *xserver) numbers(w xproto.Window, name string) ([]uint32, error) {
	b, err := s.property(w, name)
	var out []uint32
	for ; len(b) >= 4; b = b[4:] {
		out = append(out, binary.LittleEndian.Uint32(b))
	}
	return out, err
}

// scale is the resolution that the session asks programs for, over the usual
// 96 dots per inch; 1 when it names none.
func (s *xserver) scale() float64 {
	b, err := s.property(s.root, "RESOURCE_MANAGER")
	if err != nil {
		return 1
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "Xft.dpi:"); ok {
			dpi, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err == nil && dpi >= 48 && dpi <= 960 {
				return dpi / 96
			}
		}
	}
	return 1
}
