package session

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
	"nearglass/telemetry"
)

// errPeerGone ends a session whose transport ended without a word.
var errPeerGone = errors.New("the connection to the viewer is gone")

// unit is one encoded picture on its way to the loop.
type unit struct {
	encode.AccessUnit
	frame     uint64
	timestamp uint32    // 90 kHz
	captured  time.Time // of the picture; of the encoding when it was refined
	reference uint64    // number of the picture that it is predicted from; 0 for a key frame
	most      int       // pictures that the encoder keeps
}

// video turns pictures into access units. It runs on its own goroutine and
// owns the reader, the encoder and the rate control.
type video struct {
	c       Config
	units   chan unit
	orders  *mailbox
	notices chan Notice

	rc        *ratecontrol.Controller
	sizer     sizer
	encoder   encode.Encoder
	state     gpu.State
	loaded    bool
	hidden    bool
	holding   bool      // nothing is encoded until another order comes
	held      time.Time // until then the link has no room for a picture; zero: it has
	converted time.Time // when the picture at hand was ready for the encoder
	why       string    // a key frame is ordered: telemetry.KeyViewer or its siblings
	taken     uint64    // number of the picture that was loaded last
	damage    []image.Rectangle
	mark      uint64 // newest input that it shows
	marks     marks
	frame     uint64
	tried     int // pictures that could be encoded again on purpose
	mending   mending
	clock     rtpClock
	out       []unit // what one step made, in the order in which it is sent
}

func newVideo(c Config, notices chan Notice) *video {
	return &video{
		c: c, units: make(chan unit), orders: newMailbox(), notices: notices,
		rc: ratecontrol.New(qualityOf(c)), sizer: newSizer(c),
		clock: rtpClock{base: c.Meter.Zero()},
	}
}

// stillSteps is how many QP steps a still picture is sharper in the end than one in
// motion: the distance of ratecontrol's defaults.
const stillSteps = 3

// qualityOf is the rate control that a session is told.
func qualityOf(c Config) ratecontrol.Config {
	r := ratecontrol.Config{FPS: c.FPS, MaxAverage: c.MaxAverage, ByEncoder: c.ByEncoder}
	if c.QP > 0 {
		r.MotionQP, r.RefineQP = c.QP, max(c.QP-stillSteps, encode.MinQP)
	}
	return r
}

// run encodes until the context or the source ends.
func (v *video) run(ctx context.Context) error {
	defer v.close()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		v.arm(timer)
		select {
		case <-ctx.Done():
			return nil
		case <-v.c.Pictures.Ready():
		case <-v.orders.ready:
		case <-timer.C:
		}
		if err := v.step(time.Now()); err != nil {
			return err
		}
		v.handOver(ctx)
	}
}

// handOver gives the loop what a step made.
func (v *video) handOver(ctx context.Context) {
	for _, u := range v.out {
		select {
		case v.units <- u:
		case <-ctx.Done():
			return
		}
		if u.Key {
			v.orders.met()
		}
	}
	clear(v.out)
	v.out = v.out[:0]
}

func (v *video) close() {
	v.c.Pictures.Close()
	if v.encoder != nil {
		v.encoder.Close()
	}
}

// arm sets the timer to what a still picture is due for next: to be sharpened,
// or to be as large as the source again.
func (v *video) arm(timer *time.Timer) {
	now := time.Now()
	next, due := v.rc.NextRefine(now)
	if at, ok := v.sizer.ladder.Deadline(); ok && (!due || at.Before(next)) {
		next, due = at, true
	}
	if !v.held.IsZero() {
		next, due = v.held, true
	}
	if !due || !v.loaded || v.hidden || v.holding {
		timer.Stop()
		return
	}
	timer.Reset(max(0, next.Sub(now)))
}

// step encodes at most one picture into out: a new one, or the one before as a
// key frame or sharper.
func (v *video) step(now time.Time) error {
	o := v.orders.take()
	if o.target > 0 {
		v.rc.SetTarget(now, o.target)
	}
	v.noteState()
	v.why = o.why
	if v.hidden = o.hidden; v.hidden {
		v.c.Meter.Hidden()
		return v.stillThere()
	}
	v.mending.want(o.newest)
	v.holding = o.hold && !v.mending.due() && !o.key
	if v.held = v.roomAt(now); v.holding || !v.held.IsZero() && !o.key {
		return v.stillThere()
	}
	v.held = time.Time{}
	if v.sizer.choose(now) {
		v.c.Pictures.Again()
	}
	f, err := v.c.Pictures.Take()
	if err != nil {
		return endReason(err)
	}
	if f == nil {
		return v.again(now, o.key)
	}
	defer f.Release()
	return v.fresh(now, f, o.key)
}

// roomAt is when the link has room for a picture; zero when it has now.
func (v *video) roomAt(now time.Time) time.Time {
	if at := v.rc.NextPicture(now); v.loaded && at.After(now) {
		return at
	}
	return time.Time{}
}

// stillThere notices the end of a source while no picture is taken.
func (v *video) stillThere() error {
	return endReason(v.c.Pictures.Err())
}

func endReason(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the source ended")
	}
	return err
}

// fresh encodes a new picture.
func (v *video) fresh(now time.Time, f *gpu.Frame, key bool) error {
	if err := v.fit(f.Size); err != nil {
		return err
	}
	p, err := v.sizer.picture(f)
	if err != nil {
		return fmt.Errorf("scaling picture %d: %w", f.Number, err)
	}
	changed := area(p)
	v.c.Meter.Taken(f.Number, float64(changed)/float64(p.Size.X*p.Size.Y))
	if changed == 0 && !key && v.loaded && !v.mending.due() {
		return nil
	}
	if err := v.encoder.Load(p); err != nil {
		return fmt.Errorf("converting picture %d: %w", f.Number, err)
	}
	v.converted = time.Now()
	captured := f.Captured
	if f.Number == v.taken {
		captured = now
	}
	v.taken, v.mark = f.Number, f.Mark
	damage := v.keep(p.Damage)
	f.Release()
	kind := ratecontrol.Motion
	if !v.loaded {
		v.why = telemetry.KeyStart
	}
	if key || !v.loaded {
		kind = ratecontrol.Key
	}
	v.loaded = true
	return v.encode(now, captured, kind, damage)
}

// keep copies what a frame says has changed, which goes with the frame.
func (v *video) keep(damage []image.Rectangle) []image.Rectangle {
	if damage == nil {
		return nil
	}
	v.damage = append(v.damage[:0], damage...)
	return v.damage
}

// nothing is the damage of a picture that is encoded once more.
var nothing = []image.Rectangle{}

// again encodes the picture before once more, if there is a reason to.
func (v *video) again(now time.Time, key bool) error {
	if !v.loaded {
		return nil
	}
	v.converted = now
	if key {
		return v.encode(now, now, ratecontrol.Key, nothing)
	}
	if v.mending.due() {
		return v.encode(now, now, ratecontrol.Motion, nothing)
	}
	if at, ok := v.rc.NextRefine(now); ok && !now.Before(at) {
		return v.encode(now, now, ratecontrol.Refine, nothing)
	}
	return nil
}

// fit opens an encoder for the pictures of a source of this size, which may be
// sent smaller.
func (v *video) fit(source image.Point) error {
	before := v.sizer.source
	changed, err := v.sizer.fit(source)
	if err != nil {
		return err
	}
	if v.encoder != nil && !changed {
		return nil
	}
	if err := v.open(v.sizer.sent); err != nil {
		return err
	}
	percent, reason := int(v.sizer.rung), v.sizer.ladder.Reason()
	v.c.Meter.Sized(percent, reason)
	if before == source {
		v.c.Log.Info("another size is sent", "percent", percent, "width", v.sizer.sent.X, "height", v.sizer.sent.Y, "reason", reason)
		return nil
	}
	v.notify(Notice{Size: source, Paused: v.state.Paused, Reason: v.state.Reason})
	return nil
}

func (v *video) open(size image.Point) error {
	if v.encoder != nil {
		v.encoder.Close()
	}
	e, err := v.c.Encoder(size)
	if err != nil {
		v.encoder = nil
		return fmt.Errorf("opening an encoder for %dx%d: %w", size.X, size.Y, err)
	}
	v.encoder, v.loaded = e, false
	v.mending.begin(v.frame)
	return nil
}

// noteState passes a change of the source's state on.
func (v *video) noteState() {
	if s := v.c.Pictures.State(); s != v.state {
		v.state = s
		v.notify(Notice{Paused: s.Paused, Reason: s.Reason})
	}
}

// notify hands a notice over; the oldest gives way when nobody reads them.
func (v *video) notify(n Notice) {
	for {
		select {
		case v.notices <- n:
			return
		default:
		}
		select {
		case <-v.notices:
		default:
		}
	}
}

// area counts the pixels that changed, at most all of them.
func area(f *gpu.Frame) int {
	whole := f.Size.X * f.Size.Y
	if f.Damage == nil {
		return whole
	}
	sum := 0
	for _, r := range f.Damage {
		r = r.Intersect(f.Bounds())
		sum += r.Dx() * r.Dy()
	}
	return min(sum, whole)
}
