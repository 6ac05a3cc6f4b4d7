package server

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"nearglass/gpu"
	"nearglass/gpu/capture"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/h264"
	"nearglass/server/access"
	"nearglass/server/session"
	"nearglass/server/timer"
	"nearglass/server/transport"
	"nearglass/signaling"
	"nearglass/telemetry"
)

// Times of a viewer's life.
const (
	connectTime = 20 * time.Second       // from the answer until media can flow
	goodbyeTime = 150 * time.Millisecond // for the last message to leave
)

// Reasons for which a stream ends, worded for the person who watches.
var (
	errRevoked    = errors.New("this device may no longer watch: it was removed on the host")
	errNoConnect  = errors.New("no connection came about: the host's UDP port may be blocked on the way")
	errTooMany    = errors.New("the viewer sent more messages than anyone can type")
	errViewerLeft = errors.New("the viewer left")
	// errStopped is no end of the source: the viewer tries again, and goes on
	// when the host was only restarted.
	errStopped = errors.New("the host was stopped")
)

// viewer is one stream to one viewer: it joins the viewer's connection with a
// session, and its messages with pointer, keyboard and figures.
type viewer struct {
	host     *Host
	log      *slog.Logger
	grant    access.Grant
	stage    *stage
	reader   *gpu.Reader
	peer     *transport.Peer
	session  *session.Session
	meter    *telemetry.Meter
	hands    hands
	recorder *recorder
	newest   atomic.Pointer[telemetry.HostSecond] // the last second of the stream
	roads    roads
	drawn    bool // the viewer draws the pointer itself

	ctx       context.Context
	end       context.CancelCauseFunc
	done      chan struct{}
	parts     sync.WaitGroup
	size      atomic.Pointer[image.Point] // of the pictures
	wantStats atomic.Bool
	mark      *signaling.Mark // the next input is to be found in a picture; of messages alone
	marking   atomic.Bool     // one is looked for
	paused    atomic.Bool     // the viewer was told so
	statsOn   chan struct{}   // signalled when the figures are wanted
	// hasControl is signalled when the viewer has opened the control channel.
	hasControl chan struct{}
}

// Open starts a stream and answers the viewer's offer.
func (h *Host) Open(ctx context.Context, r signaling.Request) (signaling.Session, string, error) {
	grant := grantOf(r.Viewer)
	if !grant.MayView() {
		return nil, "", fmt.Errorf("%w: this device has no right to watch", signaling.ErrNotPaired)
	}
	st, reader, err := h.stages.join(ctx, stageKey{r.Source, r.PointerInVideo}, h.cfg.FPS)
	if err != nil {
		return nil, "", forSignaling(err)
	}
	v, answer, err := h.connect(ctx, r, grant, st, reader)
	if err != nil {
		reader.Close()
		h.stages.leave(st)
		return nil, "", err
	}
	go v.run()
	return v, answer, nil
}

// connect makes the viewer's connection and answers its offer.
func (h *Host) connect(ctx context.Context, r signaling.Request, grant access.Grant, st *stage, reader *gpu.Reader) (*viewer, string, error) {
	h.paths.Warm(time.Now())
	peer, err := h.endpoint.NewPeer(transport.PeerConfig{HighProfile: h.cfg.Profile != "baseline", NoDependency: !session.Repair(h.cfg.Repair).ByReference()})
	if err != nil {
		return nil, "", fmt.Errorf("making a connection: %w", err)
	}
	answer, err := peer.Answer(ctx, r.Offer)
	if err != nil {
		return nil, "", errors.Join(offerError(err), peer.Close())
	}
	now := time.Now()
	v := &viewer{
		host: h, grant: grant, stage: st, reader: reader, peer: peer, drawn: !r.PointerInVideo,
		log:   h.log.With("device", grant.DeviceID, "source", r.Source),
		meter: telemetry.NewMeter(now), recorder: newRecorder(now), done: make(chan struct{}),
		statsOn: make(chan struct{}, 1), hasControl: make(chan struct{}, 1),
		roads: roads{moved: make(chan struct{}, 1)},
	}
	if h.cfg.LogFrames {
		v.meter.Trace()
	}
	v.log = v.log.With("stream", v.recorder.id)
	size := st.place().Size
	v.size.Store(&size)
	v.hands = h.handsFor(st)
	v.ctx, v.end = context.WithCancelCause(context.Background())
	if v.session, err = session.New(h.sessionConfig(v)); err != nil {
		return nil, "", errors.Join(err, peer.Close())
	}
	if !h.admit(v) {
		return nil, "", errors.Join(fmt.Errorf("%w: the host is stopping", signaling.ErrUnavailable), peer.Close())
	}
	return v, answer, nil
}

// offerError puts a refusal of the transport into the words of the HTTP side.
func offerError(err error) error {
	switch {
	case errors.Is(err, transport.ErrNoH264):
		return sorted{signaling.ErrNoH264, err}
	case errors.Is(err, transport.ErrBadOffer):
		return sorted{signaling.ErrOffer, err}
	}
	return err
}

func (h *Host) sessionConfig(v *viewer) session.Config {
	profile := h264.ConstrainedBaseline
	if v.peer.Profile() == transport.High {
		profile = h264.High
	}
	return session.Config{
		Peer: v.peer, Feedback: v.peer.Feedback(), NoRTX: !v.peer.RTX(), Gaps: v.peer.Dependency(), Repair: session.Repair(h.cfg.Repair), Pictures: v.reader,
		Bitrate: h.cfg.Bitrate, MaxBitrate: h.cfg.MaxBitrate, MaxAverage: h.cfg.MaxAverage, Recall: v.recall,
		Encoder: func(size image.Point) (encode.Encoder, error) {
			c := encode.Config{Size: size, FPS: h.cfg.FPS, Profile: profile, Preset: h.cfg.Preset, PSNR: h.cfg.PSNR, Control: controls[h.cfg.RateControl]}
			if v.peer.Dependency() {
				c.Gaps, c.References = true, encode.MostReferences(size)
			}
			return encode.Open(c)
		},
		ByEncoder: controls[h.cfg.RateControl] != encode.ByOrder, RedoEvery: h.cfg.RedoEvery,
		FPS: h.cfg.FPS, QP: h.cfg.sharpest(), FullSize: h.cfg.FullSize, Meter: v.meter, Log: v.log,
		Alarm: openAlarm,
	}
}

// openAlarm is timer.NewAlarm as a session takes it.
func openAlarm() (session.Alarm, error) {
	a, err := timer.NewAlarm()
	if err != nil {
		return nil, err // and not an Alarm that holds a nil
	}
	return a, nil
}

// Restart answers a second offer of the viewer (ICE restart).
func (v *viewer) Restart(ctx context.Context, offer string) (string, error) {
	answer, err := v.peer.Answer(ctx, offer)
	if err != nil {
		return "", offerError(err)
	}
	v.recorder.event(telemetry.Event{Name: telemetry.EventRestart})
	v.session.Resume()
	return answer, nil
}

// Trickle takes candidates of the viewer.
func (v *viewer) Trickle(fragment string) error {
	if err := v.peer.AddCandidate(fragment); err != nil {
		return sorted{signaling.ErrOffer, err}
	}
	return nil
}

// Close ends the stream. The viewer is told the reason.
func (v *viewer) Close(reason string) { v.end(errors.New(reason)) }

// Done is closed when the stream has ended.
func (v *viewer) Done() <-chan struct{} { return v.done }

// run lives as long as the stream.
func (v *viewer) run() {
	defer v.host.dismiss(v)
	defer close(v.done)
	v.log.Info("viewer answered", "rights", v.grant.Rights, "profile", v.peer.Profile().String())
	connected := make(chan struct{})
	v.parts.Go(func() { v.events(connected) })
	v.parts.Go(v.messages)
	v.parts.Go(v.notices)
	v.parts.Go(v.figures)
	v.parts.Go(v.record)
	v.parts.Go(v.followRoad)
	v.parts.Go(func() { v.stream(connected) })
	if v.drawn {
		v.parts.Go(v.pointer)
	}
	select {
	case <-v.ctx.Done():
	case <-v.host.store.Watch(v.grant.DeviceID):
		v.end(errRevoked)
	}
	v.finish(context.Cause(v.ctx))
}

// finish lets go of everything, input first.
func (v *viewer) finish(reason error) {
	v.hands.release()
	if !errors.Is(reason, errStopped) {
		v.say(signaling.State{State: "ended", Reason: words(reason)})
	}
	v.say(signaling.Bye{Reason: words(reason)})
	time.Sleep(goodbyeTime)
	_ = v.peer.Close()
	v.parts.Wait()
	v.hands.release() // what a message did between the first release and its end
	v.reader.Close()
	v.host.stages.leave(v.stage)
	v.log.Info("viewer ended", "reason", reason, "pictures", v.meter.Snapshot(time.Now()).Encoded)
}

// words are what a viewer reads of an error.
func words(err error) string {
	if errors.Is(err, capture.ErrClosed) {
		return capture.ErrClosed.Error()
	}
	return err.Error()
}

// stream runs the session once the connection is up.
func (v *viewer) stream(connected <-chan struct{}) {
	wait := time.NewTimer(connectTime)
	defer wait.Stop()
	select {
	case <-connected:
	case <-wait.C:
		v.end(errNoConnect)
	case <-v.ctx.Done():
	}
	if v.ctx.Err() != nil {
		return
	}
	release, err := timer.Hold()
	defer release()
	if err != nil {
		v.log.Warn("timers stay coarse: the stream is less smooth", "err", err)
		v.recorder.event(telemetry.Event{Name: telemetry.EventError, Reason: "timers stay coarse: the stream is less smooth"})
	}
	if err := v.session.Run(v.ctx); err != nil {
		v.end(err)
	}
	v.remember()
}

// events follows the connection.
func (v *viewer) events(connected chan struct{}) {
	first := true
	for e := range v.peer.Events() {
		v.log.Debug("connection", "event", e.Kind.String(), "label", e.Label, "reason", e.Reason)
		switch e.Kind {
		case transport.Connected:
			v.recorder.event(telemetry.Event{Name: telemetry.EventConnected})
			if first {
				close(connected)
			} else {
				v.session.Resume()
			}
			first = false
		case transport.Disconnected:
			v.recorder.event(telemetry.Event{Name: telemetry.EventDisconnect, Reason: e.Reason})
			v.hands.release()
			v.remember()
		case transport.ChannelOpen:
			v.greet(e.Label)
		case transport.Moved:
			v.noteMove()
		case transport.Closed:
			v.end(errors.New(e.Reason))
		}
	}
	v.end(errViewerLeft)
}
