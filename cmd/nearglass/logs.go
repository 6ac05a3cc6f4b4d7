package main

import (
	"errors"
	"fmt"

	"nearglass/server"
	"nearglass/telemetry"
)

type logsCmd struct {
	List   logsListCmd   `cmd:"" default:"withargs" help:"List the recorded streams (the default)."`
	Show   logsShowCmd   `cmd:"" help:"Print a stream's timeline."`
	Tail   logsTailCmd   `cmd:"" help:"Print a stream's newest seconds and go on with it."`
	Bundle logsBundleCmd `cmd:"" help:"Write one file with all that is known of a stream, for a bug report."`
}

// Help is shown below the flags.
func (*logsCmd) Help() string {
	return `Every stream is recorded at both ends. STREAM is its id, or the first letters
of it; without one the newest stream is meant. The host need not run.

Examples:
  nearglass logs
  nearglass logs show
  nearglass logs tail
  nearglass logs bundle                  writes nearglass-ID.zip here
  nearglass logs bundle 7QX -o slow.zip`
}

// streamArg names a stream.
type streamArg struct {
	Stream string `arg:"" optional:"" help:"Id of the stream, or how it begins (default: the newest)."`
}

// find gives the logs of the state folder and the stream that is meant.
func (a streamArg) find(e *env) (*telemetry.Store, string, error) {
	dir, err := e.stateDir()
	if err != nil {
		return nil, "", err
	}
	store := server.OpenStreamLogs(dir)
	list, err := store.List()
	if err != nil {
		return nil, "", err
	}
	id, err := choose(list, a.Stream)
	return store, id, err
}

// choose finds the one stream whose id begins so.
func choose(list []telemetry.Stored, prefix string) (string, error) {
	if len(list) == 0 {
		return "", errors.New("no stream was recorded yet: one is as soon as somebody watches")
	}
	found := ""
	for _, s := range list {
		switch {
		case prefix == "" || s.Stream == prefix:
			return s.Stream, nil
		case len(prefix) > len(s.Stream) || s.Stream[:len(prefix)] != prefix:
		case found != "":
			return "", fmt.Errorf("several streams begin with %q: write more of the id, as nearglass logs has it", prefix)
		default:
			found = s.Stream
		}
	}
	if found == "" {
		return "", fmt.Errorf("no recorded stream begins with %q: nearglass logs lists them", prefix)
	}
	return found, nil
}

// readLogs reads both ends' logs of a stream; the viewer's may be missing.
func readLogs(store *telemetry.Store, stream string) (host, viewer telemetry.Log, err error) {
	if host, err = store.Read(stream, telemetry.HostSide); err != nil {
		return host, viewer, err
	}
	viewer, err = store.Read(stream, telemetry.ViewerSide)
	if errors.Is(err, telemetry.ErrNoLog) {
		err = nil
	}
	return host, viewer, err
}
