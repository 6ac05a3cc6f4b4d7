package main

import (
	"errors"
	"fmt"

	"nearglass/server"
)

type serveCmd struct {
	settings
	qrFlag
}

// Help is shown below the flags.
func (*serveCmd) Help() string {
	return `Prints the addresses of the page and a pairing code, and serves until Ctrl+C.
Nobody watches without a code. What is shown is chosen on the page.

Examples:
  nearglass serve
  nearglass serve --rights view --source desktop
  nearglass serve --listen 127.0.0.1:7433       this machine only
  nearglass serve --tls-cert desk.crt --tls-key desk.key
  nearglass serve --bitrate 8M                  fixed, whatever the path carries
  nearglass serve --crf 23 --fps 30             coarser and fewer pictures, for a busy machine

The same in the config file, ~/.config/nearglass/config.toml:
  rights = "view"
  max-bitrate = "20M"
  allow-host = ["desk.example.com"]`
}

// Run serves until the context ends.
func (s *serveCmd) Run(e *env) error {
	cfg, err := s.config(e).WithDefaults()
	if err != nil {
		return fmt.Errorf("the settings do not work as they stand:\n%w", err)
	}
	host, err := server.New(cfg, s.newLog(e.err))
	if err != nil {
		return err
	}
	pairing, err := host.Pair(cfg.Rights)
	if err != nil {
		return errors.Join(err, host.Close())
	}
	greet(e, pairing, s.qrFlag)
	return host.Run(e.ctx)
}
