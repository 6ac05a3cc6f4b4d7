package transport

import (
	"net"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtp"
	"golang.org/x/sys/unix"

	"nearglass/pacing"
)

// BenchmarkStack is what a packet costs the sender from the pacer's release into
// the kernel, through SRTP: ours beside pion's default chain
// (RegisterDefaultInterceptors and TrackLocalStaticRTP.WriteRTP). Both send the
// same packets to the same kind of viewer over loopback, in turns; what is
// counted is the processor time of the sending thread, and what the process
// allocates while the viewer has stopped listening.
func BenchmarkStack(b *testing.B) {
	ours, theirs := newOurStack(b), newPionStack(b)
	b.Run("Burst", func(b *testing.B) { stackCost(b, 64, 0, ours, theirs) })
	b.Run("Paced", func(b *testing.B) { stackCost(b, 5, time.Millisecond, ours, theirs) })
}

// stack sends a number of packets.
type stack func(count int)

func stackCost(b *testing.B, count int, tick time.Duration, stacks ...stack) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	costs := make([][]time.Duration, len(stacks))
	for range b.N {
		for i, send := range stacks {
			time.Sleep(tick)
			start := threadTime(b)
			send(count)
			costs[i] = append(costs[i], threadTime(b)-start)
		}
	}
	b.StopTimer()
	var each [2]float64
	for i, name := range []string{"ours", "pion"} {
		each[i] = perPacket(costs[i], count)
		b.ReportMetric(each[i], name+"-ns/packet")
		b.ReportMetric(testing.AllocsPerRun(50, func() { stacks[i](count) })/float64(count), name+"-allocs/packet")
	}
	b.ReportMetric(each[0]/each[1], "ours/pion")
	b.ReportMetric(0, "ns/op")
}

// threadTime is the processor time that this thread has used.
func threadTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// deaf is a viewer's socket that throws away all that comes, once told to.
type deaf struct {
	*net.UDPConn
	on atomic.Bool
}

func (d *deaf) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	for {
		n, from, err := d.ReadFromUDPAddrPort(b)
		if err != nil || !d.on.Load() {
			return n, from, err
		}
	}
}

func (d *deaf) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return d.WriteToUDPAddrPort(b, to)
}

const stackPayload = 1100

func newOurStack(b *testing.B) stack {
	t := &testing.T{}
	e, err := Listen(Config{Addr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	p, err := e.NewPeer(PeerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	socket := &deaf{UDPConn: newReceiver(b, "udp4").conn}
	v := newViewer(t, viewerConfig{socket: socket})
	b.Cleanup(func() { _ = v.pc.Close() })
	v.connect(p)
	socket.on.Store(true)
	pkt := pacing.Packet{Class: pacing.Video, HeadLen: 2, Body: make([]byte, stackPayload-2)}
	return func(count int) {
		now := time.Now()
		for i := range count {
			pkt.Seq++
			pkt.First, pkt.Marker = i == 0, i == count-1
			if _, err := p.Write(now, &pkt); err != nil {
				b.Fatal(err)
			}
		}
		if err := p.Flush(); err != nil {
			b.Fatal(err)
		}
	}
}

func newPionStack(b *testing.B) stack {
	t := &testing.T{}
	pc, track, sender := newPionSender(t)
	b.Cleanup(func() { _ = pc.Close() })
	go func() {
		for buffer := make([]byte, 1500); ; {
			if _, _, err := sender.Read(buffer); err != nil {
				return
			}
		}
	}()
	socket := &deaf{UDPConn: newReceiver(b, "udp4").conn}
	v := newViewer(t, viewerConfig{socket: socket})
	b.Cleanup(func() { _ = v.pc.Close() })
	answerWith(t, v, pc)
	socket.on.Store(true)
	packet := rtp.Packet{Header: rtp.Header{Version: 2}, Payload: make([]byte, stackPayload)}
	return func(count int) {
		for i := range count {
			packet.SequenceNumber++
			packet.Marker = i == count-1
			if err := track.WriteRTP(&packet); err != nil {
				b.Fatal(err)
			}
		}
	}
}
