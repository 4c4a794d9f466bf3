package child

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// attributes have the kernel end the program with its starter, and keep the terminal's Ctrl-C
// from it: what is under way is brought to its end first.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// stopped reports whether a process is stopped, as by SIGSTOP.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" T"))
}
