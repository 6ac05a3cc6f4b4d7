package main

import (
	"context"
	"fmt"
	"os"
	"regexp"

	"nearglass/server/e2e/desk"
	"nearglass/server/transport"
)

// idleCmd connects one viewer to a peer that never sends a picture: what is
// left of a host when all that is ours is taken away.
type idleCmd struct{}

// Run prints the address and waits for the context's end.
func (idleCmd) Run(ctx context.Context) error {
	s, err := newStand(loopback, transport.PeerConfig{})
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Println("idle peer at", s.url)
	peer, err := s.viewer(ctx)
	if err != nil {
		return err
	}
	defer peer.Close()
	<-ctx.Done()
	return nil
}

var idleLine = regexp.MustCompile(`idle peer at (\S+)`)

// startIdlePeer runs idleCmd in a process of its own and connects the page.
func startIdlePeer(ctx context.Context, p *desk.Page) (*desk.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	proc, err := desk.Start(ctx, desk.Command{Name: self, Args: []string{"idle-peer"}})
	if err != nil {
		return nil, err
	}
	match, err := proc.Output.Wait(ctx, idleLine)
	if err == nil {
		err = p.Open(match[1])
	}
	if err != nil {
		proc.Stop()
		return nil, err
	}
	return proc, nil
}
