package e2e

import (
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"nearglass/server/e2e/desk"
)

// player is a WHEP player, as there are others than our page: it has a token
// and no cookie, opens no data channel and cannot draw a pointer.
const player = `
	const pc = new RTCPeerConnection();
	pc.addTransceiver("video", { direction: "recvonly" });
	const video = document.createElement("video");
	video.muted = video.autoplay = true;
	video.id = "player";
	document.body.append(video);
	pc.ontrack = e => { video.srcObject = new MediaStream([e.track]) };
	await pc.setLocalDescription();
	await new Promise(done => {
		const check = () => pc.iceGatheringState === "complete" && done();
		pc.onicegatheringstatechange = check;
		check();
	});
	const authorization = "Bearer %s";
	const reply = await fetch("/whep/desktop", {
		method: "POST", credentials: "omit", body: pc.localDescription.sdp,
		headers: { "content-type": "application/sdp", authorization },
	});
	if (reply.status !== 201) throw new Error(reply.status + " " + await reply.text());
	await pc.setRemoteDescription({ type: "answer", sdp: await reply.text() });
	window.leave = async () => {
		const r = await fetch(reply.headers.get("location"), { method: "DELETE", credentials: "omit", headers: { authorization } });
		pc.close();
		return r.status;
	}`

// TestWHEPPlayer: a player that is not our page has the pointer in its video.
func TestWHEPPlayer(t *testing.T) {
	size := image.Pt(800, 600)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	w := openWindow(t, x, image.Rectangle{Max: size}, "gray")
	w.Fill(image.Rectangle{Max: size}, color.RGBA{190, 190, 190, 255})
	h := startHost(t, desk.HostOptions{Display: x.Name()})
	out, err := h.Run(t.Context(), "pair", "token", "player")
	must(t, err)
	v := &viewer{Page: newPage(t, size), x: x, host: h}
	must(t, v.Open(h.URL))
	must(t, v.Run(fmt.Sprintf(player, strings.TrimSpace(out))))
	for _, at := range []image.Point{{300, 200}, {640, 480}} {
		v.moveAtHost(t, at)
		v.waitPointer(t, at)
	}
	if status, err := desk.Eval[int](v.Page, "leave()"); status != 200 || err != nil {
		t.Errorf("leaving was answered with %d, %v", status, err)
	}
	must(t, desk.Poll(within(t, patience), "the host to end the stream", func() (bool, error) {
		return v.logged("viewer ended"), nil
	}))
}

// waitPointer waits until the player's video differs from the screen, which
// has no pointer in it, at this place and nowhere else.
func (v *viewer) waitPointer(t *testing.T, at image.Point) {
	t.Helper()
	around := image.Rectangle{Min: at, Max: at}.Inset(-24)
	last := "no picture"
	err := desk.Poll(within(t, patience), fmt.Sprintf("the pointer at %v in the video", at), func() (bool, error) {
		got, err := readLuma(v.Page, `takeLuma(document.querySelector("#player"))`)
		if err != nil {
			last = err.Error() // no picture yet
			return false, nil
		}
		want := v.grab(t, image.Rectangle{})
		if got.size != want.Rect.Size() {
			last = fmt.Sprintf("a picture of %v", got.size)
			return false, nil
		}
		count, where := got.clearly(want)
		last = fmt.Sprintf("%d pixels differ, in %v", count, where)
		return count >= 20 && where.In(around), nil
	})
	if err != nil {
		t.Errorf("%v; last: %s", err, last)
	}
	t.Log(last)
}
