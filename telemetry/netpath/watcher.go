package netpath

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Config sets up a Watcher. Fields that are nil take the system's own.
type Config struct {
	Interfaces func() ([]Interface, error)
	// Source tells from which address packets to another leave.
	Source func(remote netip.Addr) netip.Addr
	// Tailscale and ZeroTier ask the daemons. Each is called by one goroutine
	// at a time, with a context that ends after two seconds.
	Tailscale func(context.Context, time.Time) (TailscaleStatus, error)
	ZeroTier  func(context.Context, time.Time) (ZeroTierStatus, error)
}

// Times of looking.
const (
	// lookEvery is how often a path through a tunnel is worth a look: with the
	// daemons' answers twice a second a change shows within 0.8 s.
	lookEvery = 250 * time.Millisecond
	// interfacesAge is how long the list of interfaces holds.
	interfacesAge = 2 * time.Second
)

// Watcher holds what is known of the machine's networks, for all streams. Its
// methods are safe for concurrent use and never wait for a daemon.
type Watcher struct {
	c      Config
	ctx    context.Context
	cancel context.CancelFunc
	asks   sync.WaitGroup

	mu         sync.Mutex
	closed     bool
	interfaces []Interface
	listedAt   time.Time
	tailscale  source[TailscaleStatus]
	zeroTier   source[ZeroTierStatus]
	closers    []func()
}

// NewWatcher makes a watcher. It asks nobody before the first Look.
func NewWatcher(c Config) *Watcher {
	w := &Watcher{c: c}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	if c.Interfaces == nil {
		w.c.Interfaces = Interfaces
	}
	if c.Source == nil {
		w.c.Source = SourceTo
	}
	if c.Tailscale == nil {
		d := NewTailscaleDaemon("")
		w.c.Tailscale, w.closers = d.Ask, append(w.closers, d.Close)
	}
	if c.ZeroTier == nil {
		d := NewZeroTierDaemon("")
		w.c.ZeroTier = func(ctx context.Context, _ time.Time) (ZeroTierStatus, error) { return d.Ask(ctx) }
		w.closers = append(w.closers, d.Close)
	}
	w.tailscale.ask, w.zeroTier.ask = w.c.Tailscale, w.c.ZeroTier
	return w
}

// Close ends the questions that are under way and waits for them.
func (w *Watcher) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	w.asks.Wait()
	for _, c := range w.closers {
		c()
	}
}

// Look names the path of a pair as far as it is known at now, has asked what is
// due, and says when another look is worth it. A pair that is not bound gets the
// local address that the system would send from.
func (w *Watcher) Look(now time.Time, p Pair) (Path, time.Time) {
	if !p.Bound {
		if from := w.c.Source(p.Remote); from.IsValid() {
			p.Local = from
		}
	}
	p = p.plain()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list(now, p.Local)
	i, _ := ownerOf(w.interfaces, p.Local)
	again := now.Add(interfacesAge)
	tailscale, zeroTier := concerns(i, p)
	if tailscale {
		w.tailscale.refresh(now, w)
	}
	if zeroTier {
		w.zeroTier.refresh(now, w)
	}
	if tailscale || zeroTier {
		again = now.Add(lookEvery)
	}
	return Classify(p, w.world(now)), again
}

// Warm asks the daemons whose networks this machine is in, so that their answers
// are there when a stream begins.
func (w *Watcher) Warm(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list(now, netip.Addr{})
	for _, i := range w.interfaces {
		tailscale, zeroTier := concerns(i, Pair{})
		if tailscale {
			w.tailscale.refresh(now, w)
		}
		if zeroTier {
			w.zeroTier.refresh(now, w)
		}
	}
}

// world is what is known at now. Answers that are too old are taken for none.
func (w *Watcher) world(now time.Time) World {
	world := World{Interfaces: w.interfaces}
	var why string
	if world.Tailscale, why = w.tailscale.known(now); why != "" {
		world.Tailscale = TailscaleStatus{Why: why}
	}
	if world.ZeroTier, why = w.zeroTier.known(now); why != "" {
		world.ZeroTier = ZeroTierStatus{Why: why}
	}
	return world
}

// list reads the interfaces when they are due or the one in use is not among
// them. An error leaves the list as it was.
func (w *Watcher) list(now time.Time, local netip.Addr) {
	fresh := !w.listedAt.IsZero() && now.Sub(w.listedAt) < interfacesAge
	if fresh && (!local.IsValid() || owns(w.interfaces, local)) {
		return
	}
	if list, err := w.c.Interfaces(); err == nil {
		w.interfaces, w.listedAt = list, now
	}
}

// concerns says whose daemons can tell something of packets that leave by an
// interface. On a plain one nobody is asked.
func concerns(i Interface, p Pair) (tailscale, zeroTier bool) {
	named := i.named(zeroTierNames)
	tunnel := i.tunnel()
	tailscale = !named && (tunnel || i.named([]string{"tailscale"}) || tailscaleRange(p.Local) || i.Name == "" && tailscaleRange(p.Remote))
	zeroTier = named || tunnel && i.Flags&net.FlagPointToPoint == 0
	return tailscale, zeroTier
}
