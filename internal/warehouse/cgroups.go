package warehouse

import (
	"cmp"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// memoryLimit is how much memory there is for this process.
type memoryLimit struct {
	bytes     int64  // 0: it could not be found out
	container bool   // a control group's limit: beyond it the kernel ends the process
	where     string // a file of the control group, or the machine
}

// findMemory returns the smallest limit of the control groups that the process is in,
// and of those around them; without one, the machine's memory. root is / but in tests.
func findMemory(root string) memoryLimit {
	smallest := memoryLimit{bytes: machine(), where: "the machine's memory"}
	groups, err := os.ReadFile(filepath.Join(root, "/proc/self/cgroup"))
	if err != nil { // no Linux
		return smallest
	}
	for line := range strings.Lines(string(groups)) { // 4:cpu,memory:/group, or 0::/group in version 2
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		var mount string
		var files []string
		switch {
		case len(fields) < 3:
			continue
		case fields[0] == "0" && fields[1] == "": // above memory.high a process is slowed down until it stands still
			mount, files = "/sys/fs/cgroup", []string{"memory.max", "memory.high"}
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			mount, files = "/sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}
		}
		// A container may see its own group as the root, under a name that is not there.
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			for _, name := range files {
				file := path.Join(mount, dir, name)
				text, err := os.ReadFile(filepath.Join(root, file))
				n, notNumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
				// Version 1 writes "no limit" as a number close to the highest, version 2 as max.
				if cmp.Or(err, notNumber) == nil && n > 0 && n < math.MaxInt64/2 && (smallest.bytes == 0 || n < smallest.bytes) {
					smallest = memoryLimit{n, true, file}
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return smallest
}
