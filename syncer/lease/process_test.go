package lease

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Nobody waits for a process of this machine that has ended; of others it is not known.
func TestAProcessThatIsGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("where a process runs is known on Linux alone")
	}
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	numbered := func(id string, pid int) string {
		return strings.TrimSuffix(id, fmt.Sprint(os.Getpid())) + fmt.Sprint(pid)
	}
	pid, here, remote := ended.ProcessState.Pid(), ID(true), ID(false)
	for id, want := range map[string]bool{
		numbered(here, pid): true,
		here:                false,
		ID(true):            false,
		numbered(strings.Replace(here, "pid:[", "pid:[9", 1), pid): false, // of another container
		numbered(strings.Replace(here, " ", " 0", 1), pid):         false, // of another machine
		remote:            false,
		numbered(here, 0): false, numbered(here, -pid): false, here + "x": false,
	} {
		if gone(id) != want {
			t.Errorf("%q is gone: %t", id, !want)
		}
	}
	own := sinks.Process{ID: here}
	l := New(own, nil, Owner{}, nil)
	began := time.Now().Add(-time.Minute)
	claim := func(id string, since int64) sinks.Claim {
		return sinks.Claim{Source: "s", Process: sinks.Process{ID: id}, Since: time.Unix(since, 0), BeatAt: time.Unix(since, 0)}
	}
	for _, at := range []time.Time{began, time.Now().Add(time.Minute)} {
		free, _ := l.read(at, map[string]bool{"s": true}, []sinks.Claim{claim(numbered(here, pid), 1), claim(here, 2)}, nil)
		if want := at != began; free != want {
			t.Errorf("beside the claim of a process that is gone the source is free: %t", free)
		}
	}
}
