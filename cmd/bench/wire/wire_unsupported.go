//go:build !linux

package wire

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Wire is two joined namespaces; on this system there are none.
type Wire struct{ Near, Far End }

var errLinux = fmt.Errorf("network namespaces and TUN devices need Linux: %w", errors.ErrUnsupported)

// Open says that it cannot.
func Open(context.Context) (*Wire, error) { return nil, errLinux }

// Close has nothing to remove.
func (w *Wire) Close() error { return errLinux }

// Shape shapes nothing.
func (w *Wire) Shape(Shape) time.Time { return time.Time{} }

// Passed has seen nothing.
func (w *Wire) Passed() []Packet { return nil }

// Do runs nothing.
func (e End) Do(func() error) error { return errLinux }

// UseCubic does nothing.
func UseCubic(uintptr) error { return errLinux }
