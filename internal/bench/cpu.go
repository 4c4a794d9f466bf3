package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpu is the processor's time that processes have had: unlike the time that passes, it
// hardly depends on what else runs on the machine.
func cpu(processes []int) (used time.Duration, err error) {
	for _, pid := range processes {
		var t unix.Timespec
		// The clock of a process is named by its id, see clock_getcpuclockid(3).
		if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil { //nolint:gosec // ids have 22 bits
			return 0, fmt.Errorf("read the processor's time of process %d: %w", pid, err)
		}
		used += time.Duration(t.Nano())
	}
	return used, nil
}

// family are a process and those that it has started.
func family(pid int) []int {
	all := []int{pid}
	entries, _ := os.ReadDir("/proc") // without it there is no engine either
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields, err := statOf(child); err == nil && fields[1] == strconv.Itoa(pid) {
			all = append(all, child)
		}
	}
	return all
}

// statOf are the fields of /proc/<pid>/stat behind the name.
func statOf(pid int) ([]string, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:])), nil
}
