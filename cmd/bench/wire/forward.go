package wire

import (
	"time"

	"nearglass/cc/sim"
)

// direction carries packets one way: it holds their bytes while a simulated
// link decides when, and whether, they arrive.
type direction struct {
	link   *sim.Link
	begun  time.Time
	bytes  [][]byte // by packet ID; nil once it has left
	spare  [][]byte // bytes to use again
	log    []Packet // by packet ID, as in bytes
	listen bool     // keep the log
}

// logRoom spares the forwarding thread most copying of a log that grows: it is
// a minute at 20 Mbit/s.
const logRoom = 1 << 17

func newDirection(now time.Time, c sim.LinkConfig, seed uint64, listen bool) *direction {
	d := &direction{link: sim.NewLink(c, seed), begun: now, listen: listen}
	if listen {
		d.log, d.bytes = make([]Packet, 0, logRoom), make([][]byte, 0, logRoom)
	}
	return d
}

// take gives the link a packet that was read at now. It copies it.
func (d *direction) take(now time.Time, b []byte) {
	p := read(b)
	p.In = now.Sub(d.begun)
	id := len(d.bytes)
	dropped := d.link.Send(now, sim.Packet{Flow: p.flow(), Size: p.Size, ID: uint64(id)})
	var held []byte
	if !dropped {
		if n := len(d.spare); n > 0 {
			held, d.spare = d.spare[n-1], d.spare[:n-1]
		}
		held = append(held[:0], b...)
	}
	d.bytes = append(d.bytes, held)
	if d.listen {
		p.Tail = dropped
		d.log = append(d.log, p)
	}
}

// due hands on what has arrived by now. A packet that the far end refuses is
// gone, as on any link.
func (d *direction) due(now time.Time, write func([]byte) error) {
	for {
		a, ok := d.link.Receive(now)
		if !ok {
			return
		}
		b := d.bytes[a.ID]
		d.bytes[a.ID] = nil
		_ = write(b)
		d.spare = append(d.spare, b)
		if d.listen {
			p := &d.log[a.ID]
			p.Out, p.Found, p.Late = a.At.Sub(d.begun), a.Found, now.Sub(a.At)
		}
	}
}
