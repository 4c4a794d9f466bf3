//go:build !linux

package engine

import "errors"

// ErrNoLandlock is why a process cannot be confined.
var ErrNoLandlock = errors.New("this system has no Landlock")
