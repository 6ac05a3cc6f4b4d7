package server

import (
	"cmp"
	"maps"
	"slices"

	"nearglass/signaling"
)

// Streams gives the figures of all streams to a device that may control the
// host: they tell who watches what.
func (h *Host) Streams(asks signaling.Viewer) ([]signaling.Running, error) {
	if !grantOf(asks).MayControl() {
		return nil, signaling.ErrRights
	}
	h.mu.Lock()
	viewers := slices.Collect(maps.Keys(h.viewers))
	h.mu.Unlock()
	var list []signaling.Running
	for _, v := range viewers {
		list = append(list, signaling.Running{
			ID: v.recorder.id, Device: v.grant.DeviceID, Source: v.stage.key.id, Begun: v.recorder.zero, Figures: v.snapshot(),
		})
	}
	slices.SortFunc(list, func(a, b signaling.Running) int { return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.ID, b.ID)) })
	return list, nil
}
