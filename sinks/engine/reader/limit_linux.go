package reader

import (
	"cmp"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Limits of the program, which the kernel holds.
const (
	spareData   = 1 << 30 // beyond the engine's memory: the library, stacks, what the engine does not count
	largestFile = 1 << 30 // in the scratch folder
	niceness    = 10
	oomScore    = "800" // it goes before the daemon does
)

// limit bounds what the program may take.
func limit(memory int64) error {
	data := uint64(cmp.Or(memory, 2<<30) + spareData)
	return errors.Join(
		unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: data, Max: data}),
		unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: largestFile, Max: largestFile}),
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}),
		unix.Setpriority(unix.PRIO_PROCESS, 0, niceness),
		os.WriteFile("/proc/self/oom_score_adj", []byte(oomScore), 0),
	)
}
