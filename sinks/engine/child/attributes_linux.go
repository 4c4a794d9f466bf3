package child

import "syscall"

// attributes have the kernel end the program with its starter, and keep the terminal's Ctrl-C
// from it: what is under way is brought to its end first.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
