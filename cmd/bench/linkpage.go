package main

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
)

// receiverWatch is run before the scripts of any page that receives: it notes
// every peer connection that the page makes, and writes down four times a
// second what the browser says of the last one's video, and how many pictures
// were shown. So our viewer and the plainest receiver are asked the same.
const receiverWatch = `(() => {
	const bench = window.bench = { samples: [], peers: [], shown: 0 };
	const Plain = window.RTCPeerConnection;
	window.RTCPeerConnection = class extends Plain {
		constructor(...args) { super(...args); bench.peers.push(this); }
	};
	let video;
	const count = (_, m) => { bench.shown = m.presentedFrames; video.requestVideoFrameCallback(count); };
	setInterval(async () => {
		const found = document.querySelector("video");
		if (found && found !== video) { video = found; video.requestVideoFrameCallback(count); }
		const pc = bench.peers.at(-1);
		if (!pc) return;
		for (const s of (await pc.getStats()).values()) {
			if (s.type !== "inbound-rtp" || s.kind !== "video") continue;
			bench.samples.push({ at: performance.timeOrigin + performance.now(), shown: bench.shown,
				decoded: s.framesDecoded, dropped: s.framesDropped, freezes: s.freezeCount, frozen: s.totalFreezesDuration,
				bytes: s.bytesReceived, keyFrames: s.keyFramesDecoded, nacks: s.nackCount, plis: s.pliCount,
				lost: s.packetsLost, width: s.frameWidth ?? 0 });
		}
	}, 250);
})();`

// sample is one note of receiverWatch. At is in milliseconds since 1970; all
// others but Width count from the beginning.
type sample struct {
	At        float64 `json:"at"`
	Shown     float64 `json:"shown"`
	Decoded   float64 `json:"decoded"`
	Dropped   float64 `json:"dropped"`
	Freezes   float64 `json:"freezes"`
	Frozen    float64 `json:"frozen"` // seconds
	Bytes     float64 `json:"bytes"`
	KeyFrames float64 `json:"keyFrames"`
	NACKs     float64 `json:"nacks"`
	PLIs      float64 `json:"plis"`
	Lost      float64 `json:"lost"`
	Width     float64 `json:"width"`
}

// watchReceiver has every page that is opened from now on run receiverWatch
// first.
func watchReceiver(p *desk.Page) error { return runFirst(p, receiverWatch) }

// runFirst has every page that is opened from now on run a script before its own.
func runFirst(p *desk.Page, script string) error {
	_, err := chromedp.Call(p.Context(), page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	return err
}

// gathered waits for the addresses of a connection: there is one, so it takes
// no time, and no candidates need to be carried between the pages.
const gathered = `const gathered = (pc) => pc.iceGatheringState === "complete" ? undefined : new Promise((done) => {
	pc.onicegatheringstatechange = () => pc.iceGatheringState === "complete" && done();
});`

// receiverPage receives one stream as any page does.
const receiverPage = `document.body.innerHTML = '<video muted autoplay playsinline></video>';
` + gathered + `
window.answer = async (offer) => {
	const pc = new RTCPeerConnection();
	pc.ontrack = (e) => { document.querySelector("video").srcObject = new MediaStream([e.track]); };
	await pc.setRemoteDescription({ type: "offer", sdp: offer });
	await pc.setLocalDescription(await pc.createAnswer());
	await gathered(pc);
	return pc.localDescription.sdp;
};`

// senderPage paints the grain (see grainLuma, of which this is the same in
// another language) on a canvas. The numbers come from Go.
const senderPage = `const { width, height, pictures, cell, kinds } = grain;
const mix = (x) => {
	x ^= x >>> 16; x = Math.imul(x, 0x7feb352d);
	x ^= x >>> 15; x = Math.imul(x, 0x846ca68b);
	return (x ^ (x >>> 16)) >>> 0;
};
const stripe = (v) => (v & 511) > 255 ? 511 - (v & 511) : v & 511;
const luma = (x, y, n) => {
	const k = kinds[mix(Math.floor(y / cell) * 64 + Math.floor(x / cell) + 12345) % kinds.length];
	const noise = (mix((n * height + (y >> k.Coarse)) * width + (x >> k.Coarse)) & 255) - 128;
	return 96 + (stripe(8 * (x + 2 * n) + 4 * y) >> 2) + Math.trunc(noise * k.Strength / 128);
};
const canvas = document.createElement("canvas");
canvas.width = width; canvas.height = height;
document.body.append(canvas);
const g = canvas.getContext("2d");
const all = [];
for (let n = 0; n < pictures; n++) {
	const img = g.createImageData(width, height);
	for (let y = 0, i = 0; y < height; y++) for (let x = 0; x < width; x++, i += 4) {
		img.data[i] = img.data[i + 1] = img.data[i + 2] = luma(x, y, n); // clamped by its type
		img.data[i + 3] = 255;
	}
	all.push(img);
}
window.sum = (n) => { let s = 0; for (let i = 0; i < all[n].data.length; i += 4) s += all[n].data[i]; return s; };
let n = 0;
const paint = () => { g.putImageData(all[n++ % pictures], 0, 0); requestAnimationFrame(paint); };
`

// sendingPage sends the canvas that paint begins to paint on.
const sendingPage = gathered + `
let pc, sender;
window.offer = async (codec, maxBitrate) => {
	paint();
	const stream = canvas.captureStream();
	pc = new RTCPeerConnection();
	const t = pc.addTransceiver(stream.getVideoTracks()[0], { direction: "sendonly", streams: [stream], sendEncodings: [{ maxBitrate }] });
	sender = t.sender;
	const codecs = RTCRtpSender.getCapabilities("video").codecs;
	const wanted = codecs.filter((c) => c.mimeType === "video/" + codec);
	t.setCodecPreferences([...wanted, ...codecs.filter((c) => c.mimeType === "video/rtx")]);
	await pc.setLocalDescription(await pc.createOffer());
	await gathered(pc);
	return pc.localDescription.sdp;
};
window.accept = async (answer) => {
	const p = sender.getParameters();
	p.degradationPreference = "maintain-framerate-and-resolution";
	await sender.setParameters(p);
	await pc.setRemoteDescription({ type: "answer", sdp: answer });
};
window.sending = async () => {
	const all = [...(await sender.getStats()).values()], s = all.find((s) => s.type === "outbound-rtp");
	return { source: all.find((s) => s.type === "media-source")?.framesPerSecond ?? 0, encoded: s.framesPerSecond ?? 0,
		encodeMs: s.totalEncodeTime / s.framesEncoded * 1e3 || 0, width: s.frameWidth ?? 0, target: s.targetBitrate ?? 0,
		limited: s.qualityLimitationDurations ?? {}, keyFrames: s.keyFramesEncoded ?? 0, preference: sender.getParameters().degradationPreference ?? "" };
};`

// sending is what Chromium says of its own sending at a run's end.
type sending struct {
	Source     float64            `json:"source"`   // pictures a second from the canvas
	Encoded    float64            `json:"encoded"`  // of these, encoded
	EncodeMs   float64            `json:"encodeMs"` // a picture
	Width      float64            `json:"width"`
	Target     float64            `json:"target"`  // bit/s
	Limited    map[string]float64 `json:"limited"` // seconds by reason
	KeyFrames  float64            `json:"keyFrames"`
	Preference string             `json:"preference"`
}

// openSender makes a page the sender, and checks that it paints what we paint.
func openSender(p *desk.Page) error {
	numbers, _ := json.Marshal(map[string]any{"width": grainSize.X, "height": grainSize.Y, "pictures": grainPictures,
		"cell": grainCell, "kinds": grainKinds})
	if err := p.Run("const grain = " + string(numbers) + ";" + senderPage + sendingPage); err != nil {
		return err
	}
	sum, err := desk.Eval[int](p, "sum(5)")
	if err == nil && sum != grainSum(5) {
		err = fmt.Errorf("the page's pictures are not ours: %d, not %d", sum, grainSum(5))
	}
	return err
}

// connect has one page send to another. The bench carries the descriptions, so
// that nothing but the stream is on the link.
func connect(sender, receiver *desk.Page, codec string, maxBitrate int) error {
	offer, err := desk.Eval[string](sender, fmt.Sprintf("offer(%q, %d)", codec, maxBitrate))
	if err != nil {
		return err
	}
	answer, err := desk.Eval[string](receiver, "answer("+strconv.Quote(offer)+")")
	if err != nil {
		return err
	}
	return sender.Run("await accept(" + strconv.Quote(answer) + ")")
}
