package lease

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// ID is the id of this process for [New]. When all processes on the warehouse run on one machine
// it says where there this one runs: others need not wait for it once it was killed.
func ID(oneMachine bool) string {
	id := rand.Text()
	if where := here(); where != "" && oneMachine {
		id += where + strconv.Itoa(os.Getpid())
	}
	return id
}

// here is where the number of a process is that of no other: a namespace of numbers, since the
// machine was started. It is not known but on Linux, and empty elsewhere. Every claim is compared
// with it at every beat, and it never changes.
var here = sync.OnceValue(func() string {
	boot, failed := os.ReadFile("/proc/sys/kernel/random/boot_id")
	numbers, err := os.Readlink("/proc/self/ns/pid")
	if failed != nil || err != nil {
		return ""
	}
	return fmt.Sprintf(" %s %s ", strings.TrimSpace(string(boot)), numbers)
})

// gone is true for a process that is known to have ended. One of another container is not known.
func gone(id string) bool {
	where := here()
	_, number, ok := strings.Cut(id, where)
	pid, err := strconv.Atoi(number)
	return where != "" && ok && err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
