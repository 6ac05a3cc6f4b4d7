package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// psnrLine is where ffmpeg prints what x264 measured of all pictures but the
// first, which is a key frame and poor.
var psnrLine = regexp.MustCompile(`frame P:.*PSNR Mean Y:([\d.]+)`)

// fixedBitratePSNR encodes the moving picture as a pipeline of fixed bitrate
// does (x264, ultrafast, zerolatency, CBR with a VBV of half a second) and
// gives the mean luma PSNR that x264 reports for it, in dB. It is free of the
// two conversions of color that a picture on a viewer's screen has been
// through, so it flatters the baseline.
func fixedBitratePSNR(ctx context.Context, m *moving, pictures int, kbps int) (float64, error) {
	r := strconv.Itoa(kbps) + "k"
	cmd := exec.CommandContext(ctx, "ffmpeg", "-hide_banner", "-nostats", "-f", "rawvideo", "-pix_fmt", "bgr0",
		"-s", fmt.Sprintf("%dx%d", m.size.X, m.size.Y), "-r", strconv.Itoa(fps), "-i", "-",
		"-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "9999",
		"-b:v", r, "-minrate", r, "-maxrate", r, "-bufsize", strconv.Itoa(kbps/2)+"k", "-flags", "+psnr", "-f", "null", "-")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pix := make([]byte, 4*m.size.X*m.size.Y)
	for n := range pictures {
		m.draw(pix, 4*m.size.X, n)
		number(pix, 4*m.size.X, uint32(n))
		if _, err := in.Write(pix); err != nil {
			break // Wait says why
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		return 0, fmt.Errorf("ffmpeg: %w: %s", err, log.Bytes())
	}
	match := psnrLine.FindSubmatch(log.Bytes())
	if match == nil {
		return 0, fmt.Errorf("ffmpeg printed no PSNR")
	}
	return strconv.ParseFloat(string(match[1]), 64)
}
