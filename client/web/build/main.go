// Command build writes the viewer's bundle to client/web/dist. Run it from the
// root of the repository after a change under client/web/src, and commit what
// it writes:
//
//	go run ./client/web/build
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"nearglass/client/web/bundle"
)

func main() {
	dir := flag.String("dir", "client/web", "folder of the viewer")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// run replaces dir/dist whole, so that no file of an older build stays behind.
func run(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("resolve the viewer's folder: %w", err)
	}
	files, err := bundle.Build(dir)
	if err != nil {
		return err
	}
	dist := filepath.Join(dir, "dist")
	if err := os.RemoveAll(dist); err != nil {
		return fmt.Errorf("clear the old bundle: %w", err)
	}
	for name, data := range files {
		target := filepath.Join(dist, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fmt.Errorf("make a folder of the bundle: %w", err)
		}
		if err := os.WriteFile(target, data, 0o644); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
	}
	return nil
}
