package server

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"nearglass/server/access"
	"nearglass/signaling"
)

// gate lets the HTTP side ask the store of devices, in its own words.
type gate struct{ store *access.Store }

func (g gate) Authenticate(now time.Time, token string) (signaling.Viewer, error) {
	grant, err := g.store.Authenticate(now, token)
	if err != nil {
		return signaling.Viewer{}, sorted{signaling.ErrNotPaired, err}
	}
	if !grant.MayView() {
		return signaling.Viewer{}, fmt.Errorf("%w: its record grants nothing", signaling.ErrNotPaired)
	}
	return viewerOf(grant), nil
}

func (g gate) Redeem(now time.Time, code string, remote netip.Addr, name string) (string, signaling.Viewer, error) {
	token, d, err := g.store.Redeem(now, code, remote, name)
	var locked *access.LockedError
	switch {
	case errors.As(err, &locked):
		return "", signaling.Viewer{}, &signaling.BusyError{RetryAfter: locked.RetryAfter}
	case errors.Is(err, access.ErrCode):
		return "", signaling.Viewer{}, sorted{signaling.ErrNotPaired, err}
	case err != nil:
		return "", signaling.Viewer{}, err
	}
	return token, viewerOf(access.Grant{DeviceID: d.ID, Name: d.Name, Rights: d.Rights}), nil
}

func viewerOf(g access.Grant) signaling.Viewer {
	return signaling.Viewer{Device: g.DeviceID, Name: g.Name, Rights: string(g.Rights)}
}

// grantOf is the grant behind a request that the gate let in.
func grantOf(v signaling.Viewer) access.Grant {
	return access.Grant{DeviceID: v.Device, Name: v.Name, Rights: access.Rights(v.Rights)}
}
