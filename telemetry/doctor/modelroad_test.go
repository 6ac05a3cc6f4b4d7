package doctor_test

import (
	"math"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

const (
	ipBytes    = 28 // IPv4 and UDP
	streamFlow = 0
	crossFlow  = 10
)

// road is the network between the ends, both ways.
type road struct {
	w       *world
	out     *sim.Link
	back    *sim.Link
	cross   []*sim.Cubic
	replies []report // by packet of the way back
}

// report is what the viewer sends back at once.
type report struct {
	acks     []cc.Ack
	received []uint16
	nacks    []uint16
	key      bool
	last, at time.Time // when the newest packet of it came, and when it was sent
}

func newRoad(w *world, seed uint64) *road {
	s := w.scene
	r := &road{w: w}
	out := sim.LinkConfig{
		Origin: epoch, Delay: dur(s.DelayMs), Queue: sim.Queue{Limit: dur(s.QueueMs)},
		Jitter: sim.Jitter{Sigma: dur(s.Jitter), Keep: true},
	}
	if s.Mbps > 0 {
		out.Rates = []sim.Step{{Rate: mbps(s.Mbps)}}
	}
	for i, v := range s.Rates {
		out.Rates = append(out.Rates, sim.Step{At: time.Duration(i) * time.Second, Rate: mbps(v)})
		out.Repeat = time.Duration(len(s.Rates)) * time.Second
	}
	back := sim.LinkConfig{Origin: epoch, Delay: dur(s.DelayMs)}
	r.shape(&out, &back)
	r.out, r.back = sim.NewLink(out, seed), sim.NewLink(back, seed+1)
	return r
}

// shape puts the faults of the network into its links.
func (r *road) shape(out, back *sim.LinkConfig) {
	if f, ok := r.w.find("lossy-link"); ok {
		out.Loss.Random = f.Amount / 100
		back.Loss.Random = f.Amount / 400
	}
	if f, ok := r.w.find("capped-link"); ok {
		before := rate.Rate(0)
		if len(out.Rates) > 0 {
			before = out.Rates[0].Rate
		}
		if before == 0 {
			before = mbps(60)
		}
		out.Rates = []sim.Step{{Rate: before}, {At: dur(f.From * 1000), Rate: mbps(f.Amount)}, {At: dur(f.To * 1000), Rate: before}}
	}
	if f, ok := r.w.find("bufferbloat"); ok {
		out.Queue.Limit = dur(f.Amount)
		r.bulk(f, 2)
	}
	if f, ok := r.w.find("competing-traffic"); ok {
		r.bulk(f, int(f.Amount))
	}
	if f, ok := r.w.find("flapping-wifi"); ok {
		for _, l := range []*sim.LinkConfig{out, back} {
			l.Outages = sim.Outages{Length: dur(f.Amount), Every: time.Duration(wifiEvery(f.Amount) * float64(time.Second)), From: dur(f.From*1000 + 300), To: dur(f.To * 1000)}
			if len(l.Rates) == 0 {
				l.Rates = []sim.Step{{Rate: mbps(80)}}
			}
		}
	}
}

// wifiEvery is how many seconds lie between two absences of the radio.
func wifiEvery(lengthMs float64) float64 { return 2 + math.Mod(lengthMs, 3) }

// bulk adds TCP flows that fill the queue.
func (r *road) bulk(f fault, flows int) {
	for i := range flows {
		r.cross = append(r.cross, sim.NewCubic(sim.CubicConfig{
			Origin: epoch, Flow: crossFlow + i, Start: dur(f.From*1000 + float64(i)*300), Stop: dur(f.To * 1000), Reverse: dur(r.w.scene.DelayMs),
		}, uint64(i+1)))
	}
}

// extra is what the road in use adds one way.
func (r *road) extra() time.Duration {
	return dur(max(r.w.amount("relayed-path"), r.w.amount("wrong-path")) / 2)
}

// oneWay is how long a small packet of the viewer takes.
func (r *road) oneWay() time.Duration { return dur(r.w.scene.DelayMs) + r.extra() }

// send puts one of the host's packets on the road.
func (r *road) send(id int, sizeBytes int) {
	wire := sizeBytes + ipBytes
	if most := r.w.amount("mtu-trouble"); most > 0 && wire > int(most) {
		return // into a tunnel that takes no more
	}
	r.out.Send(r.w.now, sim.Packet{Flow: streamFlow, Size: wire, ID: uint64(id)})
}

// reply puts a report of the viewer on the way back.
func (r *road) reply(p report) {
	p.at = r.w.now
	r.replies = append(r.replies, p)
	size := 80 + len(p.received) + len(p.acks)/4 + 4*len(p.nacks)
	r.back.Send(r.w.now, sim.Packet{Flow: streamFlow, Size: size, ID: uint64(len(r.replies) - 1)})
}

func (r *road) step() {
	for {
		d, ok := r.out.Receive(r.w.now)
		if !ok {
			break
		}
		if d.Flow >= crossFlow {
			r.cross[d.Flow-crossFlow].Arrived(d)
			continue
		}
		r.later(func() { r.w.viewer.arrive(int(d.ID)) })
	}
	for {
		d, ok := r.back.Receive(r.w.now)
		if !ok {
			break
		}
		r.later(func() { r.w.host.hear(r.replies[d.ID]) })
	}
	for _, c := range r.cross {
		c.Step(r.w.now, r.out)
	}
}

// later hands over at once, or when a longer road ends.
func (r *road) later(do func()) {
	if e := r.extra(); e > 0 {
		if r.w.amount("relayed-path") > 0 && r.w.rand.Float64() < 0.02 {
			e += dur(12 * r.w.rand.ExpFloat64())
		}
		r.w.after(e, do)
		return
	}
	do()
}

func (r *road) next() time.Time {
	at := earliest(r.out.Next(), r.back.Next())
	for _, c := range r.cross {
		at = earliest(at, c.Next())
	}
	return at
}
