//go:build !linux

package reader

import "os/exec"

// endWithUs: the program ends with its input.
func endWithUs(*exec.Cmd) {}
