package desk

import (
	"context"
	"fmt"
	"image"
	"strconv"
	"strings"
	"time"
)

// on gives the environment of a program on a display, in a UTF-8 locale that
// every system has.
func on(display string) []string {
	return []string{"DISPLAY=" + display, "WAYLAND_DISPLAY=", "LC_ALL=C.UTF-8"}
}

// StartOn starts any program on a display.
func StartOn(ctx context.Context, display, name string, args ...string) (*Process, error) {
	return Start(ctx, Command{Name: name, Args: args, Env: on(display)})
}

// StartOpenbox starts a window manager and waits until it manages.
func StartOpenbox(ctx context.Context, display string) (*Process, error) {
	p, err := StartOn(ctx, display, "openbox", "--sm-disable")
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeoutCause(ctx, 10*time.Second, fmt.Errorf("not within 10 s"))
	defer cancel()
	err = Poll(limit, "openbox to manage the windows", func() (bool, error) {
		out, err := Run(limit, Command{Name: "xprop", Args: []string{"-root", "_NET_SUPPORTING_WM_CHECK"}, Env: on(display)})
		return err == nil && strings.Contains(out, "window id"), p.Err()
	})
	if err == nil {
		err = awaitMapping(limit, display)
	}
	if err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// awaitMapping waits until the window manager shows windows. Openbox says that
// it manages before it does, and forgets a window that asks in between.
func awaitMapping(ctx context.Context, display string) error {
	return Poll(ctx, "openbox to show a window", func() (bool, error) {
		w, err := OpenWindow(display, image.Rect(0, 0, 8, 8), "probe")
		if err != nil {
			return false, err
		}
		defer w.Close()
		try, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		return Poll(try, "", func() (bool, error) { return w.shown(), nil }) == nil, nil
	})
}

// Xterm is a terminal in a window.
type Xterm struct {
	*Process
	Window uint32 // its X window
}

// StartXterm starts xterm in UTF-8 with a title of its own and waits for its
// window. More arguments follow xterm's own, such as "-e", "cat". To read a
// line that is typed, let it run sh -c 'read line; printf %s "$line" >FILE'.
func StartXterm(ctx context.Context, display string, args ...string) (*Xterm, error) {
	title := "desk-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	all := append([]string{"-u8", "-T", title, "-geometry", "80x24+40+40", "+bc"}, args...)
	p, err := StartOn(ctx, display, "xterm", all...)
	if err != nil {
		return nil, err
	}
	window, err := FindWindow(ctx, display, title)
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("%w; xterm said last:\n%s", err, p.Output.Tail(10))
	}
	return &Xterm{Process: p, Window: window}, nil
}

// FindWindow waits up to ten seconds for a visible window with this title.
func FindWindow(ctx context.Context, display, title string) (uint32, error) {
	limit, cancel := context.WithTimeoutCause(ctx, 10*time.Second, fmt.Errorf("not within 10 s"))
	defer cancel()
	var window uint32
	err := Poll(limit, "window "+title, func() (bool, error) {
		out, err := Run(limit, Command{Name: "xdotool", Args: []string{"search", "--onlyvisible", "--name", title}, Env: on(display)})
		first, _, _ := strings.Cut(out, "\n")
		id, parseErr := strconv.ParseUint(first, 10, 32)
		window = uint32(id)
		return err == nil && parseErr == nil, nil
	})
	return window, err
}

// Xdotool runs xdotool on a display, for what a person at the host would do:
// "windowmove", "windowminimize", "windowfocus", "mousemove".
func Xdotool(ctx context.Context, display string, args ...string) (string, error) {
	return Run(ctx, Command{Name: "xdotool", Args: args, Env: on(display)})
}
