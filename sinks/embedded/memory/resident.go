package memory

import (
	"bytes"
	"os"
	"runtime/metrics"
	"strconv"
)

// Resident is how much memory the process holds beside Go's own and its files; 0
// where that is not known.
func Resident() int64 {
	content, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(content)
	if len(fields) < 3 {
		return 0
	}
	resident, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	files, err := strconv.ParseInt(string(fields[2]), 10, 64)
	if err != nil {
		return 0
	}
	own := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(own)
	return (resident-files)*int64(os.Getpagesize()) - int64(own[0].Value.Uint64()-own[1].Value.Uint64())
}
