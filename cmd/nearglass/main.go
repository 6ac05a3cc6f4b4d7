// Command nearglass shows and shares this machine's screen: it serves a page
// on which a paired browser watches and works.
//
// Settings come from a config file, the environment and flags, each stronger
// than the one before. nearglass COMMAND --help explains them with examples.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the whole command line.
type cli struct {
	Config string `help:"Config file, TOML (default: nearglass/config.toml in your config folder, if it is there)." placeholder:"FILE" env:"NEARGLASS_CONFIG"`
	State  string `help:"Folder of the paired devices (default: ~/.local/state/nearglass)." placeholder:"DIR" env:"NEARGLASS_STATE"`

	Serve   serveCmd   `cmd:"" help:"Share this machine's screen."`
	Pair    pairCmd    `cmd:"" help:"Let a device in, list those that are in, or end one."`
	Sources sourcesCmd `cmd:"" help:"List what can be shown."`
	Logs    logsCmd    `cmd:"" help:"Show what was recorded of a stream, or bundle it for a bug report."`
	Doctor  doctorCmd  `cmd:"" help:"Check what works here and what to do about the rest."`
	Version versionCmd `cmd:"" help:"Say which build this is."`
}

// env is what a command may touch beside its flags.
type env struct {
	ctx    context.Context
	out    io.Writer
	err    io.Writer
	config string // the config file that was read; "" for none
	state  string // --state, "" for the default
}

const about = `Watch this machine's screen and work on it from a browser.

Start with:  nearglass serve

Each setting has one name in three places, each stronger than the one before:
"tls-cert" in the config file, NEARGLASS_TLS_CERT in the environment, and the
flag --tls-cert.`

// errReported ends a command that has said already what is wrong.
var errReported = errors.New("reported")

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	e := &env{ctx: ctx, out: os.Stdout, err: os.Stderr}
	err := e.command(os.Args[1:])
	if err != nil {
		if !errors.Is(err, errReported) {
			fmt.Fprintln(e.err, "nearglass:", err)
		}
		return 1
	}
	return 0
}

// endings are the signals that end a command in good order: a host lets go of
// what its viewers hold and tells them. A terminal that is closed is one of
// them, unless nohup says otherwise.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// command parses and runs one command line.
func (e *env) command(args []string) error {
	var c cli
	parser, err := kong.New(&c, kong.Name("nearglass"), kong.Description(about), kong.Bind(e),
		kong.Writers(e.out, e.err), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 96}))
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if err != nil {
		return fmt.Errorf("%w (nearglass --help lists the commands)", err)
	}
	e.state = c.State
	return k.Run()
}
