package wire

import (
	"encoding/binary"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

var epoch = time.Unix(1_700_000_000, 0)

// packet builds an IPv4 packet with so many bytes of options.
func packet(protocol byte, options int, body []byte) []byte {
	header := make([]byte, 20+options)
	header[0] = 0x40 | byte(len(header)/4)
	header[9] = protocol
	return append(header, body...)
}

func udp(payload ...byte) []byte { return append(make([]byte, 8), payload...) }

func rtp(first, second byte, timestamp, ssrc uint32) []byte {
	b := make([]byte, 32)
	b[0], b[1] = first, second
	binary.BigEndian.PutUint32(b[4:], timestamp)
	binary.BigEndian.PutUint32(b[8:], ssrc)
	return udp(b...)
}

func tcp(from, to uint16) []byte {
	b := make([]byte, 20)
	binary.BigEndian.PutUint16(b, from)
	binary.BigEndian.PutUint16(b[2:], to)
	return b
}

func TestReadTellsPacketsApart(t *testing.T) {
	fragment := packet(17, 0, rtp(0x80, 96, 1, 2))
	fragment[7] = 9
	v6 := packet(17, 0, rtp(0x80, 96, 1, 2))
	v6[0] = 0x60
	for _, c := range []struct {
		name string
		b    []byte
		want Packet
	}{
		{"video", packet(17, 0, rtp(0x80, 0x80|103, 90000, 7)), Packet{Kind: Media, Timestamp: 90000, SSRC: 7}},
		{"video behind IP options", packet(17, 8, rtp(0x90, 96, 5, 6)), Packet{Kind: Media, Timestamp: 5, SSRC: 6}},
		{"feedback", packet(17, 0, rtp(0x8f, 205, 1, 2)), Packet{Kind: Feedback}},
		{"ICE", packet(17, 0, udp(make([]byte, 40)...)), Packet{}},
		{"DTLS", packet(17, 0, rtp(22, 254, 0, 0)), Packet{}},
		{"UDP without content", packet(17, 0, udp()), Packet{}},
		{"bulk", packet(6, 0, tcp(40000, BulkPort)), Packet{Kind: Bulk}},
		{"bulk's acknowledgements", packet(6, 0, tcp(BulkPort, 40000)), Packet{Kind: Bulk}},
		{"HTTP", packet(6, 0, tcp(40000, 7433)), Packet{}},
		{"a fragment", fragment, Packet{}},
		{"IPv6", v6, Packet{}},
		{"a header longer than the packet", packet(17, 0, nil)[:20:20], Packet{}},
		{"nothing", nil, Packet{}},
	} {
		c.want.Size = len(c.b)
		if got := read(c.b); got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(packet(17, 0, rtp(0x80, 96, 1, 2)))
	f.Add(packet(6, 40, tcp(1, BulkPort)))
	f.Add([]byte{0x4f})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := read(b)
		if p.Size != len(b) || p.Kind > Bulk || p.Kind != Media && (p.SSRC != 0 || p.Timestamp != 0) {
			t.Errorf("%x: %+v", b, p)
		}
	})
}

// TestDirectionShapes sends ten packets at once through 1 Mbit/s and 20 ms.
func TestDirectionShapes(t *testing.T) {
	const size = 1000
	each := (1 * rate.Mbps).Duration(size) // 8 ms
	d := newDirection(epoch, sim.LinkConfig{
		Origin: epoch, Rates: []sim.Step{{Rate: rate.Mbps}}, Delay: 20 * time.Millisecond,
		Queue: sim.Queue{Limit: 5 * each},
	}, 1, true)
	buf := make([]byte, size) // used again and again, as the reader does
	for i := range 10 {
		copy(buf, packet(17, 0, rtp(0x80, 96, uint32(i), 7)))
		d.take(epoch, buf)
	}
	var got []byte
	for now := epoch; ; {
		d.due(now, func(b []byte) error { got = append(got, b[35]); return nil })
		if now = d.link.Next(); now.IsZero() {
			break
		}
	}
	// One in service and five behind it; the sixth finds exactly the limit.
	if string(got) != "\x00\x01\x02\x03\x04\x05" {
		t.Fatalf("the packets %v came", got)
	}
	for i, p := range d.log {
		want := time.Duration(i) * each
		switch {
		case i >= len(got):
			if !p.Tail || p.Out != 0 {
				t.Errorf("packet %d beyond the queue: %+v", i, p)
			}
		case p.Found != want || p.Out != want+each+20*time.Millisecond || p.In != 0 || p.Tail || p.Late != 0:
			t.Errorf("packet %d: %+v", i, p)
		}
	}
	if len(d.spare) != len(got) {
		t.Errorf("%d buffers to use again after %d packets", len(d.spare), len(got))
	}
}

// TestDirectionNotesLateness: the fault of a late thread is not the link's.
func TestDirectionNotesLateness(t *testing.T) {
	d := newDirection(epoch, sim.LinkConfig{Origin: epoch, Delay: 20 * time.Millisecond}, 1, true)
	d.take(epoch.Add(time.Second), packet(17, 0, rtp(0x80, 96, 1, 7)))
	d.due(epoch.Add(1021*time.Millisecond), func([]byte) error { return nil })
	want := Packet{Kind: Media, Size: 60, In: time.Second, Out: 1020 * time.Millisecond, Late: time.Millisecond, SSRC: 7, Timestamp: 1}
	if d.log[0] != want {
		t.Errorf("%+v, not %+v", d.log[0], want)
	}
}
