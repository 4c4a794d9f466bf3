//go:build !linux

package engine

// ExecConfined is Linux's alone.
func ExecConfined(string, string, []string, []string) error { return ErrNoLandlock }

// Confinable is why no process can be confined.
func Confinable() error { return ErrNoLandlock }

// ExecConfinedTo is Linux's alone.
func ExecConfinedTo(string, []string, []string) error { return ErrNoLandlock }
