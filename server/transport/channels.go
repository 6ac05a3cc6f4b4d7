package transport

import (
	"fmt"

	"github.com/pion/webrtc/v4"
)

// Labels of the data channels, all made by the viewer.
const (
	labelControl = "control" // ordered, reliable, both ways
	labelInput   = "input"   // ordered, reliable, from the viewer
	labelPointer = "pointer" // unordered, not repeated, to the viewer
	labelFrames  = "frames"  // unordered, not repeated, from the viewer
)

const (
	// pointerBacklogBytes is where pointer positions are dropped: what
	// waits behind that much is too old to draw.
	pointerBacklogBytes = 64 << 10
	// controlBacklogBytes is where a viewer that takes nothing is given up.
	// The largest messages are pointer shapes of some tens of kilobytes.
	controlBacklogBytes = 4 << 20
)

// onChannel takes a data channel of the viewer, the first of each label, and
// refuses all else.
func (p *Peer) onChannel(dc *webrtc.DataChannel) {
	label := dc.Label()
	known := label == labelControl || label == labelInput || label == labelPointer || label == labelFrames
	p.mu.Lock()
	_, taken := p.channels[label]
	if known && !taken {
		p.channels[label] = dc
	}
	p.mu.Unlock()
	if !known || taken {
		p.log.Debug("data channel refused", "label", label, "duplicate", taken)
		if err := dc.Close(); err != nil {
			p.log.Debug("closing a data channel failed", "label", label, "error", err)
		}
		return
	}
	dc.OnOpen(func() { p.emit(Event{Kind: ChannelOpen, Label: label}) })
	dc.OnClose(func() { p.dropChannel(label, dc) })
	dc.OnMessage(func(m webrtc.DataChannelMessage) { p.onMessage(label, m) })
}

func (p *Peer) dropChannel(label string, dc *webrtc.DataChannel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.channels[label] == dc {
		delete(p.channels, label)
	}
}

// onMessage runs on the channel's reader. Blocking it holds up the viewer by
// SCTP's receive window, so a flood costs the viewer and not the host.
func (p *Peer) onMessage(label string, m webrtc.DataChannelMessage) {
	if !m.IsString || len(m.Data) > MaxMessageBytes || label == labelPointer {
		p.log.Debug("message refused", "label", label, "bytes", len(m.Data), "text", m.IsString)
		return
	}
	select {
	case p.messages <- Message{Label: label, Data: m.Data}:
	case <-p.done:
	}
}

// Send sends a text message on one of the viewer's channels. On "pointer" it
// silently drops what the path cannot take; elsewhere it answers ErrBacklog
// when the viewer does not take its messages.
func (p *Peer) Send(label string, data []byte) error {
	p.mu.Lock()
	dc := p.channels[label]
	p.mu.Unlock()
	if dc == nil || dc.ReadyState() != webrtc.DataChannelStateOpen {
		return fmt.Errorf("send on %q: %w", label, ErrNotOpen)
	}
	backlog := dc.BufferedAmount()
	switch {
	case label == labelPointer && backlog > pointerBacklogBytes:
		return nil
	case backlog > controlBacklogBytes:
		return fmt.Errorf("send on %q: %w", label, ErrBacklog)
	}
	if err := dc.SendText(string(data)); err != nil {
		return fmt.Errorf("send on %q: %w", label, err)
	}
	return nil
}
