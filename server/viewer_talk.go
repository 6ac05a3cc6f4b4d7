package server

import (
	"errors"
	"image"
	"time"

	"nearglass/server/session"
	"nearglass/server/transport"
	"nearglass/signaling"
	"nearglass/telemetry"
)

// mostMessages is how many messages a viewer may send within messageWindow. A
// mouse of 1,000 reports a second and two hands on the keys stay below it.
const (
	mostMessages  = 3000
	messageWindow = time.Second
)

// figuresEvery is how often the overlay gets the host's figures.
const figuresEvery = time.Second

// say sends a message on the control channel. A viewer without one (a WHEP
// player) is not told; one that does not read its messages is given up.
func (v *viewer) say(m signaling.Message) {
	data, err := signaling.Encode(m)
	if err != nil {
		v.log.Error("encoding a message", "type", m.MessageType(), "err", err)
		return
	}
	if err := v.peer.Send(signaling.ControlChannel, data); errors.Is(err, transport.ErrBacklog) {
		v.end(err)
	}
}

// greet tells a viewer that opened the control channel where it is.
func (v *viewer) greet(label string) {
	if label != signaling.ControlChannel {
		return
	}
	v.say(signaling.Stream{ID: v.recorder.id, Trace: v.host.cfg.LogFrames})
	v.sayWatching(*v.size.Load())
	state := v.reader.State()
	v.sayState(session.Notice{Paused: state.Paused, Reason: state.Reason})
	v.sayPath()
	select {
	case v.hasControl <- struct{}{}:
	default:
	}
}

func (v *viewer) sayWatching(size image.Point) {
	s := v.stage.source()
	v.say(signaling.Watching{
		ID: s.ID, Title: s.Title, Kind: string(s.Kind),
		Width: size.X, Height: size.Y, Rights: string(v.grant.Rights),
	})
}

func (v *viewer) sayState(n session.Notice) {
	if n.Paused {
		v.say(signaling.State{State: "paused", Reason: n.Reason})
		return
	}
	v.say(signaling.State{State: "live"})
}

// notices passes changes of size and state on.
func (v *viewer) notices() {
	for {
		select {
		case <-v.ctx.Done():
			return
		case n := <-v.session.Notices():
			v.recordNotice(n)
			if n.Size != (image.Point{}) {
				v.size.Store(&n.Size)
				v.sayWatching(n.Size)
			}
			v.sayState(n)
		}
	}
}

// figures sends the host's side of the overlay while it is open.
func (v *viewer) figures() {
	for {
		select {
		case <-v.ctx.Done():
			return
		case <-v.statsOn:
		}
		v.figuresWhileOn()
	}
}

func (v *viewer) figuresWhileOn() {
	tick := time.NewTicker(figuresEvery)
	defer tick.Stop()
	for v.wantStats.Load() {
		v.say(signaling.Stats{Figures: v.snapshot()})
		select {
		case <-v.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// snapshot is the stream's figures with the road that its packets take.
func (v *viewer) snapshot() telemetry.Snapshot {
	s := v.meter.Snapshot(time.Now())
	s.Second = v.newest.Load()
	if r, ok := v.roads.now(); ok {
		s.Route, s.RouteUnknown = r.path.Words(), r.path.Unknown
	}
	return s
}

// messages takes what the viewer says. One message at a time: what a person
// did first happens first.
func (v *viewer) messages() {
	var start time.Time
	count := 0
	for {
		select {
		case <-v.ctx.Done():
			return
		case m := <-v.peer.Messages():
			if now := time.Now(); now.Sub(start) > messageWindow {
				start, count = now, 0
			}
			if count++; count > mostMessages {
				v.end(errTooMany)
				return
			}
			v.message(m)
		}
	}
}

// message takes one message. What is malformed or not allowed has no effect.
func (v *viewer) message(m transport.Message) {
	if m.Label == signaling.FramesChannel {
		v.confirm(m.Data)
		return
	}
	msg, err := signaling.Decode(m.Label, m.Data)
	if err != nil {
		v.log.Debug("message refused", "err", err)
		return
	}
	if !v.grant.Allows(msg.MessageType()) {
		v.log.Debug("message not allowed", "type", msg.MessageType(), "rights", v.grant.Rights)
		return
	}
	switch msg := msg.(type) {
	case signaling.Ping:
		v.say(signaling.Pong{T: msg.T, Host: v.recorder.at(time.Now())})
	case signaling.Hidden:
		if msg.Hidden {
			v.hands.release()
		}
		v.session.SetHidden(msg.Hidden)
		v.recordHidden(msg.Hidden)
	case signaling.WantStats:
		v.setStats(msg.On)
	case signaling.Shown:
		v.meter.Shown(telemetry.Shown{
			RTP: msg.RTP, ReceivedT: msg.Received, DecodingT: msg.Decoding, DecodedT: msg.Decoded, ShownT: msg.Shown,
		})
	case signaling.Mark:
		v.mark = &msg
	default:
		v.act(msg)
	}
}

// confirm takes the viewer's word for what it shows.
func (v *viewer) confirm(data []byte) {
	timestamps, err := signaling.DecodeHave(data)
	if err != nil {
		v.log.Debug("message refused", "err", err)
		return
	}
	v.session.Confirm(timestamps)
}

func (v *viewer) setStats(on bool) {
	v.wantStats.Store(on)
	if !on {
		return
	}
	select {
	case v.statsOn <- struct{}{}:
	default:
	}
}

// act lets the viewer's hands do something.
func (v *viewer) act(m signaling.Message) {
	if err := v.hands.do(m, *v.size.Load()); err != nil {
		v.log.Debug("input had no effect", "type", m.MessageType(), "err", err)
	}
	if v.mark != nil && v.marking.CompareAndSwap(false, true) {
		go v.find(*v.mark, v.hands.done())
	}
	v.mark = nil
}

// effectTime is how long an input may take to be seen before it is taken to have
// no effect.
const effectTime = 2 * time.Second

// find tells the viewer which picture is the first after its marked input. A
// display server that hangs is waited for, and nobody waits for this.
func (v *viewer) find(m signaling.Mark, done <-chan uint64) {
	defer v.marking.Store(false)
	var number uint64
	select {
	case number = <-done:
	case <-v.ctx.Done():
	}
	if number == 0 {
		return
	}
	limit := time.NewTimer(effectTime)
	defer limit.Stop()
	select {
	case rtp := <-v.session.FirstWith(number):
		v.say(signaling.Marked{N: m.N, RTP: rtp})
	case <-limit.C:
	case <-v.ctx.Done():
	}
}
