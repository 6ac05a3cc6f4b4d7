// Command testreport runs one or more `go test -json` commands and reports
// what they said in a form that fits a terminal and a CI log:
//
//	testreport [-limit 25m] -- go test -json ./a/... -- go test -json -p 1 ./b/...
//
// The commands run one after another, also when an earlier one failed. Each
// package gets one line; the output of a failing test, build or package is
// printed whole; skipped tests are listed at the end with their reasons; the
// last line is exactly
//
//	N passed, N failed, N skipped
//
// The exit status is 0 only when every command ended well and nothing failed.
// A command that dies, cannot start or runs past the limit counts as failed,
// whatever its output said before.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	limit := flag.Duration("limit", 25*time.Minute, "stop everything after this time and count it as a failure")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: testreport [-limit 25m] -- go test -json ARGS [-- go test -json ARGS ...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	commands := split(flag.Args())
	if len(commands) == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("ran past the limit of %v", *limit))
	defer cancel()

	t := newTally(os.Stdout)
	for _, args := range commands {
		runOne(ctx, t, args)
	}
	if !t.close() {
		os.Exit(1)
	}
}

// split cuts the arguments into commands at each "--".
func split(args []string) [][]string {
	var commands [][]string
	var one []string
	for _, a := range append(args, "--") {
		if a != "--" {
			one = append(one, a)
			continue
		}
		if len(one) > 0 {
			commands = append(commands, one)
			one = nil
		}
	}
	return commands
}

// runOne runs one command and feeds its events to the tally. What go test
// writes to stderr goes straight through.
func runOne(ctx context.Context, t *tally, args []string) {
	name := strings.Join(args, " ")
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	ownGroup(cmd)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.commandFailed(name, err)
		return
	}
	readErr := t.read(out)
	if readErr != nil {
		_, _ = io.Copy(io.Discard, out)
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	t.endCommand(name, errors.Join(readErr, err))
}
