//go:build !linux

package embedded

import "errors"

// confinement is Linux's alone.
type confinement struct{}

// errNoLandlock is why a process cannot be confined.
var errNoLandlock = errors.New("this system has no Landlock")

func confine(string) (*confinement, error) { return nil, errNoLandlock }

func (c *confinement) enter() error { return nil }

func onFirstThread() bool { return false }
