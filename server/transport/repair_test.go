package transport

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"image"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/pacing/packetize"
	"nearglass/server/session"
	"nearglass/telemetry"
)

// repairFile is where bench repair wants what became of its streams.
var (
	repairFile  = flag.String("repair", "", "write what became of streams with loss to this file")
	repairTime  = flag.Duration("repair-time", 3*time.Second, "length of the streams with loss")
	repairCount = flag.Int("repair-count", 1, "how many of each kind to stream at once")
)

// repair is one stream over a link with loss.
type repair struct {
	Stack    string  `json:"stack"`
	Content  string  `json:"content"`
	Loss     float64 `json:"loss"`     // share of the packets, both ways
	Seconds  float64 `json:"seconds"`  // that are counted
	Pictures int     `json:"pictures"` // captured in them
	Shown    int     `json:"shown"`    // of those
	Keys     int     `json:"keys"`     // key frames made in them, but for the first
	Asked    int     `json:"asked"`    // requests for one
	Resends  int     `json:"resends"`  // that came
	Bytes    int     `json:"bytes"`    // of pictures that came
	Besides  int     `json:"besides"`  // of resends and padding
	Late     float64 `json:"late"`     // ms by which the link itself was late, at most
	Longest  float64 `json:"longest"`  // ms in which no new picture was shown

	every time.Duration // between two pictures
	size  int           // bytes of a picture on average
	seed  uint64
}

const (
	repairDelay  = 20 * time.Millisecond // one way
	repairRate   = 4 * rate.Mbps
	repairSettle = time.Second // not counted, at either end
	repairKey    = 40_000      // bytes of a key frame
)

// repairs are the streams of one run.
func repairs() []*repair {
	var all []*repair
	for seed := range uint64(*repairCount) {
		all = append(all, repairsOf(seed+1)...)
	}
	return all
}

// repairsOf is one stream of each kind.
func repairsOf(seed uint64) []*repair {
	var all []*repair
	for _, loss := range []float64{0.02, 0.05} {
		for _, stack := range []string{"ours", "pion"} {
			all = append(all,
				&repair{Stack: stack, Loss: loss, Content: "60 pictures a second", every: time.Second / 60, size: 7500, seed: seed},
				&repair{Stack: stack, Loss: loss, Content: "3 pictures a second", every: time.Second / 3, size: 3300, seed: seed})
		}
	}
	return all
}

// TestRepair streams over links with loss, through our session and through
// pion's default chain. As a test it only wants that both show most of it; how
// much is measured by bench repair, which runs this with -repair.
func TestRepair(t *testing.T) {
	runs := repairs()
	if *repairFile == "" {
		runs = []*repair{runs[4], runs[6]}
	}
	t.Run("streams", func(t *testing.T) {
		for _, r := range runs {
			t.Run(r.Stack+" "+r.Content, func(t *testing.T) {
				t.Parallel()
				r.run(t)
			})
		}
	})
	if *repairFile == "" {
		return
	}
	data := must[[]byte](t)(json.Marshal(runs))
	check(t, os.WriteFile(*repairFile, data, 0o600))
}

// run plays one stream.
func (r *repair) run(t *testing.T) {
	conn := must[*net.UDPConn](t)(net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	check(t, conn.SetReadBuffer(receiveBufferBytes))
	link := newShaped(conn, sim.LinkConfig{Delay: repairDelay, Loss: sim.Loss{Random: r.Loss}}, r.seed)
	socket := &lossyBack{shaped: link, loss: r.Loss, rng: rand.New(rand.NewPCG(r.seed, 2))}
	t.Cleanup(func() { _ = socket.Close() })
	s := newScreen()
	v := newViewer(t, viewerConfig{socket: socket, screen: s})
	p := &reel{every: r.every, bytes: r.size, rng: rand.New(rand.NewPCG(r.seed, 1))}
	play := r.ours
	if r.Stack == "pion" {
		play = r.pions
	}
	stream := play(t, v)
	ctx, cancel := context.WithTimeout(t.Context(), *repairTime)
	defer cancel()
	go s.watch(ctx.Done())
	begin := time.Now()
	stream(ctx, p)
	r.count(p, s, begin.Add(repairSettle), begin.Add(*repairTime-repairSettle))
	r.Late = float64(link.lateness().Microseconds()) / 1000
	t.Logf("%+v", *r)
	if r.Pictures == 0 || r.Shown < r.Pictures/10 || r.Resends == 0 {
		t.Errorf("of %d pictures %d were shown, by the help of %d resends", r.Pictures, r.Shown, r.Resends)
	}
}

// count fills in what became of the pictures captured between two times.
func (r *repair) count(p *reel, s *screen, from, to time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	within := func(at time.Time) bool { return !at.Before(from) && at.Before(to) }
	r.Seconds = to.Sub(from).Seconds()
	for _, at := range p.captured {
		if within(at) {
			r.Pictures++
		}
	}
	for _, at := range p.keys[1:] {
		if within(at) {
			r.Keys++
		}
	}
	last, newest := from, time.Time{}
	for _, shown := range s.shown {
		if !shown.captured.After(newest) {
			continue // an old one, encoded again
		}
		newest = shown.captured
		if within(shown.at) {
			r.Longest = max(r.Longest, float64(shown.at.Sub(last).Microseconds())/1000)
			last = shown.at
		}
		if within(shown.captured) && shown.at.Sub(shown.captured) <= inTime {
			r.Shown++
		}
	}
	r.Longest = max(r.Longest, float64(to.Sub(last).Microseconds())/1000)
	r.Asked, r.Resends, r.Bytes, r.Besides = s.requests, s.resends, s.bytes, s.besides
}

// ours prepares a stream through a session with its rate fixed: what the
// controller makes of loss is another matter.
func (r *repair) ours(t *testing.T, v *viewer) func(context.Context, *reel) {
	peer := newTestPeer(t, PeerConfig{})
	v.connect(peer)
	return func(ctx context.Context, p *reel) {
		ring := gpu.NewRing()
		s := must[*session.Session](t)(session.New(session.Config{
			Peer: peer, Feedback: peer.Feedback(), Bitrate: repairRate, Pictures: ring.NewReader(), FPS: 60, Meter: telemetry.NewMeter(time.Now()),
			Encoder: func(image.Point) (encode.Encoder, error) { return p, nil },
		}))
		go p.publish(ctx, ring)
		check(t, s.Run(ctx))
	}
}

// pions prepares a stream through pion's default chain.
func (r *repair) pions(t *testing.T, v *viewer) func(context.Context, *reel) {
	pc, track, sender := newPionSender(t)
	answerWith(t, v, pc)
	keys := make(chan struct{}, 1)
	go func() {
		for {
			packets, _, err := sender.ReadRTCP()
			if err != nil {
				return
			}
			for _, packet := range packets {
				if _, ok := packet.(*rtcp.PictureLossIndication); ok {
					select {
					case keys <- struct{}{}:
					default:
					}
				}
			}
		}
	}()
	return func(ctx context.Context, p *reel) {
		begin, seq := time.Now(), uint16(65_500)
		p.play(ctx, keys, func(made time.Time, nals [][]byte) {
			payloads := packetize.H264(nil, nals, MaxPayloadBytes)
			for i, c := range payloads {
				seq++
				check(t, track.WriteRTP(&rtp.Packet{
					Header: rtp.Header{
						Version: 2, SequenceNumber: seq, Marker: i == len(payloads)-1,
						Timestamp: uint32(made.Sub(begin).Microseconds() * 9 / 100),
					},
					Payload: append(append([]byte(nil), c.Head[:c.HeadLen]...), c.Body...),
				}))
			}
		})
	}
}

// newPionSender makes a peer with pion's default chain and a track of H.264.
func newPionSender(t *testing.T) (*webrtc.PeerConnection, *webrtc.TrackLocalStaticRTP, *webrtc.RTPSender) {
	var media webrtc.MediaEngine
	check(t, media.RegisterDefaultCodecs())
	var chain interceptor.Registry
	check(t, webrtc.RegisterDefaultInterceptors(&media, &chain))
	var s webrtc.SettingEngine
	s.SetIncludeLoopbackCandidate(true)
	s.SetIPFilter(net.IP.IsLoopback)
	s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	api := webrtc.NewAPI(webrtc.WithMediaEngine(&media), webrtc.WithInterceptorRegistry(&chain), webrtc.WithSettingEngine(s))
	pc := must[*webrtc.PeerConnection](t)(api.NewPeerConnection(webrtc.Configuration{}))
	t.Cleanup(func() { _ = pc.Close() })
	capability := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeH264, ClockRate: 90000, SDPFmtpLine: baselineFmtp}
	track := must[*webrtc.TrackLocalStaticRTP](t)(webrtc.NewTrackLocalStaticRTP(capability, "video", "pion"))
	return pc, track, must[*webrtc.RTPSender](t)(pc.AddTrack(track))
}

// answerWith has a pion peer answer the viewer's offer and waits until both are
// connected.
func answerWith(t *testing.T, v *viewer, pc *webrtc.PeerConnection) {
	connected := make(chan struct{})
	var once sync.Once
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(connected) })
		}
	})
	check(t, pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: v.offer(nil)}))
	answer := must[webrtc.SessionDescription](t)(pc.CreateAnswer(nil))
	gathered := webrtc.GatheringCompletePromise(pc)
	check(t, pc.SetLocalDescription(answer))
	<-gathered
	check(t, v.pc.SetRemoteDescription(*pc.LocalDescription()))
	receive(t, connected, "connection")
}

// lossyBack delays and loses what the viewer sends as the link does what it gets.
type lossyBack struct {
	*shaped
	loss float64
	mu   sync.Mutex
	rng  *rand.Rand
}

func (l *lossyBack) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	l.mu.Lock()
	lost := l.rng.Float64() < l.loss
	l.mu.Unlock()
	if !lost {
		copied := append([]byte(nil), b...)
		time.AfterFunc(repairDelay, func() { _, _ = l.WriteToUDPAddrPort(copied, to) })
	}
	return len(b), nil
}

// stamps begin a picture: when it was captured and when it was encoded, which
// differ when one is encoded again as a key frame.
type stamps struct{ captured, made time.Time }

const stampsBytes = 16

func readStamps(b []byte) stamps {
	if len(b) < stampsBytes {
		return stamps{}
	}
	at := func(b []byte) time.Time { return time.Unix(0, int64(binary.BigEndian.Uint64(b))) }
	return stamps{at(b), at(b[8:])}
}

// reel is source and encoder of a stream: pictures of sizes that vary.
type reel struct {
	every time.Duration
	bytes int
	rng   *rand.Rand

	mu       sync.Mutex
	captured []time.Time
	keys     []time.Time
	loaded   time.Time
}

// capture notes a picture.
func (p *reel) capture(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.captured = append(p.captured, now)
}

// publish puts the pictures into a ring.
func (p *reel) publish(ctx context.Context, ring *gpu.Ring) {
	size := image.Pt(64, 64)
	ring.Configure(size, 4*size.X, gpu.BGRA, gpu.HostMemory(3, 4*size.X*size.Y))
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		now := time.Now()
		p.capture(now)
		if slot, ok := ring.Acquire(); ok {
			ring.Publish(slot, now, []image.Rectangle{{Max: size}}, 0)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// play hands the encoded pictures over, and the newest again as a key frame when
// one is wanted, as a session does.
func (p *reel) play(ctx context.Context, keys <-chan struct{}, write func(time.Time, [][]byte)) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for wanted := true; ; {
		now := time.Now()
		if !wanted || p.loaded.IsZero() {
			p.capture(now)
			p.loaded = now
		}
		write(now, p.encode(wanted))
		select {
		case <-tick.C:
			wanted = false
		case <-keys:
			wanted = true
		case <-ctx.Done():
			return
		}
	}
}

// encode makes the NAL units of the picture loaded.
func (p *reel) encode(key bool) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	size, head := p.bytes/2+p.rng.IntN(p.bytes), byte(0x41)
	if key {
		size, head = repairKey, 0x65
		p.keys = append(p.keys, time.Now())
	}
	nal := make([]byte, 1+stampsBytes, size)
	nal[0] = head
	binary.BigEndian.PutUint64(nal[1:], uint64(p.loaded.UnixNano()))
	binary.BigEndian.PutUint64(nal[9:], uint64(time.Now().UnixNano()))
	return [][]byte{nal[:size]}
}

func (p *reel) Load(f *gpu.Frame) error {
	p.loaded = f.Captured
	return nil
}

// Encode says that the picture is as sharp as can be, whatever was ordered: no
// still one is then sent again to sharpen it, and both stacks get the same.
func (p *reel) Encode(o encode.Order) (encode.AccessUnit, error) {
	p.mu.Lock()
	key := o.Key || len(p.keys) == 0
	p.mu.Unlock()
	nals := p.encode(key)
	return encode.AccessUnit{NALs: nals, Key: key, QP: encode.MinQP, SizeBytes: len(nals[0])}, nil
}

// Drop drops nothing: every picture is sent.
func (*reel) Drop() (encode.AccessUnit, error) {
	return encode.AccessUnit{}, encode.ErrNotDroppable
}

func (p *reel) Close() error { return nil }
