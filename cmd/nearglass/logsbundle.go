package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"nearglass/server"
)

type logsBundleCmd struct {
	streamArg
	Output string `short:"o" help:"File to write (default: nearglass-STREAM.zip here)." placeholder:"FILE"`
}

// Run writes the report on a stream. A file that is there already stays.
func (b *logsBundleCmd) Run(e *env) error {
	dir, err := e.stateDir()
	if err != nil {
		return err
	}
	_, id, err := b.find(e)
	if err != nil {
		return err
	}
	name := b.Output
	if name == "" {
		name = "nearglass-" + strings.ToLower(id) + ".zip"
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: name another with -o", name)
	}
	if err != nil {
		return fmt.Errorf("making the file: %w", err)
	}
	err = errors.Join(server.WriteReport(f, dir, build().Version, id), f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	fmt.Fprintf(e.out, "%s\nIt has the addresses of both ends, and no name, title, key or typed text. Open summary.html in it to see what it says.\n", name)
	return nil
}
