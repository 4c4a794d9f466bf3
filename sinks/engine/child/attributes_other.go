//go:build !linux

package child

import "syscall"

// attributes keep the terminal's Ctrl-C from the program, which ends with its input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// stopped is not known here.
func stopped(int) bool { return false }
