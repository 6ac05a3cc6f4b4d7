package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"nearglass/server/e2e/desk"
)

// fixedSample is every how many pictures one is compared.
const fixedSample = 20

// fixedBitratePSNR encodes so many states of the moving picture as a pipeline
// of fixed bitrate does (x264, ultrafast, zerolatency, CBR with a VBV of half a
// second), decodes them, and gives the mean luma PSNR in dB from the third
// second on. It compares the luma planes, which spares this pipeline the last
// rounding to RGB that a viewer's screen has.
func fixedBitratePSNR(ctx context.Context, m *moving, pictures, kbps int) (float64, error) {
	dir, err := os.MkdirTemp("", "nearglass-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "fixed.h264")
	if err := encodeFixed(ctx, m, pictures, kbps, file); err != nil {
		return 0, err
	}
	return compareFixed(ctx, m, file)
}

// ffmpeg makes a run of it that says nothing unless it fails.
func ffmpeg(ctx context.Context, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, "ffmpeg", append([]string{"-y", "-v", "error", "-nostdin"}, args...)...)
	log := new(bytes.Buffer)
	cmd.Stderr = log
	return cmd, log
}

func encodeFixed(ctx context.Context, m *moving, pictures, kbps int, file string) error {
	args := append([]string{"-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", fmt.Sprintf("%dx%d", m.size.X, m.size.Y),
		"-r", strconv.Itoa(fps), "-i", "-"}, fixedEncoder(kbps)...)
	cmd, log := ffmpeg(ctx, append(args, file)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for n := range pictures {
		if _, err := in.Write(planes(m.rgba(n, uint32(n)))); err != nil {
			break // Wait says why
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %s", err, log)
	}
	return nil
}

// compareFixed decodes the file and compares a sample of its pictures.
func compareFixed(ctx context.Context, m *moving, file string) (float64, error) {
	cmd, log := ffmpeg(ctx, "-i", file, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var all []float64
	shot := make([]byte, m.size.X*m.size.Y*3/2)
	for n := 0; ; n++ {
		if _, err := io.ReadFull(out, shot); err != nil {
			break // Wait says whether it was the end
		}
		if n >= 2*fps && n%fixedSample == 0 {
			all = append(all, lumaPSNR(shot, m.rgba(n, uint32(n))))
		}
	}
	if err := cmd.Wait(); err != nil {
		return 0, fmt.Errorf("ffmpeg: %w: %s", err, log)
	}
	return mean(all)
}

// Shares of red, green and blue in the planes of BT.709 with limited range,
// times 2^20.
const (
	yR, yG, yB = 191455, 644065, 65019    // 0.2126, 0.7152, 0.0722, times 219/255
	uR, uG, uB = -105533, -355019, 460552 // (B-Y)/1.8556, times 224/255
	vR, vG, vB = 460552, -418321, -42231  // (R-Y)/1.5748, times 224/255
	half       = 1 << 19
)

// planes converts a picture of even size to I420, BT.709 of limited range.
func planes(img *image.RGBA) []byte {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := make([]byte, w*h*3/2)
	for i := range w * h {
		p := img.Pix[4*i : 4*i+3]
		out[i] = byte(16 + (yR*int(p[0])+yG*int(p[1])+yB*int(p[2])+half)>>20)
	}
	u, v := out[w*h:w*h*5/4], out[w*h*5/4:]
	for y := range h / 2 {
		above, below := img.Pix[2*y*img.Stride:], img.Pix[(2*y+1)*img.Stride:]
		for x := range w / 2 {
			a, b := above[8*x:8*x+8], below[8*x:8*x+8]
			red, green, blue := int(a[0])+int(a[4])+int(b[0])+int(b[4]), int(a[1])+int(a[5])+int(b[1])+int(b[5]), int(a[2])+int(a[6])+int(b[2])+int(b[6])
			u[y*w/2+x] = byte(128 + (uR*red+uG*green+uB*blue+4*half)>>22)
			v[y*w/2+x] = byte(128 + (vR*red+vG*green+vB*blue+4*half)>>22)
		}
	}
	return out
}

// lumaPSNR compares the luma plane of limited range with a picture.
func lumaPSNR(luma []byte, want *image.RGBA) float64 {
	sum, n := 0.0, want.Rect.Dx()*want.Rect.Dy()
	for i := range n {
		d := (float64(luma[i])-16)*255/219 - desk.Luma(want.Pix[4*i], want.Pix[4*i+1], want.Pix[4*i+2])
		sum += d * d
	}
	return 10 * math.Log10(255*255*float64(n)/sum)
}

// fixedTime is how long a fixed-bitrate pipeline's CPU is measured.
const fixedTime = 5 * time.Second

// pipelineCPU is what a pipeline that captures the moving screen of the source
// costs, in cores. Nobody watches beside it.
func (g *glass) pipelineCPU(ctx context.Context, c desk.Command) (float64, error) {
	p, err := desk.Start(ctx, c)
	if err != nil {
		return 0, err
	}
	defer p.Stop()
	settle, cancel := context.WithTimeout(ctx, time.Second)
	g.painter.move(settle, true)
	cancel()
	before, start := groupCPU(p.Pid()), time.Now()
	moving, cancel := context.WithTimeout(ctx, fixedTime)
	defer cancel()
	g.painter.move(moving, true)
	used, took := groupCPU(p.Pid())-before, time.Since(start)
	if err := p.Err(); err != nil {
		return 0, fmt.Errorf("capture with %s: %w", c.Name, err)
	}
	return used.Seconds() / took.Seconds(), nil
}

// ffmpegPipeline captures and encodes at a fixed bitrate and sends nothing.
func (g *glass) ffmpegPipeline() desk.Command {
	args := append([]string{"-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", "0", "-framerate", strconv.Itoa(fps),
		"-video_size", fmt.Sprintf("%dx%d", glassSize.X, glassSize.Y), "-i", g.source.name}, fixedEncoder(fixedKbps)...)
	return desk.Command{Name: "ffmpeg", Args: append(args, "-f", "null", "-")}
}

// gstreamerPipeline captures and encodes at a fixed bitrate and sends plain RTP
// to a port of this machine: the pipeline of the anchor, less what its webrtcbin
// adds (DTLS, SRTP, ICE).
func (g *glass) gstreamerPipeline(port int) desk.Command {
	return desk.Command{Name: "gst-launch-1.0", Args: []string{"-q",
		"ximagesrc", "display-name=" + g.source.name, "use-damage=false", "show-pointer=false",
		"!", fmt.Sprintf("video/x-raw,framerate=%d/1", fps), "!", "videoconvert",
		"!", "x264enc", "tune=zerolatency", "speed-preset=ultrafast", "bitrate=" + strconv.Itoa(fixedKbps), "key-int-max=9999",
		"!", "video/x-h264,profile=constrained-baseline", "!", "rtph264pay",
		"!", "udpsink", "host=127.0.0.1", "port=" + strconv.Itoa(port)}}
}

// fixedEncoder are ffmpeg's arguments for x264 at a fixed bitrate: ultrafast,
// zerolatency, CBR with a VBV of half a second.
func fixedEncoder(kbps int) []string {
	r := strconv.Itoa(kbps) + "k"
	return []string{"-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "9999",
		"-b:v", r, "-minrate", r, "-maxrate", r, "-bufsize", strconv.Itoa(kbps/2) + "k"}
}
