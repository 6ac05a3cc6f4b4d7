package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"

	"nearglass/cmd/bench/losslab"
	"nearglass/server/e2e/desk"
)

// lossHash is what the tiles of a number show, and the number's checksum, as
// losslab.Scene has them. Both pages below begin with it.
const lossHash = `const scatter = (x) => {
	x ^= x >>> 16; x = Math.imul(x, 0x7feb352d);
	x ^= x >>> 15; x = Math.imul(x, 0x846ca68b);
	return (x ^ (x >>> 16)) >>> 0;
};
const check = (n) => {
	let c = 255;
	for (let s = 24; s >= 0; s -= 8) {
		c ^= n >>> s & 255;
		for (let i = 0; i < 8; i++) c = (c & 128 ? c << 1 ^ 7 : c << 1) & 255;
	}
	return c;
};
`

// lossWatch is run before the scripts of any page that receives. It looks at every
// picture that the browser decodes, before it is shown: its number and whether all
// tiles are as that number's hash has them (see losslab.Scene).
const lossWatch = `(() => {
	const bench = window.bench = { pictures: [], peers: [], failed: "" };
	const look = (luma, at, stride, scale) => {
		const white = (x, y) => {
			let sum = 0;
			const cx = Math.round((x + layout.Side / 2) * scale), cy = Math.round((y + layout.Side / 2) * scale);
			for (let dy = -2; dy <= 2; dy++) for (let dx = -2; dx <= 2; dx++) sum += luma[at + (cy + dy) * stride + cx + dx];
			return sum >= 25 * 126 ? 1 : 0;
		};
		let n = 0, c = 0;
		for (let i = 0; i < 40; i++) {
			const bit = white(layout.NumberX + i % 8 * layout.Side, layout.NumberY + (i >> 3) * layout.Side);
			if (i < 32) n = (n << 1 | bit) >>> 0; else c = c << 1 | bit;
		}
		if (c !== check(n)) return [-1, 0];
		let wrong = 0;
		layout.Tiles.forEach(([x, y], i) => {
			const want = i < 32 ? scatter(n) >>> i & 1 : scatter(~n >>> 0) >>> i - 32 & 1;
			if (white(x, y) !== want) wrong++;
		});
		return [n, wrong];
	};
	const read = async (track) => {
		const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
		let memory = new Uint8Array(0);
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			const at = performance.timeOrigin + performance.now();
			if (value.format !== "I420" && value.format !== "NV12") throw new Error("a picture of format " + value.format);
			if (memory.length < value.allocationSize()) memory = new Uint8Array(value.allocationSize());
			const [plane] = await value.copyTo(memory);
			bench.pictures.push([at, ...look(memory, plane.offset, plane.stride, value.visibleRect.width / layout.Width)]);
			value.close();
		}
	};
	const Plain = window.RTCPeerConnection;
	window.RTCPeerConnection = class extends Plain {
		constructor(...args) {
			super(...args);
			bench.peers.push(this);
			this.addEventListener("track", (e) => {
				if (e.track.kind === "video") read(e.track).catch((err) => { bench.failed = String(err); });
			});
		}
	};
	bench.stats = async () => {
		for (const s of (await bench.peers.at(-1).getStats()).values())
			if (s.type === "inbound-rtp" && s.kind === "video") return { keys: s.keyFramesDecoded, plis: s.pliCount };
		return { keys: 0, plis: 0 };
	};
})();`

// lossPictures is what lossWatch has seen.
type lossPictures struct {
	Pictures [][3]float64 `json:"pictures"` // ms since 1970, number or -1, wrong tiles
	Failed   string       `json:"failed"`
}

// lossStats is what the browser counts.
type lossStats struct {
	Keys int `json:"keys"`
	PLIs int `json:"plis"`
}

// watchPictures has every page that is opened from now on run lossWatch first, on
// pictures with this layout.
func watchPictures(p *desk.Page, l losslab.Layout) error {
	layout, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return runFirst(p, "{const layout = "+string(layout)+";"+lossHash+lossWatch+"}")
}

// scenePage paints the scene on a canvas as losslab.Scene does, and notes when.
const scenePage = `const page = new Image();
page.src = "data:image/png;base64," + scene;
await page.decode();
const canvas = document.createElement("canvas");
canvas.width = layout.Width; canvas.height = layout.Height;
document.body.append(canvas);
const g = canvas.getContext("2d");
const square = (x, y, white) => { g.fillStyle = white ? "#fff" : "#000"; g.fillRect(x, y, layout.Side, layout.Side); };
const draw = (n) => {
	const top = layout.Scroll * n % (2 * layout.Roam);
	g.drawImage(page, 0, -(top > layout.Roam ? 2 * layout.Roam - top : top));
	for (let i = 0; i < 40; i++)
		square(layout.NumberX + i % 8 * layout.Side, layout.NumberY + (i >> 3) * layout.Side, i < 32 ? n >>> 31 - i & 1 : check(n) >>> 39 - i & 1);
	layout.Tiles.forEach(([x, y], i) => square(x, y, i < 32 ? scatter(n) >>> i & 1 : scatter(~n >>> 0) >>> i - 32 & 1));
};
window.sum = (n) => {
	draw(n);
	const { data } = g.getImageData(0, 0, layout.Width, layout.Height);
	let s = 0;
	for (let i = 0; i < data.length; i += 4) s += data[i];
	return s;
};
window.painted = [];
const paint = () => {
	draw(painted.length);
	painted.push(performance.timeOrigin + performance.now());
	requestAnimationFrame(paint);
};
`

// openScene makes a page the sender, and checks that it paints what we paint.
func openScene(p *desk.Page, s *losslab.Scene) error {
	layout, err := json.Marshal(losslab.NewLayout())
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, s.Page()); err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(picture.Bytes())
	if err := p.Run("const layout = " + string(layout) + `, scene = "` + text + `";` + lossHash + scenePage + sendingPage); err != nil {
		return err
	}
	const sample = 205 // the page scrolls back
	sum, err := desk.Eval[int](p, fmt.Sprintf("sum(%d)", sample))
	if want := s.Sum(sample); err == nil && sum != want {
		err = fmt.Errorf("the page's pictures are not ours: %d, not %d", sum, want)
	}
	return err
}
