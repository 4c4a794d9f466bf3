package warehouse

import "syscall"

// machine is the memory of the machine, 0 when it cannot be found out.
func machine() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit)) //nolint:unconvert // narrower on other machines
}
