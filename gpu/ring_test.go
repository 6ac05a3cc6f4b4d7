package gpu

import (
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var small = image.Pt(24, 18)

// configure gives the ring n slots of this size and counts those in use.
func configure(r *Ring, size image.Point, n int, used *atomic.Int64) {
	stride := 4*size.X + 8
	mem := HostMemory(n, stride*size.Y)
	for i := range mem {
		used.Add(1)
		pix := mem[i].Pix
		mem[i].Free = func() {
			clear(pix) // whoever reads it now reads a wrong picture, or races
			used.Add(-1)
		}
	}
	r.Configure(size, stride, BGRA, mem)
}

// TestReadersSeeExactPictures lets a writer change random parts of a picture,
// copying only what is stale or damaged, and lets readers of different speed
// update their copies by the damage alone. Every copy must be the very picture
// that the writer had under that number.
func TestReadersSeeExactPictures(t *testing.T) {
	const pictures, viewers = 3000, 4
	ring := NewRing()
	var used atomic.Int64
	var history sync.Map // number to picture
	var wg sync.WaitGroup
	for i := range viewers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			read(t, ring, &history, rand.New(rand.NewPCG(7, uint64(i))))
		}()
	}
	write(ring, &history, &used, pictures)
	ring.Close(nil)
	wg.Wait()
	if n := used.Load(); n != 0 {
		t.Errorf("%d slots were never freed", n)
	}
}

func write(ring *Ring, history *sync.Map, used *atomic.Int64, pictures uint64) {
	random := rand.New(rand.NewPCG(1, 2))
	var model []byte
	size, number := image.Point{}, uint64(0)
	for number < pictures {
		fresh := random.IntN(100) == 0 || number == 0 && model == nil
		if fresh {
			size = image.Pt(8+random.IntN(30), 8+random.IntN(30))
			model = make([]byte, 4*size.X*size.Y)
			configure(ring, size, 2+random.IntN(4), used)
		}
		s, ok := ring.Acquire()
		if !ok {
			<-ring.Wake()
			continue
		}
		damage := scribble(random, model, size)
		if fresh || random.IntN(50) == 0 {
			damage = nil
		}
		copyRects(s.Pix, s.Stride, model, 4*size.X, s.Stale)
		copyRects(s.Pix, s.Stride, model, 4*size.X, damage)
		if damage == nil {
			copyRects(s.Pix, s.Stride, model, 4*size.X, []image.Rectangle{{Max: size}})
		}
		number++
		history.Store(number, append([]byte{}, model...))
		ring.Publish(s, time.Time{}, damage, number)
		if random.IntN(20) == 0 {
			spoil(ring, random)
		}
	}
}

// spoil takes a slot, ruins it and gives it back unpublished.
func spoil(ring *Ring, random *rand.Rand) {
	if s, ok := ring.Acquire(); ok {
		for i := range s.Pix {
			s.Pix[i] = byte(random.Uint32())
		}
		ring.Return(s)
	}
}

func scribble(random *rand.Rand, model []byte, size image.Point) []image.Rectangle {
	damage := []image.Rectangle{}
	for range random.IntN(5) {
		min := image.Pt(random.IntN(size.X), random.IntN(size.Y))
		r := image.Rectangle{Min: min, Max: min.Add(image.Pt(random.IntN(9), random.IntN(9)))}
		damage = append(damage, r)
		r = r.Intersect(image.Rectangle{Max: size})
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for i := 4 * (y*size.X + r.Min.X); i < 4*(y*size.X+r.Max.X); i++ {
				model[i] = byte(random.Uint32())
			}
		}
	}
	return damage
}

func copyRects(dst []byte, dstStride int, src []byte, srcStride int, rects []image.Rectangle) {
	for _, r := range rects {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			to := min(4*r.Max.X, dstStride, srcStride)
			if y*srcStride < len(src) && 4*r.Min.X < to && y*dstStride+to <= len(dst) {
				copy(dst[y*dstStride+4*r.Min.X:y*dstStride+to], src[y*srcStride+4*r.Min.X:])
			}
		}
	}
}

// read follows the ring until it ends, sometimes holding on to a frame, and
// sometimes leaving and coming back as a new reader.
func read(t *testing.T, ring *Ring, history *sync.Map, random *rand.Rand) {
	rd := ring.NewReader()
	defer func() { rd.Close() }()
	var mine []byte
	last := uint64(0)
	for {
		<-rd.Ready()
		f, err := rd.Take()
		if errors.Is(err, io.EOF) {
			return
		}
		if f == nil {
			continue
		}
		if f.Number <= last && mine != nil || f.Number != f.Mark {
			t.Errorf("picture %d with mark %d after %d", f.Number, f.Mark, last)
		}
		last = f.Number
		damage := f.Damage
		if damage == nil {
			mine = make([]byte, 4*f.Size.X*f.Size.Y)
			damage = []image.Rectangle{f.Bounds()}
		}
		copyRects(mine, 4*f.Size.X, f.Pix, f.Stride, damage)
		if want, _ := history.Load(f.Number); string(want.([]byte)) != string(mine) {
			t.Errorf("picture %d differs", f.Number)
		}
		if random.IntN(10) == 0 {
			time.Sleep(time.Duration(random.IntN(200)) * time.Microsecond)
		}
		f.Release()
		f.Release()
		if random.IntN(40) == 0 {
			rd.Close()
			rd, mine = ring.NewReader(), nil
		}
	}
}

func publish(t *testing.T, r *Ring, damage ...image.Rectangle) {
	t.Helper()
	s, ok := r.Acquire()
	if !ok {
		t.Fatal("no free slot")
	}
	r.Publish(s, time.Time{}, damage, 0)
}

func take(t *testing.T, rd *Reader) *Frame {
	t.Helper()
	f, err := rd.Take()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNewReaderGetsTheNewestPicture(t *testing.T) {
	r, used := NewRing(), atomic.Int64{}
	configure(r, small, 3, &used)
	publish(t, r)
	publish(t, r, image.Rect(1, 1, 2, 2))
	rd := r.NewReader()
	<-rd.Ready()
	f := take(t, rd)
	if f == nil || f.Number != 2 || f.Damage != nil {
		t.Fatalf("took %+v", f)
	}
	if take(t, rd) != nil {
		t.Error("the same picture came twice")
	}
	f.Release()
	publish(t, r, image.Rect(0, 0, 2, 2))
	publish(t, r, image.Rect(0, 2, 2, 4))
	if f = take(t, rd); len(f.Damage) != 1 || f.Damage[0] != image.Rect(0, 0, 2, 4) || f.Number != 4 {
		t.Errorf("took %d with damage %v", f.Number, f.Damage)
	}
}

func TestReaderTakesThePictureAgain(t *testing.T) {
	r, used := NewRing(), atomic.Int64{}
	rd := r.NewReader()
	rd.Again()
	if take(t, rd) != nil {
		t.Fatal("there is a picture before the first")
	}
	configure(r, small, 3, &used)
	for range 3 {
		publish(t, r, image.Rect(1, 1, 2, 2))
		take(t, rd).Release()
	}
	rd.Again()
	f := take(t, rd)
	if f == nil || f.Number != 3 || f.Damage != nil {
		t.Fatalf("again: %+v", f)
	}
	f.Release()
	if take(t, rd) != nil {
		t.Error("and once more by itself")
	}
}

// TestSlowReaderSlowsNobody holds a frame for long while others go on, and
// checks that the writer only stops when every slot is held.
func TestSlowReaderSlowsNobody(t *testing.T) {
	r, used := NewRing(), atomic.Int64{}
	configure(r, small, 3, &used)
	slow, fast := r.NewReader(), r.NewReader()
	publish(t, r)
	held := take(t, slow)
	for range 10 {
		publish(t, r, image.Rect(0, 0, 1, 1))
		take(t, fast).Release()
	}
	second := take(t, fast)
	if second != nil {
		t.Fatal("took a picture that was taken")
	}
	publish(t, r, image.Rect(0, 0, 1, 1))
	second = take(t, fast) // the newest
	publish(t, r, image.Rect(0, 0, 1, 1))
	if _, ok := r.Acquire(); ok {
		t.Fatal("got a slot that a reader holds or that is the newest")
	}
	for len(r.Wake()) > 0 {
		<-r.Wake()
	}
	held.Release()
	<-r.Wake()
	publish(t, r, image.Rect(0, 0, 1, 1))
	second.Release()
}

func TestMemoryIsFreedWithItsLastReader(t *testing.T) {
	r, used := NewRing(), atomic.Int64{}
	configure(r, small, 3, &used)
	rd := r.NewReader()
	publish(t, r)
	f := take(t, rd)
	s, _ := r.Acquire()
	configure(r, image.Pt(9, 9), 2, &used)
	if used.Load() != 4 { // two new, one read, one written
		t.Errorf("%d slots in use, want 4", used.Load())
	}
	r.Publish(s, time.Time{}, nil, 0)
	if take(t, rd) != nil {
		t.Error("a picture of the old generation came")
	}
	f.Release()
	if used.Load() != 2 {
		t.Errorf("%d slots in use, want 2", used.Load())
	}
	publish(t, r)
	if g := take(t, rd); g.Generation != f.Generation+1 || g.Damage != nil || g.Size != image.Pt(9, 9) {
		t.Errorf("took %+v", g)
	} else {
		g.Release()
	}
	r.Close(nil)
	if used.Load() != 0 {
		t.Errorf("%d slots in use after the end", used.Load())
	}
	configure(r, small, 3, &used)
	if used.Load() != 0 {
		t.Errorf("%d slots in use after a configuration that came too late", used.Load())
	}
}

func TestStateAndEndReachReaders(t *testing.T) {
	r := NewRing()
	rd := r.NewReader()
	paused := State{Paused: true, Reason: "the window is minimised"}
	r.SetState(paused)
	<-rd.Ready()
	if rd.State() != paused {
		t.Errorf("state %v", rd.State())
	}
	r.SetState(paused)
	if len(rd.Ready()) != 0 {
		t.Error("woken by a state that did not change")
	}
	late := r.NewReader()
	<-late.Ready()
	reason := fmt.Errorf("it ended")
	r.Close(reason)
	r.Close(nil)
	<-rd.Ready()
	if _, err := rd.Take(); err != reason {
		t.Errorf("error %v", err)
	}
	if _, ok := r.Acquire(); ok {
		t.Error("got a slot of a ring that ended")
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	r, used := NewRing(), atomic.Int64{}
	configure(r, small, 3, &used)
	rd := r.NewReader()
	damage := []image.Rectangle{image.Rect(0, 0, 3, 3), image.Rect(5, 5, 8, 8)}
	step := func() {
		s, _ := r.Acquire()
		r.Publish(s, time.Time{}, damage, 0)
	}
	for range 10 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations to publish", n)
	}
	read := testing.AllocsPerRun(100, func() {
		step()
		f, _ := rd.Take()
		f.Release()
	})
	if read > 2 { // the frame, which its reader owns, and its damage
		t.Errorf("%v allocations to publish and take", read)
	}
}
