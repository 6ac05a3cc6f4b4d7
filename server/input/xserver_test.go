//go:build linux

package input

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// The display numbers that these tests try, in turn.
const (
	firstDisplay = 120
	displays     = 5
)

var nextDisplay = 0

// startX runs an X server until the test ends, and returns its display name
// and a function that kills it.
func startX(t *testing.T) (display string, kill func()) {
	t.Helper()
	need(t, "Xvfb")
	for range displays {
		display = fmt.Sprintf(":%d", firstDisplay+nextDisplay)
		nextDisplay = (nextDisplay + 1) % displays
		if kill, ok := tryX(t, display); ok {
			return display, kill
		}
	}
	t.Fatalf("Xvfb starts on none of the displays :%d to :%d", firstDisplay, firstDisplay+displays-1)
	return "", nil
}

// tryX starts an X server; it says its display number when it is ready.
func tryX(t *testing.T, display string) (kill func(), ok bool) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("Xvfb", display, "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{write}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	kill = func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }
	// The server dies when nobody reads the whole line.
	if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
		kill()
		return nil, false
	}
	t.Cleanup(kill)
	return kill, true
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

func openInjector(t *testing.T, display string) *Injector {
	t.Helper()
	in, err := Open(display)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in
}

// launch runs a program on the display until the test ends.
func launch(t *testing.T, display, name string, args ...string) {
	t.Helper()
	need(t, name)
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "DISPLAY="+display, "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

// eventually waits until ok is true, at most 10 s.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 10 s", what)
		}
	}
}

// terminal runs an xterm that writes what is typed to a file, and returns a
// function that reads that file.
func terminal(t *testing.T, display string) (typed func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "typed")
	launch(t, display, "xterm", "-u8", "-geometry", "80x24+0+0", "-e",
		"sh", "-c", "stty raw -echo; touch "+file+"; exec dd bs=1 of="+file+" 2>/dev/null")
	typed = func() string {
		b, _ := os.ReadFile(file)
		return string(b)
	}
	eventually(t, "xterm is up", func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
	return typed
}

// client is a connection that looks at the desktop from outside.
type client struct {
	*xgb.Conn
	root xproto.Window
}

func connect(t *testing.T, display string) client {
	t.Helper()
	conn, err := xgb.NewConnDisplay(display)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return client{conn, xproto.Setup(conn).DefaultScreen(conn).Root}
}

func (c client) pointer(t *testing.T) *xproto.QueryPointerReply {
	t.Helper()
	p, err := xproto.QueryPointer(c.Conn, c.root).Reply()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// down lists the keycodes that are down.
func (c client) down(t *testing.T) []int {
	t.Helper()
	reply, err := xproto.QueryKeymap(c.Conn).Reply()
	if err != nil {
		t.Fatal(err)
	}
	var codes []int
	for code := range 256 {
		if reply.Keys[code/8]&(1<<(code%8)) != 0 {
			codes = append(codes, code)
		}
	}
	return codes
}

// window makes a mapped window that gets the events of mask.
func (c client) window(t *testing.T, x, y int16, mask uint32) xproto.Window {
	t.Helper()
	id, err := xproto.NewWindowId(c.Conn)
	if err != nil {
		t.Fatal(err)
	}
	xproto.CreateWindow(c.Conn, 0, id, c.root, x, y, 200, 200, 0, xproto.WindowClassInputOutput, 0, xproto.CwEventMask, []uint32{mask})
	if err := xproto.MapWindowChecked(c.Conn, id).Check(); err != nil {
		t.Fatal(err)
	}
	return id
}
