package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"nearglass/gpu/capture"
	"nearglass/signaling"
)

// previewQuality of the JPEG stills in the list of sources: text on them is too
// small to read anyway.
const previewQuality = 80

// Sources lists what can be watched now: the monitors and windows of the
// display, or where there is none the demo desktop. The test pattern can be
// watched by its ID, and is for measuring: it is not listed.
func (h *Host) Sources(ctx context.Context) ([]signaling.Source, error) {
	found, err := h.onDisplay(ctx)
	if err != nil {
		h.log.Warn("listing the display's sources", "err", err)
	}
	if len(found) == 0 {
		found, _ = h.demo.List(ctx)
	}
	list := make([]signaling.Source, len(found))
	for i, s := range found {
		list[i] = listed(s)
	}
	return list, nil
}

// onDisplay lists the sources of the display; none where there is no display.
func (h *Host) onDisplay(ctx context.Context) ([]capture.Source, error) {
	if h.display == nil {
		return nil, nil
	}
	b, err := h.display.backend()
	if err != nil {
		return nil, err
	}
	list, err := b.List(ctx)
	if errors.Is(err, capture.ErrGone) {
		h.lost(b)
		if b, err = h.display.backend(); err == nil {
			list, err = b.List(ctx)
		}
	}
	return list, err
}

func listed(s capture.Source) signaling.Source {
	return signaling.Source{
		ID: s.ID, Kind: string(s.Kind), Title: s.Title, App: s.App,
		X: s.Bounds.Min.X, Y: s.Bounds.Min.Y, Width: s.Bounds.Dx(), Height: s.Bounds.Dy(),
		Scale: s.Scale, Unavailable: s.Unavailable,
	}
}

// Preview returns one still picture of a source.
func (h *Host) Preview(ctx context.Context, id string, most image.Point) ([]byte, error) {
	b, err := h.backend(id)
	if err != nil {
		return nil, forSignaling(err)
	}
	picture, err := capture.Snapshot(ctx, b, id, most)
	if err != nil {
		return nil, forSignaling(err)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: previewQuality}); err != nil {
		return nil, fmt.Errorf("encoding the preview of %s: %w", id, err)
	}
	return out.Bytes(), nil
}

// forSignaling puts an error of capture into the words by which the HTTP side
// chooses its status.
func forSignaling(err error) error {
	switch {
	case errors.Is(err, capture.ErrNotFound), errors.Is(err, capture.ErrClosed):
		return sorted{signaling.ErrNotFound, err}
	case err != nil:
		return sorted{signaling.ErrUnavailable, err}
	}
	return nil
}
