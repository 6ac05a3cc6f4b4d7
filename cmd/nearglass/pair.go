package main

import (
	"context"
	"errors"
	"fmt"

	"nearglass/server"
	"nearglass/server/access"
)

type pairCmd struct {
	New    pairNewCmd    `cmd:"" default:"withargs" help:"Print a code and a QR code for a new device (the default)."`
	List   pairListCmd   `cmd:"" help:"List the paired devices."`
	Revoke pairRevokeCmd `cmd:"" help:"End a device: it is cut off at once."`
	Token  pairTokenCmd  `cmd:"" help:"Print a token for a WHEP player, which cannot type a code."`
}

// Help is shown below the flags.
func (*pairCmd) Help() string {
	return `A device is let in by a code that works once and for ten minutes. What it may
do, control or view, is fixed by that code for as long as it stays paired.

Examples:
  nearglass pair                      a code that grants what the host grants
  nearglass pair --rights view        a code for somebody who only watches
  nearglass pair list
  nearglass pair revoke 3f9a01c2
  nearglass pair token "wall screen"  for: Authorization: Bearer TOKEN`
}

type pairNewCmd struct {
	Rights string `help:"control or view (default: as the host was started)." enum:"control,view," default:""`
	JSON   bool   `name:"json" help:"Print JSON, for programs."`
	qrFlag
}

// Run asks the running host for a code; only that can let somebody in.
func (p *pairNewCmd) Run(e *env) error {
	dir, err := e.stateDir()
	if err != nil {
		return err
	}
	host, err := server.DialControl(e.ctx, dir)
	if errors.Is(err, server.ErrNoHost) {
		return fmt.Errorf("%w: start it with nearglass serve, which prints a code of its own", err)
	}
	if err != nil {
		return err
	}
	pairing, err := host.Pair(e.ctx, access.Rights(p.Rights))
	if err != nil {
		return err
	}
	if p.JSON {
		return printJSON(e.out, pairing)
	}
	greet(e, pairing, p.qrFlag)
	return nil
}

// devices is a state folder's list: a running host's or the file's.
type devices interface {
	Devices(ctx context.Context) ([]access.Device, error)
	Issue(ctx context.Context, name string, rights access.Rights) (server.Issued, error)
	Revoke(ctx context.Context, id string) error
}

func (e *env) devices() (devices, error) {
	dir, err := e.stateDir()
	if err != nil {
		return nil, err
	}
	if host, err := server.DialControl(e.ctx, dir); err == nil {
		return host, nil
	}
	return server.OpenDevicesFile(dir)
}
