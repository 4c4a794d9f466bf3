//go:build !linux

package embedded

// ExecConfined is Linux's alone.
func ExecConfined(string, string, []string, []string) error { return ErrNoLandlock }
