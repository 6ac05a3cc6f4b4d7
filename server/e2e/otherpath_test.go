package e2e

import (
	"fmt"
	"image"
	"os"
	"slices"
	"strings"
	"testing"

	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
)

// TestAnotherPathIsMeasured: where two cables lead to the host, the log tells the
// round trip of the one that the stream does not take.
func TestAnotherPathIsMeasured(t *testing.T) {
	if err := desk.Need("ip"); err != nil {
		t.Skip(err)
	}
	id := os.Getpid() % 100000
	space := fmt.Sprintf("ngtwo%d", id)
	ip := func(line string) error {
		_, err := desk.Run(shared.ctx, desk.Command{Name: "ip", Args: strings.Fields(line)})
		return err
	}
	t.Cleanup(func() { _ = ip("netns del " + space) })
	if err := ip("netns add " + space); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	for i := range 2 {
		near, network := fmt.Sprintf("ngc%d%d", i, id), fmt.Sprintf("10.219.%d", 30+i)
		t.Cleanup(func() { _ = ip("link del " + near) })
		for _, line := range []string{
			fmt.Sprintf("link add %s type veth peer name cable%d netns %s", near, i, space),
			fmt.Sprintf("addr add %s.1/30 dev %s", network, near), "link set " + near + " up",
			fmt.Sprintf("-n %s addr add %s.2/30 dev cable%d", space, network, i), fmt.Sprintf("-n %s link set cable%d up", space, i),
		} {
			must(t, ip(line))
		}
	}
	h := startHost(t, desk.HostOptions{Listen: ":7433", Prefix: []string{"ip", "netns", "exec", space}})
	p := newPage(t, image.Pt(1280, 720))
	pair(t, p, h.PairURL)
	watch(t, p, "demo")
	recorded(t, h.StateDir, "the round trip of the other cable", func(host, _ telemetry.Log) bool {
		return slices.ContainsFunc(host.Host, func(s telemetry.HostSecond) bool { return s.OtherRTTMs != nil && *s.OtherRTTMs > 0 })
	})
}
