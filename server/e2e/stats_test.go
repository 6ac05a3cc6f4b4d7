package e2e

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"nearglass/server/e2e/desk"
)

// statsText is what a part of the overlay says.
func statsText(t *testing.T, p *desk.Page, part string) string {
	t.Helper()
	s, err := desk.Eval[string](p, "document.querySelector('[data-testid="+part+"]').textContent")
	must(t, err)
	return s
}

func clickOn(t *testing.T, p *desk.Page, part string) {
	t.Helper()
	must(t, p.Run("document.querySelector('[data-testid="+part+"]').click()"))
}

// box is where the overlay lies, in CSS pixels.
type box struct{ Left, Top, Right, Bottom float64 }

func statsBox(t *testing.T, p *desk.Page) box {
	t.Helper()
	b, err := desk.Eval[box](p, `(r => ({ Left: r.left, Top: r.top, Right: r.right, Bottom: r.bottom }))(document.querySelector("[data-testid=stats-overlay]").getBoundingClientRect())`)
	must(t, err)
	return b
}

// TestStatsOverlay: the overlay fills with the figures of both ends, keeps its
// place and size, leaves the middle of the screen free, and is quiet when closed.
func TestStatsOverlay(t *testing.T) {
	h := startHost(t, desk.HostOptions{})
	for _, port := range []desk.Viewport{
		{Width: 1280, Height: 720},
		{Width: 390, Height: 844, Scale: 2, Mobile: true, Touch: true},
		{Width: 844, Height: 390, Scale: 2, Mobile: true, Touch: true, Landscape: true},
	} {
		t.Run(fmt.Sprintf("%dx%d", port.Width, port.Height), func(t *testing.T) {
			p := newPage(t, image.Pt(port.Width, port.Height))
			must(t, p.Viewport(port))
			pair(t, p, newLink(t, h, "control"))
			watch(t, p, "demo")
			clickOn(t, p, "btn-stats")
			first := statsBox(t, p)
			must(t, p.WaitFor(`["stat-delay", "stat-encode", "stat-network", "stat-decode", "stat-host", "stat-rate"].every(
				(part) => /\d/.test(document.querySelector("[data-testid=" + part + "]")?.textContent ?? ""))`, patience))
			if now := statsBox(t, p); now != first {
				t.Errorf("the overlay lay at %v and lies at %v", first, now)
			}
			if x, y := float64(port.Width)/2, float64(port.Height)/2; first.Left <= x && x <= first.Right && first.Top <= y && y <= first.Bottom {
				t.Errorf("the overlay at %v covers the middle of %v by %v", first, port.Width, port.Height)
			}
			if first.Left < 0 || first.Top < 0 || first.Right > float64(port.Width) || first.Bottom > float64(port.Height) {
				t.Errorf("the overlay at %v lies outside of %v by %v", first, port.Width, port.Height)
			}
			if got := statsText(t, p, "stat-route"); got != "this machine" {
				t.Errorf("the route is %q", got)
			}
			t.Logf("limit: %s; delay %s", statsText(t, p, "stat-limit"), statsText(t, p, "stat-delay"))
			copyStats(t, p)
			must(t, p.Run(`document.querySelector("[data-testid=stats-close]").focus()`))
			must(t, p.Key("Escape", "Escape"))
			must(t, p.WaitFor(`document.querySelector("[data-testid=stats-overlay]").hidden`, patience))
		})
	}
}

// copyStats has the page copy the figures, and reads them where they go.
func copyStats(t *testing.T, p *desk.Page) {
	t.Helper()
	text, err := desk.Eval[string](p, `new Promise((resolve) => {
		navigator.clipboard.writeText = (text) => { resolve(text); return Promise.resolve(); };
		document.querySelector("[data-testid=stats-copy]").click();
	})`)
	must(t, err)
	for _, want := range []string{"nearglass: 2", "Limited by: ", "Route: this machine", "By stage: capture ", "Host: "} {
		if !strings.Contains(text, want) {
			t.Errorf("the copied text lacks %q:\n%s", want, text)
		}
	}
	must(t, p.WaitFor(`document.querySelector("[data-testid=stats-copy]").textContent == "Copied"`, patience))
}
