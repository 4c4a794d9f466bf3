package reader

import (
	"os/exec"
	"syscall"
)

// endWithUs has the kernel end a program with the thread that starts it.
func endWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
