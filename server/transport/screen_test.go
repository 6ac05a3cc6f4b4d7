package transport

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

// screen is a receiver that shows pictures as a browser would and asks for what
// it misses. pion's own generator of NACKs does not hear of what came by RTX, and
// goes on asking for that while it remembers the gap.
type screen struct {
	interceptor.NoOp
	mu      sync.Mutex
	out     interceptor.RTCPWriter
	ssrc    uint32 // of the video
	newest  int64  // sequence number, unwrapped; 0: nothing came yet
	got     map[int64]slice
	missing map[int64]*miss
	next    int64 // where the next picture to be decoded begins
	lost    bool  // nothing can be decoded but a key frame
	askedAt time.Time
	first   slice // ties timestamps to the clock

	shown          []shownPicture
	requests       int // for key frames
	resends        int // that came
	bytes, besides int // of pictures; of resends and padding
}

// slice is what a packet says of its picture.
type slice struct {
	timestamp                uint32
	empty, begin, end, isKey bool
	stamps                   stamps // of the first packet of a picture
}

// miss is a packet that was asked for.
type miss struct {
	tries int
	at    time.Time
}

// shownPicture is a picture that came in time after one that did.
type shownPicture struct{ captured, at time.Time }

const (
	// inTime is how old a picture may be when it is complete: beyond it, a
	// person sees the screen stand still. At a round trip of 40 ms that leaves
	// time for two requests (180 to 200 ms), and none for a third.
	inTime = 250 * time.Millisecond
	// keyAgain is when a request for a key frame is repeated, as libwebrtc does
	// (kMaxWaitForKeyFrame).
	keyAgain = 200 * time.Millisecond
	// What libwebrtc's NackRequester does: it asks at once, looks every 20 ms
	// what to ask for again, and does so a round trip later, up to ten times. A
	// browser that only receives does not learn the round trip and takes 100 ms.
	nackLook  = 20 * time.Millisecond
	nackAgain = 100 * time.Millisecond
	nackTries = 10
	// unwrapped numbers begin here, so that none is below zero.
	firstNumber = 1 << 20
)

func newScreen() *screen { return &screen{got: map[int64]slice{}, missing: map[int64]*miss{}} }

func (s *screen) NewInterceptor(string) (interceptor.Interceptor, error) { return s, nil }

func (s *screen) BindRTCPWriter(w interceptor.RTCPWriter) interceptor.RTCPWriter {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = w
	return w
}

func (s *screen) BindRemoteStream(_ *interceptor.StreamInfo, r interceptor.RTPReader) interceptor.RTPReader {
	return interceptor.RTPReaderFunc(func(b []byte, a interceptor.Attributes) (int, interceptor.Attributes, error) {
		n, attributes, err := r.Read(b, a)
		var pkt rtp.Packet
		if err == nil && pkt.Unmarshal(slices.Clone(b[:n])) == nil {
			s.take(time.Now(), &pkt)
		}
		return n, attributes, err
	})
}

// take adds a packet and shows what it completes.
func (s *screen) take(now time.Time, pkt *rtp.Packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := pkt.SequenceNumber
	if pkt.PayloadType != rtxType {
		s.ssrc = pkt.SSRC
		s.arrive(now, number)
	}
	s.weigh(pkt)
	if pkt.PayloadType == rtxType {
		if len(pkt.Payload) < 2 || s.newest == 0 {
			return
		}
		s.resends++
		number = binary.BigEndian.Uint16(pkt.Payload)
		pkt.Payload = pkt.Payload[2:]
	}
	seq := s.unwrap(number)
	delete(s.missing, seq)
	if seq >= s.next {
		s.got[seq] = s.read(pkt)
	}
	s.show(now)
}

// weigh counts the bytes of a packet.
func (s *screen) weigh(pkt *rtp.Packet) {
	if pkt.PayloadType == rtxType || len(pkt.Payload) == 0 {
		s.besides += pkt.MarshalSize()
	} else {
		s.bytes += pkt.MarshalSize()
	}
}

func (s *screen) unwrap(number uint16) int64 {
	return s.newest + int64(int16(number-uint16(s.newest)))
}

// arrive asks for what lies between a packet and the newest before it.
func (s *screen) arrive(now time.Time, number uint16) {
	if s.newest == 0 {
		s.newest = firstNumber + int64(number)
		s.next = s.newest
		return
	}
	var gap []uint16
	seq := s.unwrap(number)
	for between := s.newest + 1; between < seq; between++ {
		if _, here := s.got[between]; !here {
			s.missing[between] = &miss{1, now}
			gap = append(gap, uint16(between))
		}
	}
	s.newest = max(s.newest, seq)
	s.nack(gap)
}

func (s *screen) nack(numbers []uint16) {
	if len(numbers) > 0 {
		s.send(&rtcp.TransportLayerNack{MediaSSRC: s.ssrc, Nacks: rtcp.NackPairsFromSequenceNumbers(numbers)})
	}
}

func (s *screen) send(p rtcp.Packet) { _, _ = s.out.Write([]rtcp.Packet{p}, nil) }

// read takes a payload of H.264 apart: a whole NAL unit or a fragment (RFC 6184).
func (s *screen) read(pkt *rtp.Packet) slice {
	c, b := slice{timestamp: pkt.Timestamp, end: pkt.Marker}, pkt.Payload
	if len(b) < 2 {
		c.empty = true
		return c
	}
	kind := b[0] & 0x1f
	c.begin, b = true, b[1:]
	if kind == 28 {
		kind, c.begin, b = b[0]&0x1f, b[0]&0x80 != 0, b[1:]
	}
	c.isKey = kind == 5
	if c.begin {
		c.stamps = readStamps(b)
	}
	if c.begin && s.first.stamps.made.IsZero() {
		s.first = c
	}
	return c
}

// made is when the picture of a packet was encoded.
func (s *screen) made(c slice) time.Time {
	return s.first.stamps.made.Add(time.Duration(int32(c.timestamp-s.first.timestamp)) * time.Second / 90_000)
}

// show shows all that can be.
func (s *screen) show(now time.Time) {
	for {
		at := s.next
		if s.lost {
			at = s.wholeKey()
		}
		end, ok := s.whole(at)
		if !ok {
			return
		}
		c := s.got[at]
		for ; s.next <= end; s.next++ {
			delete(s.got, s.next)
			delete(s.missing, s.next)
		}
		if c.empty {
			continue
		}
		if s.lost = now.Sub(c.stamps.made) > inTime; !s.lost {
			s.shown = append(s.shown, shownPicture{c.stamps.captured, now})
		}
	}
}

// whole finds the last packet of the picture that begins at seq, or of one of
// padding; false while any is missing.
func (s *screen) whole(seq int64) (int64, bool) {
	c, here := s.got[seq]
	if !here || !c.empty && !c.begin {
		return 0, false
	}
	for !c.empty && !c.end && here {
		seq++
		c, here = s.got[seq]
	}
	return seq, here
}

// wholeKey finds the first packet of a key frame that is whole; zero for none.
func (s *screen) wholeKey() int64 {
	found := int64(0)
	for seq, c := range s.got {
		if !c.begin || !c.isKey || found > 0 && found < seq {
			continue
		}
		if _, ok := s.whole(seq); ok {
			found = seq
		}
	}
	return found
}

// watch asks again and gives up what is too late, until done.
func (s *screen) watch(done <-chan struct{}) {
	tick := time.NewTicker(nackLook / 4)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-done:
			return
		case now := <-tick.C:
			s.mu.Lock()
			if i%4 == 0 {
				s.askAgain(now)
			}
			s.giveUp(now)
			s.mu.Unlock()
		}
	}
}

func (s *screen) askAgain(now time.Time) {
	var again []uint16
	for seq, m := range s.missing {
		switch {
		case m.tries >= nackTries:
			delete(s.missing, seq)
		case now.Sub(m.at) >= nackAgain:
			m.tries++
			m.at = now
			again = append(again, uint16(seq))
		}
	}
	slices.Sort(again)
	s.nack(again)
}

// giveUp asks for a key frame when the next picture can no longer come in time.
func (s *screen) giveUp(now time.Time) {
	if !s.lost {
		oldest := int64(0)
		for seq, c := range s.got {
			if !c.empty && (oldest == 0 || seq < oldest) {
				oldest = seq
			}
		}
		s.lost = oldest > 0 && now.Sub(s.made(s.got[oldest])) > inTime
	}
	if s.lost && now.Sub(s.askedAt) >= keyAgain {
		s.askedAt = now
		s.requests++
		s.send(&rtcp.PictureLossIndication{MediaSSRC: s.ssrc})
	}
}
