package transport

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/pion/rtcp"

	"nearglass/cc"
)

// TestReorderedPacketsAreNoLosses follows a packet that the viewer first misses
// and then gets, with the two reports arriving in either order.
func TestReorderedPacketsAreNoLosses(t *testing.T) {
	missing := marshal(t, feedbackFor(1, 100, []int64{0, -1, 1000}))
	// libwebrtc and pion report from the packet that came late on: 2 came
	// 2 ms after 1, and so before the 3 that was reported with it.
	late := marshal(t, feedbackFor(2, 100, []int64{2000}))
	const base = 100 * 64 * time.Millisecond
	for _, c := range []struct {
		name    string
		reports [][]byte
		want    []cc.Ack
	}{
		{"missing, then there", [][]byte{missing, late}, []cc.Ack{
			{Sequence: 1}, {Sequence: 2, Lost: true}, {Sequence: 3, Arrived: time.Millisecond},
			{Sequence: 2, Arrived: 2 * time.Millisecond}}},
		{"the reports swapped", [][]byte{late, missing}, []cc.Ack{
			{Sequence: 2, Arrived: 2 * time.Millisecond}, {Sequence: 1}, {Sequence: 3, Arrived: time.Millisecond}}},
		{"both in one packet", [][]byte{slices.Concat(missing, late)}, []cc.Ack{
			{Sequence: 1}, {Sequence: 2, Lost: true}, {Sequence: 2, Arrived: 2 * time.Millisecond},
			{Sequence: 3, Arrived: time.Millisecond}}},
		{"beside a broken part", [][]byte{slices.Concat(marshal(t, feedbackFor(9, 1, []int64{0}))[:4], []byte{0, 0, 0, 0}, late)}, nil},
	} {
		p := boundPeer(t, discard)
		send(t, p, 5, 0)
		p.rtcp.arrival = arrivalClock{begun: true}
		var got []cc.Ack
		for _, report := range c.reports {
			f, _ := p.rtcp.read(time.Now(), mediaSSRC, report)
			for _, a := range f.Acks {
				if !a.Lost {
					a.Arrived -= base
				}
				got = append(got, a)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// absurd is a report of 65535 packets in so many chunks, with deltas for some.
func absurd(chunk uint16, chunks, deltas int) []byte {
	b := make([]byte, (feedbackHeaderBytes+2*chunks+deltas+3)&^3)
	b[0], b[1] = 0x80|rtcp.FormatTCC, byte(rtcp.TypeTransportSpecificFeedback)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)/4-1))
	binary.BigEndian.PutUint32(b[8:], mediaSSRC)
	binary.BigEndian.PutUint16(b[12:], 1)
	binary.BigEndian.PutUint16(b[14:], 0xffff)
	for i := range chunks {
		binary.BigEndian.PutUint16(b[feedbackHeaderBytes+2*i:], chunk)
	}
	return b
}

// TestAbsurdFeedbackCostsNothing: what a report claims must not cost memory;
// what it says of packets that were sent may.
func TestAbsurdFeedbackCostsNothing(t *testing.T) {
	p := boundPeer(t, discard)
	send(t, p, 20_000, 0)
	for _, c := range []struct {
		name   string
		raw    []byte
		bytes  uint64
		wanted int // acknowledgements at most
	}{
		{"65535 arrived, with no arrivals", absurd(0x3fff, 9, 0), 0, 0},
		{"65535 arrived later, with few arrivals", absurd(0x5fff, 9, 1000), 0, 0},
		{"chunks for nothing", absurd(0x2000, 600, 0), 0, 0},
		{"65535 lost", absurd(0x1fff, 9, 0), 1 << 20, sendRecords},
		{"cut short", absurd(0x1fff, 9, 0)[:30], 0, 0},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, _ := p.rtcp.read(time.Now(), mediaSSRC, c.raw)
		runtime.ReadMemStats(&after)
		// A few kilobytes come from what else the test binary does.
		if used := after.TotalAlloc - before.TotalAlloc; used > c.bytes+8192 || len(f.Acks) > c.wanted {
			t.Errorf("%s: %d acknowledgements, %d bytes allocated", c.name, len(f.Acks), used)
		}
	}
}

// FuzzTransportFeedback holds the reading of transport feedback to pion's: what
// that accepts must be read, and alike.
func FuzzTransportFeedback(f *testing.F) {
	f.Add(marshal(f, feedbackFor(10, 1, []int64{0, 250, -1, 63_750})))
	f.Add(marshal(f, feedbackFor(65_535, 0xffffff, []int64{-1, -1, 0})))
	vectors := feedbackFor(10, 1, nil)
	vectors.PacketStatusCount, vectors.PacketChunks = 9, []rtcp.PacketStatusChunk{
		&rtcp.StatusVectorChunk{SymbolSize: rtcp.TypeTCCSymbolSizeTwoBit, SymbolList: []uint16{0, 1, 2, 3, 0, 1, 0}},
		&rtcp.StatusVectorChunk{SymbolSize: rtcp.TypeTCCSymbolSizeOneBit, SymbolList: []uint16{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	}
	for _, d := range []int64{250, -500, 0, 250} {
		symbol := rtcp.TypeTCCPacketReceivedSmallDelta
		if d < 0 {
			symbol = rtcp.TypeTCCPacketReceivedLargeDelta
		}
		vectors.RecvDeltas = append(vectors.RecvDeltas, &rtcp.RecvDelta{Type: symbol, Delta: d})
	}
	vectors.Header.Length = 7
	f.Add(marshal(f, vectors))
	f.Add(absurd(0x3fff, 9, 0))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var theirs rtcp.TransportLayerCC
		if len(raw) < 4 || !isTransportFeedback(raw) || theirs.Unmarshal(raw) != nil {
			return
		}
		raw = raw[:4*(int(theirs.Header.Length)+1)]
		ours, ok := readTransportFeedback(raw)
		if !ok || ours.base != theirs.BaseSequenceNumber || ours.count != int(theirs.PacketStatusCount) ||
			ours.reference != theirs.ReferenceTime || len(ours.chunks) != 2*len(theirs.PacketChunks) {
			t.Fatalf("read %+v, %v\npion %+v", ours, ok, theirs)
		}
		left := ours.count
		for i := 0; left > 0; i++ {
			c := statusChunk(binary.BigEndian.Uint16(ours.chunks[2*i:]))
			n := min(c.len(), left)
			left -= n
			for k := range n {
				if deltaBytes(c.symbol(k)) == 0 {
					continue
				}
				want := theirs.RecvDeltas[0]
				theirs.RecvDeltas = theirs.RecvDeltas[1:]
				if got := ours.nextDelta(c.symbol(k)); c.symbol(k) != want.Type || got != time.Duration(want.Delta)*time.Microsecond {
					t.Fatalf("chunk %d, packet %d: state %d, %v after the one before; pion %+v", i, k, c.symbol(k), got, want)
				}
			}
		}
		if len(theirs.RecvDeltas) != 0 {
			t.Fatalf("pion has %d arrivals more", len(theirs.RecvDeltas))
		}
	})
}
