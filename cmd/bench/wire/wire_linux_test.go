package wire

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

func open(t *testing.T) *Wire {
	t.Helper()
	w, err := Open(t.Context())
	if err != nil {
		t.Skipf("no namespaces or TUN devices here: %v", err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(namespaces, w.Near.Name)); err == nil {
			t.Errorf("%s is still there", w.Near.Name)
		}
	})
	return w
}

func (e End) socket(t *testing.T) *net.UDPConn {
	t.Helper()
	var c *net.UDPConn
	if err := e.Do(func() (err error) {
		c, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(e.Addr, 9000)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	return c
}

// TestWireCarries sends real packets through real namespaces. It judges what
// the link says, not how long anything took.
func TestWireCarries(t *testing.T) {
	w := open(t)
	near, far := w.Near.socket(t), w.Far.socket(t)
	begun := w.Shape(Shape{
		Forward: sim.LinkConfig{Rates: []sim.Step{{Rate: 10 * rate.Mbps}}, Delay: 5 * time.Millisecond},
		Back:    sim.LinkConfig{Delay: 5 * time.Millisecond},
	})
	payload := rtp(0x80, 96, 3, 4)[8:]
	buf := make([]byte, 2000)
	for range 20 {
		if _, err := near.WriteToUDP(payload, far.LocalAddr().(*net.UDPAddr)); err != nil {
			t.Fatal(err)
		}
		n, from, err := far.ReadFromUDP(buf)
		if err != nil || string(buf[:n]) != string(payload) {
			t.Fatalf("the far end got %x, %v", buf[:n], err)
		}
		if _, err := far.WriteToUDP(buf[:n], from); err != nil {
			t.Fatal(err)
		}
		if _, err := near.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begun); took < 200*time.Millisecond {
		t.Errorf("20 round trips of 10 ms took %v", took)
	}
	var media int
	for _, p := range w.Passed() {
		if p.Kind == Media && p.SSRC == 4 && p.Out > p.In+5*time.Millisecond && p.Size == 28+len(payload) {
			media++
		}
	}
	if media != 20 {
		t.Errorf("%d of 20 packets are in the log: %+v", media, w.Passed())
	}
}

// TestStaleNamespacesGo: those of a process that was killed.
func TestStaleNamespacesGo(t *testing.T) {
	w := open(t)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skipf("no process to be gone: %v", err)
	}
	stale := strings.Replace(w.Near.Name, prefix, prefix+"x", 1)
	for _, name := range []string{stale, prefix + strconv.Itoa(gone.Process.Pid) + "-near"} {
		if err := ip(t.Context(), "netns", "add", name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = End{Name: name}.remove(context.Background()) })
	}
	removeStale(t.Context())
	if _, err := os.Stat(filepath.Join(namespaces, prefix+strconv.Itoa(gone.Process.Pid)+"-near")); err == nil {
		t.Error("the namespace of a process that is gone stayed")
	}
	if _, err := os.Stat(filepath.Join(namespaces, stale)); err != nil {
		t.Error("a namespace with a strange name was removed")
	}
}
