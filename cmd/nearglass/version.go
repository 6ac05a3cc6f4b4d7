package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"nearglass/gpu/encode"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// buildInfo says which build this is.
type buildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Changed bool   `json:"changed"` // built from files that were not committed
	Tags    string `json:"tags"`
	Go      string `json:"go"`
	System  string `json:"system"`
	Encoder string `json:"encoder"`
}

func build() buildInfo {
	b := buildInfo{Version: "dev", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		case "-tags":
			b.Tags = s.Value
		}
	}
	return b
}

// Run prints the version.
func (v *versionCmd) Run(e *env) error {
	b := build()
	b.Encoder = encode.Describe()
	if v.JSON {
		return printJSON(e.out, b)
	}
	fmt.Fprintf(e.out, "nearglass %s\n", b.Version)
	if b.Commit != "" {
		fmt.Fprintf(e.out, "commit   %s\n", b.Commit)
	}
	if b.Tags != "" {
		fmt.Fprintf(e.out, "tags     %s\n", b.Tags)
	}
	fmt.Fprintf(e.out, "encoder  %s\nbuilt by %s for %s\n", b.Encoder, b.Go, b.System)
	return nil
}
