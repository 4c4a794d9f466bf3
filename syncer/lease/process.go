package lease

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ID is the id of this process for [New]. When all processes on the warehouse run on one machine
// it says where there this one runs: others need not wait for it once it was killed.
func ID(oneMachine bool) string {
	id := rand.Text()
	if where, ok := here(); ok && oneMachine {
		id += fmt.Sprintf("%s%d", where, os.Getpid())
	}
	return id
}

// here is where the number of a process is that of no other: a namespace of numbers, since the
// machine was started. It is not known but on Linux.
func here() (where string, ok bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	numbers, err := os.Readlink("/proc/self/ns/pid")
	return fmt.Sprintf(" %s %s ", strings.TrimSpace(string(boot)), numbers), err == nil
}

// gone is true for a process that is known to have ended. One of another container is not known.
func gone(id string) bool {
	where, ok := here()
	if !ok {
		return false
	}
	_, number, ok := strings.Cut(id, where)
	pid, err := strconv.Atoi(number)
	return ok && err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
