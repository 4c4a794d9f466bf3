package memory

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// limitFiles are where a control group tells its limit: of version 1 and of version 2.
// A process above memory.high is slowed down until it stands still, so that is a limit
// too.
var limitFiles = map[string][]string{
	"cgroup":  {"memory.limit_in_bytes"},
	"cgroup2": {"memory.max", "memory.high"},
}

// mount is a hierarchy of control groups that counts memory.
type mount struct {
	kind  string // cgroup or cgroup2
	root  string // the group that is mounted
	point string // where
}

// groups is the smallest limit of the groups of this process and of those around
// them. A file that is not there, or says "max", limits nothing. root is / but in
// tests.
func groups(root string) Limit {
	var smallest Limit
	own := ownGroups(read(root, "/proc/self/cgroup"))
	for _, m := range mounts(read(root, "/proc/self/mountinfo")) {
		for _, dir := range m.above(own[m.kind]) {
			for _, name := range limitFiles[m.kind] {
				file := path.Join(m.point, dir, name)
				n, err := strconv.ParseUint(strings.TrimSpace(read(root, file)), 10, 64)
				// Version 1 writes "no limit" as a number close to the highest.
				if err != nil || n == 0 || n >= math.MaxInt64/2 {
					continue
				}
				if smallest.Bytes == 0 || int64(n) < smallest.Bytes {
					smallest = Limit{Bytes: int64(n), Container: true, Where: file}
				}
			}
		}
	}
	return smallest
}

// above are the folders of a group below the mount point and of all around it. A
// group outside of what is mounted, as a container sees its own, is the mount point.
func (m mount) above(group string) []string {
	dirs := []string{"/"}
	rest, inside := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/")+"/")
	if !inside || strings.Contains(group, "/..") {
		return dirs
	}
	for dir := path.Clean("/" + rest); dir != "/"; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// ownGroups reads /proc/self/cgroup: the group that counts memory, by version.
func ownGroups(text string) map[string]string {
	own := map[string]string{}
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(fields) < 3:
		case fields[0] == "0" && fields[1] == "":
			own["cgroup2"] = fields[2]
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			own["cgroup"] = fields[2]
		}
	}
	return own
}

// mounts reads /proc/self/mountinfo, whose lines are
// "36 35 98:0 /root /point options … - type source superoptions".
func mounts(text string) []mount {
	var all []mount
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 || limitFiles[right[0]] == nil {
			continue
		}
		if right[0] == "cgroup" && !slices.Contains(strings.Split(right[2], ","), "memory") {
			continue
		}
		all = append(all, mount{kind: right[0], root: unescape(left[3]), point: unescape(left[4])})
	}
	return all
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// read is the content of a file, empty when it cannot be read.
func read(root, file string) string {
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return ""
	}
	return string(content)
}
