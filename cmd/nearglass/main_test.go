package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nearglass": main})
}

// TestScripts runs the transcripts in testdata, each in a home of its own.
// Set UPDATE_SCRIPTS to write what the commands print now.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor},
		Setup: func(e *testscript.Env) error {
			for k, v := range map[string]string{
				"HOME": "home", "XDG_CONFIG_HOME": "home/.config", "XDG_STATE_HOME": "home/.state",
			} {
				e.Setenv(k, filepath.Join(e.WorkDir, v))
			}
			e.Setenv("DISPLAY", "")
			return nil
		},
	})
}

// waitFor waits until a file is there.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 1000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear", args[0])
}
