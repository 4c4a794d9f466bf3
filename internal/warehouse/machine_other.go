//go:build !linux

package warehouse

import "golang.org/x/sys/unix"

// machine is the memory of the machine, 0 when it cannot be found out.
func machine() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
