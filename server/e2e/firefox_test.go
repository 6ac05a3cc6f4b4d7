package e2e

import (
	"strings"
	"testing"

	"nearglass/server/e2e/desk"
)

// TestFirefoxSmoke: Firefox shows the pictures, or, where it has no H.264
// decoder, its page says so plainly and for good.
func TestFirefoxSmoke(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	startClock(t, x)
	h := startHost(t, desk.HostOptions{Display: x.Name()})
	f, err := desk.StartFirefox(shared.ctx, nil)
	must(t, err)
	t.Cleanup(f.Close)
	must(t, f.Open(h.PairURL))
	waitFirefox(t, f, "the list of sources", func(s firefoxState) bool { return s.State == "sources" })
	_, err = desk.EvalFirefox[bool](f, "(location.hash = '#/watch/desktop', true)")
	must(t, err)
	offers, err := desk.EvalFirefox[bool](f, `(async () => {
		const pc = new RTCPeerConnection();
		pc.addTransceiver("video", { direction: "recvonly" });
		const { sdp } = await pc.createOffer();
		pc.close();
		return /H264/i.test(sdp);
	})()`)
	must(t, err)
	if !offers {
		t.Log("this Firefox offers no H.264")
		testSaysNoH264(t, f)
		return
	}
	s := waitFirefox(t, f, "pictures", func(s firefoxState) bool { return s.State == "live" && s.Frames > 2 })
	if s.Width != 640 || s.Height != 480 {
		t.Errorf("the picture is %d by %d", s.Width, s.Height)
	}
}

func testSaysNoH264(t *testing.T, f *desk.Firefox) {
	t.Helper()
	s := waitFirefox(t, f, "the page to say so", func(s firefoxState) bool { return s.State == "failed" })
	t.Logf("the page says: %s", s.Words)
	for _, word := range []string{"This browser offers no H.264", "OpenH264 plugin"} {
		if !strings.Contains(s.Words, word) {
			t.Errorf("the page does not speak of %s: %s", word, s.Words)
		}
	}
}

// firefoxState is what the page shows.
type firefoxState struct {
	State, Words  string
	Frames        int
	Width, Height int
}

func waitFirefox(t *testing.T, f *desk.Firefox, what string, match func(firefoxState) bool) firefoxState {
	t.Helper()
	var last firefoxState
	err := desk.Poll(within(t, 2*patience), what, func() (ok bool, err error) {
		last, err = desk.EvalFirefox[firefoxState](f, `(() => {
			const n = window.nearglass, v = document.querySelector("video"), w = document.querySelector("[data-testid=verdict]");
			return { State: n?.state ?? "", Frames: n?.frames ?? 0, Words: w && !w.hidden ? w.innerText.replace(/\s+/g, " ") : "",
				Width: v?.videoWidth ?? 0, Height: v?.videoHeight ?? 0 };
		})()`)
		return err == nil && match(last), err
	})
	if err != nil {
		t.Fatalf("%v; the page is %+v", err, last)
	}
	return last
}
