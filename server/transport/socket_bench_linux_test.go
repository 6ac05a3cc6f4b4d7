package transport

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkSocket is what it costs to hand a packet of 1200 bytes to the kernel,
// in each of the ways that there are: a burst of 64, and 5 packets each
// millisecond as a paced stream of 50 Mbit/s sends them. The ways take turns, so
// that their ratios hold on a busy machine; a figure is the median of its turns.
// Nobody reads at the other end: a packet costs the sender what it costs, and
// waking a reader on this machine, which no network card has to, is not counted.
// Loopback cuts the segments of "gso" in software, as the kernel does for a card
// that cannot; "gso-card" leaves them whole, as for a card that can.
func BenchmarkSocket(b *testing.B) {
	b.Run("Burst", func(b *testing.B) { socketCost(b, batchPackets, 0) })
	b.Run("Paced", func(b *testing.B) { socketCost(b, 5, time.Millisecond) })
}

// way is one way to send.
type way struct {
	name string
	mode sendMode
	to   netip.AddrPort
}

func ways(b *testing.B) []way {
	to, card := newReceiver(b, "udp4"), newReceiver(b, "udp4")
	raw, err := card.conn.SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_GRO, 1) }); err != nil {
		b.Fatal(err)
	}
	list := []way{{"sendto", sendEach, to.addr}, {"sendmmsg", sendMany, to.addr}, {"gso", sendSegments, to.addr}}
	list = list[:len(modes())]
	if err == nil && bestSendMode() == sendSegments {
		list = append(list, way{"gso-card", sendSegments, card.addr})
	}
	return list
}

func socketCost(b *testing.B, count int, tick time.Duration) {
	p := packet(1, packetBytes)
	list := ways(b)
	costs := make([][]time.Duration, len(list))
	s, collect := newTestSocket(b, "udp4", sendEach), newTestBatch()
	for b.Loop() {
		for i, w := range list {
			time.Sleep(tick)
			start := time.Now()
			s.mode = w.mode
			for range count {
				if w.mode == sendEach { // as it was before there were batches
					_, _ = s.WriteToUDPAddrPort(p, w.to)
					continue
				}
				collect.begin(time.Time{})
				collect.add(s, p, w.to)
			}
			_ = collect.flush()
			costs[i] = append(costs[i], time.Since(start))
		}
	}
	base := perPacket(costs[0], count)
	for i, w := range list {
		cost := perPacket(costs[i], count)
		b.ReportMetric(cost, w.name+"-ns/packet")
		b.ReportMetric(cost/base, w.name+"/sendto")
	}
	b.ReportMetric(0, "ns/op")
}

// perPacket is the median cost of a packet in nanoseconds.
func perPacket(costs []time.Duration, count int) float64 {
	slices.Sort(costs)
	return float64(costs[len(costs)/2]) / float64(count)
}
