//go:build !linux

package embedded

import "errors"

// confinement is Linux's alone.
type confinement struct{}

// ErrNoLandlock is why a process cannot be confined.
var ErrNoLandlock = errors.New("this system has no Landlock")

func confine(string, bool) (*confinement, error) { return nil, ErrNoLandlock }

func (c *confinement) enter() error { return nil }

func onFirstThread() bool { return false }
