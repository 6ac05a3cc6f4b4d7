package main

import (
	"errors"
	"fmt"

	"nearglass/server/access"
)

type pairRevokeCmd struct {
	ID string `arg:"" help:"Id of the device, as pair list shows it."`
}

// Run ends a device.
func (p *pairRevokeCmd) Run(e *env) error {
	d, err := e.devices()
	if err != nil {
		return err
	}
	if err := d.Revoke(e.ctx, p.ID); err != nil {
		if errors.Is(err, access.ErrDevice) {
			return fmt.Errorf("%w (nearglass pair list shows the ids)", err)
		}
		return err
	}
	fmt.Fprintf(e.out, "Device %s is no longer paired.\n", p.ID)
	return nil
}

type pairTokenCmd struct {
	Name   string `arg:"" help:"What pair list should call it."`
	Rights string `help:"view or control." default:"view" enum:"view,control"`
}

// Run prints a token; it is the one time that it can be seen.
func (p *pairTokenCmd) Run(e *env) error {
	d, err := e.devices()
	if err != nil {
		return err
	}
	issued, err := d.Issue(e.ctx, p.Name, access.Rights(p.Rights))
	if err != nil {
		return err
	}
	fmt.Fprintln(e.err, "Device", issued.Device.ID, "is paired to", string(issued.Device.Rights)+". Its token, shown this once:")
	fmt.Fprintln(e.out, issued.Token)
	return nil
}
