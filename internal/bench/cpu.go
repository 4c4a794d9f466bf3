package main

import (
	"syscall"
	"time"
)

// cpu is the processor's time that this process, engine included, has had: unlike the
// time that passes, it hardly depends on what else runs on the machine.
func cpu() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, err
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}
