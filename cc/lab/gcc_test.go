package lab

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"nearglass/cc"
	"nearglass/cc/rate"
)

// pion's gcc reads the clock and works in goroutines of its own. Under
// testing/synctest both are ours: before each call the adapter sleeps until
// the run's time, which costs nothing there, and afterwards it waits until
// gcc's goroutines have come to rest. So the module runs unchanged.
//
// It gets what ours gets: the same source, pacer, link and feedback. Its own
// pacer is replaced by pion's NoOpPacer, and pacing.Pacer releases at 1.5 times
// its estimate, as its LeakyBucketPacer does; that one drops every resend.
// The encoder has the lower bound of the lab; gcc does not keep its own.

// gccPace is LeakyBucketPacer's factor.
const gccPace = 1.5

// Identifiers that mean nothing in the lab.
const (
	gccSSRC      = 1
	gccExtension = 5
	gccURI       = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
)

type gccController struct {
	s      Setup
	bwe    *gcc.SendSideBWE
	writer interceptor.RTPWriter
}

// pionGCC makes gcc controllers and closes them at the end of a bubble.
type pionGCC struct{ made []*gccController }

func (p *pionGCC) kind() Kind {
	return Kind{Name: "pion-gcc", Now: time.Now, New: func(s Setup) controller {
		bwe, err := gcc.NewSendSideBWE(
			gcc.SendSideBWEInitialBitrate(int(s.Start)), gcc.SendSideBWEMinBitrate(int(s.Min)),
			gcc.SendSideBWEMaxBitrate(int(s.Max)), gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
		if err != nil {
			panic(err)
		}
		g := &gccController{s: s, bwe: bwe}
		g.writer = bwe.AddStream(&interceptor.StreamInfo{
			SSRC: gccSSRC, RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: gccURI, ID: gccExtension}},
		}, interceptor.RTPWriterFunc(func(*rtp.Header, []byte, interceptor.Attributes) (int, error) { return 0, nil }))
		p.made = append(p.made, g)
		return g
	}}
}

func (p *pionGCC) close(t *testing.T) {
	for _, g := range p.made {
		if err := g.bwe.Close(); err != nil {
			t.Error(err)
		}
	}
}

// reach lets the bubble's clock come to now.
func reach(now time.Time) {
	if d := time.Until(now); d > 0 {
		time.Sleep(d)
	}
}

func (g *gccController) OnSent(now time.Time, s cc.Sent) {
	reach(now)
	h := &rtp.Header{Version: 2, SSRC: gccSSRC, SequenceNumber: uint16(s.Sequence)}
	data, err := rtp.TransportCCExtension{TransportSequence: uint16(s.Sequence)}.Marshal()
	if err != nil {
		panic(err)
	}
	if err := h.SetExtension(gccExtension, data); err != nil {
		panic(err)
	}
	if _, err := g.writer.Write(h, blank[:max(0, min(s.SizeBytes-h.MarshalSize(), payloadBytes))], nil); err != nil {
		panic(err)
	}
}

func (g *gccController) OnFeedback(now time.Time, acks []cc.Ack) cc.Update {
	reach(now)
	for len(acks) > 0 {
		n := 1
		for n < len(acks) && acks[n].Sequence == acks[n-1].Sequence+1 {
			n++
		}
		if err := g.bwe.WriteRTCP([]rtcp.Packet{transportCC(acks[:n])}, nil); err != nil {
			panic(err)
		}
		acks = acks[n:]
	}
	synctest.Wait()
	return g.update()
}

func (g *gccController) OnTick(now time.Time) cc.Update { reach(now); return g.update() }
func (g *gccController) Deadline() time.Time            { return time.Time{} }

func (g *gccController) update() cc.Update {
	target := max(rate.Rate(g.bwe.GetTargetBitrate()), g.s.Min)
	state, _ := g.bwe.GetStats()["state"].(string)
	return cc.Update{Target: target, Pace: target.Scale(gccPace), State: state}
}

// transportCC makes the RTCP packet that reports acks, which are consecutive.
func transportCC(acks []cc.Ack) *rtcp.TransportLayerCC {
	const reference = 64 * time.Millisecond
	first := slices.IndexFunc(acks, func(a cc.Ack) bool { return !a.Lost })
	var before time.Duration
	p := &rtcp.TransportLayerCC{MediaSSRC: gccSSRC, BaseSequenceNumber: uint16(acks[0].Sequence), PacketStatusCount: uint16(len(acks))}
	if first >= 0 {
		p.ReferenceTime = uint32(acks[first].Arrived/reference) & 0xffffff
		before = acks[first].Arrived.Truncate(reference)
	}
	var chunk *rtcp.RunLengthChunk
	for _, a := range acks {
		symbol := uint16(rtcp.TypeTCCPacketReceivedLargeDelta)
		if a.Lost {
			symbol = rtcp.TypeTCCPacketNotReceived
		} else {
			p.RecvDeltas = append(p.RecvDeltas, &rtcp.RecvDelta{Type: symbol, Delta: (a.Arrived - before).Microseconds()})
			before = a.Arrived
		}
		if chunk == nil || chunk.PacketStatusSymbol != symbol {
			chunk = &rtcp.RunLengthChunk{PacketStatusSymbol: symbol}
			p.PacketChunks = append(p.PacketChunks, chunk)
		}
		chunk.RunLength++
	}
	return p
}

// TestPionRuns checks the adapter: gcc grows on an idle link, by its 8 % a
// second, and falls when the link does.
func TestPionRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pionGCC
		defer p.close(t)
		r := Run(single("", 12*time.Second, link(at(0, 5), at(8*time.Second, 1))), p.kind(), 1)
		if u := r.Flows[0].updateAt(7 * time.Second); u.Target < 1500*rate.Kbps || u.Target > 5*rate.Mbps {
			t.Errorf("target after 7 s on 5 Mbit/s is %v", u.Target)
		}
		if u := r.Flows[0].updateAt(12 * time.Second); u.Target > 1100*rate.Kbps {
			t.Errorf("target after 4 s on 1 Mbit/s is %v", u.Target)
		}
	})
}

// What bench cc asks of TestPionRows.
var (
	rowsFile    = flag.String("rows", "", "file with the measures of the rows to run")
	figuresFile = flag.String("figures", "", "file to write their figures to")
	seeds       = flag.Int("seeds", 1, "how many seeds")
	firstSeed   = flag.Uint64("seed", 1, "the first of them")
)

// TestPionRows runs the rows of bench cc with pion's gcc.
func TestPionRows(t *testing.T) {
	if *rowsFile == "" {
		t.Skip("bench cc runs this for its baseline")
	}
	data, err := os.ReadFile(*rowsFile)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		t.Fatal(err)
	}
	rows := slices.DeleteFunc(Rows(), func(r Row) bool { return !slices.Contains(names, r.Measure) })
	figures := map[string][]float64{}
	var mu sync.Mutex
	t.Run("jobs", func(t *testing.T) {
		for _, j := range Jobs(rows, Kind{}) {
			for n := range *seeds {
				t.Run(j.Scenario.Name+" "+strconv.Itoa(n), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						var p pionGCC
						defer p.close(t)
						mine := j
						mine.Kind = p.kind()
						values := mine.Measure(*firstSeed + uint64(n))
						mu.Lock()
						defer mu.Unlock()
						for i, r := range j.Rows {
							figures[r.Measure] = append(figures[r.Measure], values[i])
						}
					})
				})
			}
		}
	})
	if data, err = json.Marshal(figures); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*figuresFile, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
