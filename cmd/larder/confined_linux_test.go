package main

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Every command that opens an engine keeps its threads to the data folder.
func TestTheEngineIsConfined(t *testing.T) {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); errno != 0 {
		t.Skipf("this kernel has no Landlock: %v", errno)
	}
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	for _, command := range [][]string{
		{"sync", "--stream", "allergens", "--log-format", "json"},
		{"demo", "--once", "--days", "2", "--orders-per-day", "10", "--set", "log.level=info", "--set", "log.format=json", "--set", "web.listen="},
	} {
		if r := h.want(0, "", command...); !strings.Contains(r.errors, `"confined":true`) {
			t.Errorf("%s: not confined:\n%s", command[0], r.errors)
		}
	}
}
