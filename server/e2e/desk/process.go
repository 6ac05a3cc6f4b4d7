package desk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// stopTime is how long a program may take to end by itself when it is asked to.
const stopTime = 3 * time.Second

// Command says what Start shall run. Name is looked up in PATH; Env is added to
// this process's environment; Log, when set, receives a copy of the output.
type Command struct {
	Name       string
	Args       []string
	Env        []string
	Dir        string
	Log        io.Writer
	ExtraFiles []*os.File // from descriptor 3 on
}

// Process is a running program. Its methods are safe for concurrent use.
type Process struct {
	name   string
	cmd    *exec.Cmd
	Output *Transcript // what it wrote to stdout and stderr
	done   chan struct{}
	err    error // valid after done
}

// Start runs a program until it ends, ctx ends or Stop is called. It does not
// wait for the program to be ready.
func Start(ctx context.Context, c Command) (*Process, error) {
	cmd := exec.Command(c.Name, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.Dir
	cmd.ExtraFiles = c.ExtraFiles
	p := &Process{name: filepath.Base(c.Name), cmd: cmd, Output: newTranscript(c.Log), done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Output, p.Output
	cmd.WaitDelay = stopTime // for a grandchild that keeps the output open
	setGroup(cmd)
	started := make(chan error, 1)
	go func() {
		// The kernel ends the program with the thread that started it, so the
		// thread stays for as long as the program runs.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			killGroup(cmd) // children that outlived it
			p.Output.close()
		}
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	context.AfterFunc(ctx, p.Stop)
	return p, nil
}

// Pid is the program's process id, and its group's.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop asks the program and its children to end, insists after three seconds,
// and returns when the program is gone. More calls do nothing.
func (p *Process) Stop() {
	if p.ended() {
		return
	}
	askGroup(p.cmd)
	select {
	case <-p.done:
	case <-time.After(stopTime):
		p.Kill()
	}
}

// Kill ends the program and its children at once, as a crash would.
func (p *Process) Kill() {
	if p.ended() {
		return
	}
	killGroup(p.cmd)
	<-p.done
}

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Err says how the program ended, with the end of its output; nil while it
// runs and when it ended with status 0.
func (p *Process) Err() error {
	if !p.ended() || p.err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w; it said last:\n%s", p.name, p.err, p.Output.Tail(20))
}

// Run runs a program to its end and gives its standard output. The error holds
// what it wrote to stderr.
func Run(ctx context.Context, c Command) (string, error) {
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.Dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w: %s", c.Name, strings.Join(c.Args, " "), err, exit.Stderr)
	}
	return string(out), err
}

// Need says which of the programs are not installed, as an error that tells
// what to do, or nil.
func Need(programs ...string) error {
	var missing []string
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("not installed: %s; cmd/setup/packages.sh test installs it", strings.Join(missing, ", "))
}

// Poll calls check every 10 ms until it says yes or gives an error, or ctx
// ends; what names the awaited thing in the error.
func Poll(ctx context.Context, what string, check func() (bool, error)) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := check()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
