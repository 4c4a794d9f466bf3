package warehouse

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSmallestLimitOnTheWayUp(t *testing.T) {
	for name, c := range map[string]struct {
		cgroup string
		files  map[string]string
		want   memoryLimit // zero: the machine's memory
	}{
		"none": {"0::/\n", nil, memoryLimit{}},
		"version 2": {"0::/app\n", map[string]string{"/sys/fs/cgroup/app/memory.max": "16777216\n"},
			memoryLimit{16 << 20, true, "/sys/fs/cgroup/app/memory.max"}},
		"version 2, no limit": {"0::/app\n", map[string]string{"/sys/fs/cgroup/app/memory.max": "max\n"}, memoryLimit{}},
		"version 2, slowed down": {"0::/app\n", map[string]string{"/sys/fs/cgroup/app/memory.max": "max\n", "/sys/fs/cgroup/app/memory.high": "1048576\n"},
			memoryLimit{1 << 20, true, "/sys/fs/cgroup/app/memory.high"}},
		"nested, the outer one is smaller": {"0::/a/b/c\n", map[string]string{
			"/sys/fs/cgroup/a/b/c/memory.max": "40960000\n", "/sys/fs/cgroup/a/memory.max": "33554432\n", "/sys/fs/cgroup/a/b/memory.max": "max\n",
		}, memoryLimit{32 << 20, true, "/sys/fs/cgroup/a/memory.max"}},
		"nested, the inner one is smaller": {"0::/a/b\n", map[string]string{
			"/sys/fs/cgroup/a/b/memory.max": "16777216\n", "/sys/fs/cgroup/a/memory.max": "33554432\n",
		}, memoryLimit{16 << 20, true, "/sys/fs/cgroup/a/b/memory.max"}},
		"a container that sees its own group as the root": {"0::/\n", map[string]string{"/sys/fs/cgroup/memory.max": "16777216\n"},
			memoryLimit{16 << 20, true, "/sys/fs/cgroup/memory.max"}},
		"a group of a neighbour's namespace": {"0::/../other\n", map[string]string{"/sys/fs/cgroup/memory.max": "16777216\n"},
			memoryLimit{16 << 20, true, "/sys/fs/cgroup/memory.max"}},
		"version 1": {"9:name=systemd:/\n4:cpu,memory:/docker/ab\n", map[string]string{
			"/sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes": "33554432\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes":           "9223372036854771712\n",
			"/sys/fs/cgroup/cpu/docker/ab/memory.limit_in_bytes":    "1\n",
		}, memoryLimit{32 << 20, true, "/sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes"}},
		"version 1, the group itself is mounted": {"4:memory:/docker/ab\n", map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "16777216\n"},
			memoryLimit{16 << 20, true, "/sys/fs/cgroup/memory/memory.limit_in_bytes"}},
		"both versions at once": {"4:memory:/s\n0::/s\n", map[string]string{
			"/sys/fs/cgroup/memory/s/memory.limit_in_bytes": "33554432\n", "/sys/fs/cgroup/s/memory.max": "16777216\n",
		}, memoryLimit{16 << 20, true, "/sys/fs/cgroup/s/memory.max"}},
		"nonsense": {"0:\n\n::::\n0::/\n", map[string]string{"/sys/fs/cgroup/memory.max": "much\n"}, memoryLimit{}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, "/proc/self/cgroup", c.cgroup)
			for file, content := range c.files {
				put(t, root, file, content)
			}
			if c.want == (memoryLimit{}) {
				c.want = memoryLimit{bytes: machine(), where: "the machine's memory"}
			}
			if got := findMemory(root); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func put(t *testing.T, root, file, content string) {
	t.Helper()
	file = filepath.Join(root, file)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMemoryOfThisMachine(t *testing.T) {
	if l := findMemory("/"); l.bytes < 64<<20 || l.where == "" {
		t.Errorf("%+v", l)
	}
}
