//go:build !linux

package embedded

import "errors"

// ErrNoLandlock is why a process cannot be confined.
var ErrNoLandlock = errors.New("this system has no Landlock")
