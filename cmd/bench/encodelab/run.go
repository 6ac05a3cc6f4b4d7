package encodelab

import (
	"context"
	"fmt"
	"time"

	"nearglass/cc/rate"
	"nearglass/gpu"
)

// Options of a comparison.
type Options struct {
	Length  time.Duration // of the content
	Preset  string        // of x264; "" means ours
	Threads int           // that encode one picture together
	Most    rate.Rate     // bound of every stream's average; 0: none
	// Sample is every how many units the viewer's picture is compared; 0 means
	// none is.
	Sample int
	// CPU is what this process has used of all processors.
	CPU func() time.Duration
	// Takes, where it is not 0, is how long every encoding is said to take: a run then
	// comes out the same on every machine, however busy that is.
	Takes time.Duration
}

// Result is one peer's stream.
type Result struct {
	Peer string
	Link Link
	// Target is what the encoder was told.
	Target rate.Rate
	Sent   []Sent
	// Skipped pictures were captured and never sent.
	Skipped int
	// Quality of the units that were compared.
	Quality []Quality
	length  time.Duration
	changed []bool // by picture: whether it differs from the one before
}

// Compare gives the pictures of a workload to every peer in turn and then
// decodes what each of them sent. The peers change the order at each picture,
// so that none always finds the picture in the cache.
func Compare(ctx context.Context, w Workload, l Link, peers []Peer, o Options) ([]Result, error) {
	sessions, err := openAll(w, l, peers, o)
	defer closeAll(sessions)
	if err != nil {
		return nil, err
	}
	changed, err := play(ctx, w, sessions, o)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(peers))
	for i, s := range sessions {
		results[i] = Result{Peer: peers[i].Name, Link: l, Target: l.target(), Sent: s.sent, Skipped: s.skipped, length: o.Length, changed: changed}
		if o.Sample > 0 {
			if err := results[i].judge(ctx, w, o.Sample); err != nil {
				return nil, fmt.Errorf("%s on %s by %s: %w", w.Name, l.Name, peers[i].Name, err)
			}
		}
	}
	return results, nil
}

func openAll(w Workload, l Link, peers []Peer, o Options) ([]*session, error) {
	var sessions []*session
	for _, p := range peers {
		e, err := p.open(setup{workload: w, target: l.target(), most: o.Most, preset: o.Preset, threads: o.Threads})
		if err != nil {
			return sessions, fmt.Errorf("%s: %w", p.Name, err)
		}
		sessions = append(sessions, &session{encoder: e, wire: wire{Link: l}, cpu: o.CPU, takes: o.Takes})
	}
	return sessions, nil
}

func closeAll(sessions []*session) {
	for _, s := range sessions {
		s.encoder.close()
	}
}

func play(ctx context.Context, w Workload, sessions []*session, o Options) (changed []bool, err error) {
	c, screen := newCanvas(w.Size), w.open()
	for n := range int(o.Length / frameTime) {
		p := picture{canvas: c, number: n, damage: screen.paint(c, n)}
		changed = append(changed, len(p.damage) > 0)
		for i := range sessions {
			if err := sessions[(n+i)%len(sessions)].step(p); err != nil {
				return nil, err
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return changed, nil
}

// frame is a canvas as a frame that changed as a whole.
func (c *canvas) frame() *gpu.Frame {
	return &gpu.Frame{Size: c.size, Stride: c.stride, Format: gpu.BGRA, Pix: c.pix}
}
