package e2e

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"nearglass/gpu"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/h264"
	"nearglass/server/e2e/desk"
)

// decodeScript decodes the units of /units, one after the other, each as soon as
// the one before is shown, and leaves the SHA-256 sum of each picture in
// window.decoded, or in its place what went wrong.
const decodeScript = `
window.decoded = null;
(async () => {
	const units = new DataView(await (await fetch("/units")).arrayBuffer());
	const frames = [];
	let shown, failed;
	const decoder = new VideoDecoder({
		output: (frame) => { frames.push(frame); shown(); },
		error: (e) => failed(e),
	});
	decoder.configure({ codec: CODEC, optimizeForLatency: true, hardwareAcceleration: "prefer-software" });
	const sums = [];
	for (let at = 0, n = 0; at < units.byteLength; n++) {
		const size = units.getUint32(at), key = units.getUint8(at + 4) === 1;
		const data = new Uint8Array(units.buffer, at + 5, size);
		at += 5 + size;
		const done = new Promise((resolve, reject) => { shown = resolve; failed = reject; });
		decoder.decode(new EncodedVideoChunk({ type: key ? "key" : "delta", timestamp: n * 1000, data }));
		await done;
		const frame = frames.pop();
		if (frames.length || frame.timestamp !== n * 1000) throw new Error("unit " + n + " gave more than its own picture");
		if (frame.format !== "I420") throw new Error("a picture in " + frame.format);
		const planes = new Uint8Array(frame.allocationSize());
		await frame.copyTo(planes);
		frame.close();
		sums.push(new Uint8Array(await crypto.subtle.digest("SHA-256", planes)).toHex());
		window.progress = n;
	}
	window.decoded = sums;
})().catch((e) => { window.decoded = [String(e)]; });
`

// film is a stream of random boxes in which pictures are dropped at random.
type film struct {
	t       *testing.T
	rng     *rand.Rand
	encoder encode.Encoder
	picture *image.RGBA
	units   []encode.AccessUnit
	drops   int
}

func newFilm(t *testing.T, c encode.Config) *film {
	t.Helper()
	e, err := encode.Open(c)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this build has no encoder")
	}
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return &film{t: t, rng: rand.New(rand.NewPCG(4, 700)), encoder: e, picture: image.NewRGBA(image.Rectangle{Max: c.Size})}
}

// load draws another box, at times over the whole picture, and loads it.
func (f *film) load() {
	size := f.picture.Rect.Size()
	at := image.Pt(f.rng.IntN(size.X), f.rng.IntN(size.Y))
	box := image.Rectangle{at, at.Add(image.Pt(1+f.rng.IntN(80), 1+f.rng.IntN(80)))}.Intersect(f.picture.Rect)
	if f.rng.IntN(4) == 0 {
		box = f.picture.Rect
	}
	ink := color.RGBA{uint8(f.rng.Uint32()), uint8(f.rng.Uint32()), uint8(f.rng.Uint32()), 255}
	draw.Draw(f.picture, box, image.NewUniform(ink), image.Point{}, draw.Src)
	pix := slices.Clone(f.picture.Pix)
	for i := 0; i < len(pix); i += 4 {
		pix[i], pix[i+2] = pix[i+2], pix[i]
	}
	must(f.t, f.encoder.Load(&gpu.Frame{Size: size, Stride: 4 * size.X, Format: gpu.BGRA, Pix: pix, Damage: []image.Rectangle{box}}))
}

// encode encodes the loaded picture, and in a third of the cases takes it back
// and encodes it again.
func (f *film) encode() {
	u, err := f.encoder.Encode(encode.Order{QP: 16 + f.rng.IntN(30), Key: f.rng.IntN(200) == 0})
	must(f.t, err)
	if f.rng.IntN(3) > 0 {
		f.units = append(f.units, u)
		return
	}
	instead, err := f.encoder.Drop()
	if errors.Is(err, encode.ErrNotDroppable) {
		f.units = append(f.units, u)
		return
	}
	must(f.t, err)
	f.drops++
	again, err := f.encoder.Encode(encode.Order{QP: 40})
	must(f.t, err)
	f.units = append(f.units, instead, again)
}

// annexB writes a unit as a byte stream.
func annexB(u encode.AccessUnit) []byte {
	var b []byte
	for _, nal := range u.NALs {
		b = append(append(b, 0, 0, 0, 1), nal...)
	}
	return b
}

// served is the film as decodeScript reads it.
func (f *film) served() []byte {
	var b []byte
	for _, u := range f.units {
		data, key := annexB(u), byte(0)
		if u.Key {
			key = 1
		}
		b = append(append(binary.BigEndian.AppendUint32(b, uint32(len(data))), key), data...)
	}
	return b
}

// sums are the SHA-256 sums of the pictures that ffmpeg decodes; that they are
// the encoder's own is tested beside the encoder.
func (f *film) sums() []string {
	must(f.t, desk.Need("ffmpeg"))
	var stream bytes.Buffer
	for _, u := range f.units {
		stream.Write(annexB(u))
	}
	cmd := exec.CommandContext(f.t.Context(), "ffmpeg", "-v", "error", "-xerror", "-f", "h264", "-i", "-", "-vsync", "passthrough", "-pix_fmt", "yuv420p", "-f", "framehash", "-hash", "sha256", "-")
	cmd.Stdin = &stream
	out, err := cmd.Output()
	must(f.t, err)
	var sums []string
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); !strings.HasPrefix(line, "#") {
			sums = append(sums, fields[len(fields)-1])
		}
	}
	return sums
}

// Chromium decodes a stream with placeholders picture by picture, without an
// error and without holding one back, to what ffmpeg makes of it.
func TestPlaceholdersInChromium(t *testing.T) {
	for _, c := range []struct {
		codec   string
		profile h264.Profile
		drops   int
	}{{"avc1.42e01f", h264.ConstrainedBaseline, 700}, {"avc1.64001f", h264.High, 100}} {
		t.Run(c.codec, func(t *testing.T) {
			f := newFilm(t, encode.Config{Size: image.Pt(320, 180), Threads: 2, Profile: c.profile})
			for f.load(); f.drops < c.drops; f.load() {
				f.encode()
			}
			page := newPage(t, image.Pt(320, 180))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/units" {
					_, _ = w.Write(f.served())
				}
			}))
			defer server.Close()
			must(t, page.Open(server.URL))
			must(t, page.Run(strings.ReplaceAll(decodeScript, "CODEC", `"`+c.codec+`"`)))
			if err := page.WaitFor("decoded", 3*patience); err != nil {
				last, _ := desk.Eval[int](page, "progress")
				t.Fatalf("%v: the last of %d pictures shown is %d", err, len(f.units), last)
			}
			got, err := desk.Eval[[]string](page, "decoded")
			must(t, err)
			want := f.sums()
			if len(want) != len(f.units) || len(got) != len(want) {
				t.Fatalf("%d units gave %d pictures in Chromium (%.80s) and %d in ffmpeg", len(f.units), len(got), strings.Join(got, " "), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("picture %d of %d is not what ffmpeg makes of it", i, len(got))
				}
			}
			t.Logf("%d pictures, %d of them placeholders", len(got), f.drops)
		})
	}
}
