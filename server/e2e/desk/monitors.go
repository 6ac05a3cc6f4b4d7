package desk

import (
	"context"
	"fmt"
	"image"
	"strconv"
	"time"
)

// Monitor is a part of the screen that RandR lists as a monitor.
type Monitor struct {
	Name string
	Rect image.Rectangle // in pixels of the screen
}

// SetMonitors divides the screen into these monitors. The first is the
// primary one and takes the place of Xvfb's own, named "screen". Without
// monitors the screen is whole again.
func (x *X) SetMonitors(monitors ...Monitor) error {
	for _, name := range x.names {
		if err := x.xrandr("--delmonitor", name); err != nil {
			return err
		}
	}
	x.names = nil
	for i, m := range monitors {
		output := "none"
		if i == 0 {
			output = "screen"
		}
		r := m.Rect
		// Millimetres for 96 dots an inch.
		geometry := fmt.Sprintf("%d/%dx%d/%d+%d+%d", r.Dx(), r.Dx()*254/960, r.Dy(), r.Dy()*254/960, r.Min.X, r.Min.Y)
		if err := x.xrandr("--setmonitor", m.Name, geometry, output); err != nil {
			return err
		}
		x.names = append(x.names, m.Name)
	}
	return nil
}

// RemoveMonitor unplugs one monitor that SetMonitors made.
func (x *X) RemoveMonitor(name string) error { return x.xrandr("--delmonitor", name) }

// Resize sets the screen's size through RandR, in pixels, at most the size
// that the server started with.
func (x *X) Resize(width, height int) error {
	size := image.Pt(width, height)
	name := fmt.Sprintf("%dx%d", width, height)
	if !x.modes[size] && size != image.Pt(x.screen.Width, x.screen.Height) {
		// A mode line; only the two sizes mean anything to Xvfb.
		line := []string{"--newmode", name, "60"}
		for _, n := range []int{width, height} {
			for i := range 4 {
				line = append(line, strconv.Itoa(n+i))
			}
		}
		if err := x.xrandr(line...); err != nil {
			return err
		}
		if err := x.xrandr("--addmode", "screen", name); err != nil {
			return err
		}
		x.modes[size] = true
	}
	return x.xrandr("--output", "screen", "--mode", name)
}

func (x *X) xrandr(args ...string) error {
	ctx, cancel := context.WithTimeout(x.ctx, 10*time.Second)
	defer cancel()
	_, err := Run(ctx, Command{Name: "xrandr", Args: append([]string{"--display", x.Name()}, args...)})
	return err
}
