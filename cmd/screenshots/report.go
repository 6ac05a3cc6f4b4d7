package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"nearglass/server/e2e/desk"
)

// reported is the recorded stream whose report is shown: its radio link is away
// for moments.
const reported = "testdata/faults/real/flapping-wifi-350"

// paper is a window in which the page's verdict and its first charts fit.
var paper = desk.Viewport{Width: 1100, Height: 1262}

// report shows the page of a report that the host makes.
func (s *studio) report(p *desk.Page) error {
	dir, err := os.MkdirTemp("", "nearglass-report-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stream, err := s.adopt(reported)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "report.zip")
	if _, err := s.host.Run(s.ctx, "logs", "bundle", stream, "-o", file); err != nil {
		return err
	}
	page, err := unpack(file, dir, "summary.html")
	if err != nil {
		return err
	}
	if err := p.Open("file://" + page); err != nil {
		return err
	}
	return settle(p, 0.5)
}

// adopt puts a recorded stream among those of the host and gives its id.
func (s *studio) adopt(recorded string) (string, error) {
	var stream string
	for _, side := range []string{"host", "viewer"} {
		data, err := os.ReadFile(recorded + "." + side + ".jsonl")
		if err != nil {
			return "", err
		}
		var header struct{ Stream string }
		line, _, _ := bytes.Cut(data, []byte("\n"))
		if err := json.Unmarshal(line, &header); err != nil {
			return "", fmt.Errorf("read the header of %s: %w", recorded, err)
		}
		if stream == "" {
			stream = header.Stream
		}
		folder := filepath.Join(s.host.StateDir, "streams")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, stream+"."+side+".jsonl"), data, 0o600); err != nil {
			return "", err
		}
	}
	return stream, nil
}

// unpack writes one file of a zip file into a folder and gives its path.
func unpack(file, dir, name string) (string, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return "", err
	}
	defer z.Close()
	in, err := z.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, data, 0o600)
}
