package telemetry

import (
	"testing"
	"time"
)

// A stream of 60 pictures a second and 8 Mbit/s.
const (
	picturesPerSecond = 60
	packetsPerPicture = 14
	reportsPerSecond  = 20
)

// play counts one second of a stream, as a session does it.
func (c *clockwork) play() HostSecond {
	for i := range picturesPerSecond {
		c.Taken(c.frame+1, 0.5)
		c.picture(Picture{Width: 1920, Height: 1080, QP: 24, SizeBytes: 16_000})
		for range packetsPerPicture - 4 {
			c.Sent(c.after(10), 1200, false, false)
		}
		if i%(picturesPerSecond/reportsPerSecond) == 0 {
			c.Report(c.now, Report{Acked: packetsPerPicture * 3, Large: 40})
			c.Path(20*time.Millisecond, 0)
			c.Control(Control{TargetKbps: 8000, PaceKbps: 20_000, PathKbps: 9000, State: "steady", Reason: "what the path carries"})
		}
		t := milliseconds(c.now.Sub(c.zero))
		c.Shown(Shown{RTP: uint32(c.now.Sub(c.zero) * 9 / 100000), ReceivedT: t + 30, DecodingT: t + 31, DecodedT: t + 34, ShownT: t + 40})
		c.now = c.now.Add(time.Second / picturesPerSecond)
	}
	return c.Second(c.now)
}

// viewerSecond is as much as a viewer says of one.
func viewerSecond(t float64) ViewerSecond {
	spread := &Spread{60, 1.25, 2.5, 10}
	yes := true
	return ViewerSecond{Record: KindSecond, T: t, SpanMs: 1000, WallMs: 1.8e12 + t, State: "live", Width: 1920, Height: 1080,
		Clock: &Clock{OffsetMs: 1234.56, BoundMs: 0.8, RTTMs: 12.4, Pings: 1, DownMs: 6.2, UpMs: 6.2},
		Delay: Delay{Buffer: spread, Decode: spread, Present: spread, Arrive: spread, Total: spread}, Input: spread,
		Frames: ViewerFrames{Received: 60, Decoded: 60, Shown: 59, Gap: 18.4, Decoder: "FFmpeg", Efficient: &yes, AssembledMs: 2.1},
		Net:    ViewerNet{Kbps: 8123.45, Packets: 840, JitterMs: 1.5, RTTMs: 12.4, BufferMs: 1.1, LocalType: "host", RemoteType: "prflx"},
		QP:     24.1, Device: &Device{Network: "wifi", RefreshHz: 60}}
}

// BenchmarkLogOfASecond is all that a host does for the log of one second of a
// stream at 60 pictures a second: it counts, makes the record and writes it, and
// takes a fifth of the five seconds that a viewer sends at a time. Nanoseconds
// here are billionths of a core; %core says the same.
func BenchmarkLogOfASecond(b *testing.B) {
	s := OpenStore(b.TempDir(), Limits{})
	c := newClockwork()
	w := begin(b, s, c.now, stream1)
	if _, err := s.Accept(c.now, stream1, "d1", 0, viewerLines(b, 0, 1)); err != nil {
		b.Fatal(err)
	}
	var waiting []byte
	sent := 1
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		second := c.play()
		if err := w.Write(second); err != nil {
			b.Fatal(err)
		}
		var err error
		if waiting, err = AppendLine(waiting, viewerSecond(second.T)); err != nil {
			b.Fatal(err)
		}
		if n%5 == 4 {
			if sent, err = s.Accept(c.now, stream1, "d1", sent, waiting); err != nil {
				b.Fatal(err)
			}
			waiting = waiting[:0]
		}
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N), "%core")
}

// A packet costs the log no allocation and no record.
func TestPacketsAreOnlyCounted(t *testing.T) {
	c := newClockwork()
	if n := testing.AllocsPerRun(1000, func() { c.Sent(c.now, 1200, false, false) }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}

// A day of full motion stays within the default bounds at both ends, and its first
// and its last second are still there. Every eighth second is written, into files
// an eighth as large.
func TestADayOfFullMotion(t *testing.T) {
	const day, every = 24 * 3600, 8
	s := OpenStore(t.TempDir(), Limits{PartBytes: defaultPartBytes / every})
	host := begin(t, s, day0, stream1)
	viewer, err := s.Begin(day0, Header{Stream: stream1, Side: ViewerSide, Device: "d1"})
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.Close()
	second := newClockwork().play()
	for i := every; i <= day; i += every {
		second.T = float64(i) * 1000
		write(t, host, second)
		write(t, viewer, viewerSecond(second.T))
	}
	list, err := s.List()
	if most := int64(2 * defaultParts * defaultPartBytes / every); err != nil || len(list) != 1 || list[0].SizeBytes > most {
		t.Fatalf("%+v, %v; the most is %d bytes", list, err, most)
	}
	t.Logf("a day takes %.1f MB", float64(every*list[0].SizeBytes)/1e6)
	l, err := s.Read(stream1, HostSide)
	if err != nil || l.Unread != 0 || l.Host[0].T != every*1000 || l.Host[len(l.Host)-1].T != day*1000 {
		t.Errorf("the host's: %d seconds, %d lines unread, %v", len(l.Host), l.Unread, err)
	}
	l, err = s.Read(stream1, ViewerSide)
	if err != nil || l.Unread != 0 || l.Viewer[0].T != every*1000 || l.Viewer[len(l.Viewer)-1].T != day*1000 {
		t.Errorf("the viewer's: %d seconds, %d lines unread, %v", len(l.Viewer), l.Unread, err)
	}
}
