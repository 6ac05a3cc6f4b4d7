package pacing

import "time"

// cached is one released packet, kept in case the receiver asks for it again.
type cached struct {
	pkt      Packet
	released time.Time
	resent   time.Time // zero: never
	live     bool
	queued   bool // waits in the resend queue
	twice    bool // and is to leave twice
	told     bool // left once more because a report said that it was lost
	acked    bool
}

// cache keeps the newest released packets by sequence number, bounded in
// packets, bytes and age. Sequence numbers in it are consecutive.
type cache struct {
	entries  []cached // length is a power of two; it grows up to most
	most     int      // of entries, a power of two, at most 32768
	oldest   uint16
	n        int
	bytes    int
	maxBytes int
	maxAge   time.Duration
	// unacked counts the live entries that are not known to have arrived.
	unacked int
	// lostFrame is the newest picture of which a packet was forgotten that is
	// not known to have arrived.
	lostFrame uint64
}

func newCache(packets, maxBytes int, maxAge time.Duration) cache {
	most := 1
	for most < packets && most < 1<<15 {
		most <<= 1
	}
	return cache{entries: make([]cached, min(most, 512)), most: most, maxBytes: maxBytes, maxAge: maxAge}
}

func (c *cache) slot(seq uint16) *cached { return &c.entries[int(seq)&(len(c.entries)-1)] }

// add keeps a packet just released; its Seq follows that of the one before.
func (c *cache) add(now time.Time, pkt *Packet) {
	sizeBytes := pkt.sizeBytes()
	c.expire(now)
	for c.n == c.most || c.n > 0 && c.bytes+sizeBytes > c.maxBytes {
		c.evict()
	}
	if c.n == len(c.entries) {
		c.grow()
	}
	if c.n == 0 {
		c.oldest = pkt.Seq
	}
	*c.slot(pkt.Seq) = cached{pkt: *pkt, released: now, live: true}
	c.n++
	c.bytes += sizeBytes
	c.unacked++
}

// grow makes room for twice as many, so that a slow stream needs little memory.
func (c *cache) grow() {
	before := *c
	c.entries = make([]cached, 2*len(before.entries))
	for i := range uint16(c.n) {
		*c.slot(c.oldest + i) = *before.slot(c.oldest + i)
	}
}

// expire forgets what is too old to be of use.
func (c *cache) expire(now time.Time) {
	for c.n > 0 && now.Sub(c.slot(c.oldest).released) > c.maxAge {
		c.evict()
	}
}

func (c *cache) evict() {
	e := c.slot(c.oldest)
	c.bytes -= e.pkt.sizeBytes()
	if !e.acked {
		c.unacked--
		c.lostFrame = max(c.lostFrame, e.pkt.Frame)
	}
	*e = cached{}
	c.oldest++
	c.n--
}

// get returns the entry of seq, or nil when it is not held any more.
func (c *cache) get(seq uint16) *cached {
	e := c.slot(seq)
	if !e.live || e.pkt.Seq != seq {
		return nil
	}
	return e
}

// forget lets go of the packets with a payload of more than most bytes, as if they
// had become too old.
func (c *cache) forget(most int) {
	for i := range uint16(c.n) {
		e := c.slot(c.oldest + i)
		if !e.live || e.pkt.payload() <= most {
			continue
		}
		c.bytes -= e.pkt.sizeBytes()
		if !e.acked {
			c.unacked--
			c.lostFrame = max(c.lostFrame, e.pkt.Frame)
		}
		*e = cached{acked: true}
		c.bytes += e.pkt.sizeBytes()
	}
}

// waiting lists the packets of a picture that are not known to have arrived and do not
// wait to be sent again, or only the last of them.
func (c *cache) waiting(frame uint64, all bool) (seqs []uint16) {
	for i := range uint16(c.n) {
		e := c.slot(c.oldest + i)
		if e.pkt.Frame != frame || e.pkt.Class == Padding || e.acked || e.queued {
			continue
		}
		if !all {
			seqs = seqs[:0]
		}
		seqs = append(seqs, e.pkt.Seq)
	}
	return seqs
}

// giveUp counts what is held of the pictures before this one as arrived.
func (c *cache) giveUp(before uint64) {
	for i := range uint16(c.n) {
		if seq := c.oldest + i; c.slot(seq).pkt.Frame < before {
			c.ack(seq)
		}
	}
	if c.lostFrame < before {
		c.lostFrame = 0
	}
}

// ack records an arrival.
func (c *cache) ack(seq uint16) {
	if e := c.get(seq); e != nil && !e.acked {
		e.acked = true
		c.unacked--
	}
}
