// Command bench measures nearglass and prints its figures beside those of
// others from the same run:
//
//	bench glass   from the host's screen to the viewer's screen, and back
//	bench host    memory, start, CPU and what a picture costs
//	bench link    a real stream over a shaped link, beside Chromium's own sender
//	bench encode  control of the encoder, beside x264's own
//	bench cc      congestion control over simulated links
//	bench ramp    the start of a stream through the real stack
//	bench repair  a stream with loss through the real stack, beside pion's chain
//	bench loss    what each way to repair losses is worth, beside Chromium's own sender
//	bench scenes  the whole path while the screen changes as a whole, beside x264's own control
//	bench faults  faults in real streams, and whether nearglass doctor names them
//
// Each writes a table to stdout and its rows as JSON to build/bench. The
// methods are described in docs/BENCHMARKS.md. QUICK=1 or --quick makes a run
// of less than a minute whose figures are rough.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	settings
	Glass  glassCmd    `cmd:"" help:"Screen to screen, beside VNC and the browser's default receiver."`
	Serve  hostCmd     `cmd:"" name:"host" help:"Memory, start, CPU on a still screen, and the cost of a picture by stage."`
	Link   linkCmd     `cmd:"" help:"A real stream over a shaped link, beside Chromium's own sender."`
	Encode encodeCmd   `cmd:"" help:"The control of the encoder over simulated links, beside x264's own."`
	CC     ccCmd       `cmd:"" name:"cc" help:"The congestion controller over simulated links, beside others."`
	Ramp   rampCmd     `cmd:"" help:"The start of a stream through the real stack, over loopback and narrow links."`
	Repair repairCmd   `cmd:"" help:"A stream with loss through the real stack, beside pion's default chain."`
	Loss   lossCmd     `cmd:"" help:"What each way to repair losses is worth, every picture checked, in virtual time and beside Chromium's own sender."`
	Scenes scenesCmd   `cmd:"" help:"The whole path over shaped links while the screen changes as a whole, beside x264's own control."`
	Faults faultsCmd   `cmd:"" help:"Faults in real streams, and whether nearglass doctor names them."`
	Record ccRecordCmd `cmd:"" name:"cc-record" hidden:"" help:"Record the desktop content of bench cc."`
	Hear   feedbackCmd `cmd:"" name:"feedback" hidden:"" help:"Record what browsers report, for the tests of cc/lab."`
	Replay replayCmd   `cmd:"" hidden:"" help:"Print what the controller makes of such a recording."`
	Idle   idleCmd     `cmd:"" name:"idle-peer" hidden:"" help:"A connected peer that sends nothing; bench host compares with it."`
}

// settings are common to the benches.
type settings struct {
	Quick  bool     `help:"A short run with rough figures." env:"QUICK"`
	Out    string   `help:"Folder for the JSON." default:"build/bench" placeholder:"DIR"`
	Binary string   `help:"The host to measure." default:"build/nearglass" placeholder:"FILE"`
	Only   []string `help:"Measure these peers alone (glass), these links and peers (link, scenes), losses, round trips, rates and senders (loss), or rows with this in their name (cc)." placeholder:"NAME"`
	Rounds int      `help:"Visit every peer this often (glass, link, loss, scenes); 0 means 3, or 1 with --quick." placeholder:"N"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c cli
	k := kong.Parse(&c, kong.Name("bench"), kong.Description("Measures nearglass beside others."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	if err := k.Run(c.settings); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
