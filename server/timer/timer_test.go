package timer

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

// recorder is a system that notes what it is asked.
type recorder struct {
	asked  []string
	refuse error
}

func (r *recorder) counter() *counter {
	note := func(what string) func() error {
		return func() error {
			r.asked = append(r.asked, what)
			return r.refuse
		}
	}
	return &counter{fine: note("fine"), coarse: note("coarse")}
}

func (r *recorder) wants(t *testing.T, asked ...string) {
	t.Helper()
	if !slices.Equal(r.asked, asked) {
		t.Errorf("the system was asked for %v, want %v", r.asked, asked)
	}
	r.asked = nil
}

func TestAskedOnceForMany(t *testing.T) {
	var r recorder
	c := r.counter()
	one, err := c.hold()
	if err != nil {
		t.Fatal(err)
	}
	other, _ := c.hold()
	r.wants(t, "fine")
	one()
	one() // counts once
	r.wants(t)
	other()
	r.wants(t, "coarse")
	again, _ := c.hold()
	again()
	r.wants(t, "fine", "coarse")
}

func TestARefusalIsToldAndNotTakenBack(t *testing.T) {
	r := recorder{refuse: errors.New("no")}
	c := r.counter()
	one, err := c.hold()
	if !errors.Is(err, r.refuse) {
		t.Errorf("hold: %v", err)
	}
	r.refuse = nil
	other, err := c.hold() // asks again
	if err != nil {
		t.Error(err)
	}
	r.wants(t, "fine", "fine")
	one()
	r.wants(t)
	other()
	r.wants(t, "coarse")
}

func TestHoldersAtOnce(t *testing.T) {
	var r recorder
	c := r.counter()
	keep, _ := c.hold()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			release, err := c.hold()
			if err != nil {
				t.Error(err)
			}
			release()
		})
	}
	all.Wait()
	keep()
	r.wants(t, "fine", "coarse")
}

// TestThisSystem asks the system that the tests run on.
func TestThisSystem(t *testing.T) {
	release, err := Hold()
	if err != nil {
		t.Fatal(err)
	}
	release()
	if process.held != 0 || process.active {
		t.Errorf("%d hold, active: %v", process.held, process.active)
	}
}
