package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

const (
	mount1 = "34 24 0:30 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n35 24 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	mount2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
)

func TestSmallestLimitOnTheWayUp(t *testing.T) {
	for name, c := range map[string]struct {
		cgroup, mountinfo string
		files             map[string]string
		want              Limit
	}{
		"none": {"0::/\n", mount2, nil, Limit{}},
		"version 2": {"0::/app\n", mount2, map[string]string{"/sys/fs/cgroup/app/memory.max": "536870912\n"},
			Limit{512 << 20, true, "/sys/fs/cgroup/app/memory.max"}},
		"version 2, no limit": {"0::/app\n", mount2, map[string]string{"/sys/fs/cgroup/app/memory.max": "max\n"}, Limit{}},
		"version 2, slowed down": {"0::/app\n", mount2, map[string]string{"/sys/fs/cgroup/app/memory.max": "max\n", "/sys/fs/cgroup/app/memory.high": "1048576\n"},
			Limit{1 << 20, true, "/sys/fs/cgroup/app/memory.high"}},
		"nested, the outer one is smaller": {"0::/a/b/c\n", mount2, map[string]string{
			"/sys/fs/cgroup/a/b/c/memory.max": "4096000000\n", "/sys/fs/cgroup/a/memory.max": "1073741824\n", "/sys/fs/cgroup/a/b/memory.max": "max\n",
		}, Limit{1 << 30, true, "/sys/fs/cgroup/a/memory.max"}},
		"nested, the inner one is smaller": {"0::/a/b\n", mount2, map[string]string{
			"/sys/fs/cgroup/a/b/memory.max": "268435456\n", "/sys/fs/cgroup/a/memory.max": "1073741824\n",
		}, Limit{256 << 20, true, "/sys/fs/cgroup/a/b/memory.max"}},
		"a container that sees its own group as the root": {"0::/\n", mount2, map[string]string{"/sys/fs/cgroup/memory.max": "268435456\n"},
			Limit{256 << 20, true, "/sys/fs/cgroup/memory.max"}},
		"a group of a neighbour's namespace": {"0::/../other\n", mount2, map[string]string{"/sys/fs/cgroup/memory.max": "268435456\n"},
			Limit{256 << 20, true, "/sys/fs/cgroup/memory.max"}},
		"version 1": {"9:name=systemd:/\n4:cpu,memory:/docker/ab\n", mount1, map[string]string{
			"/sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes": "536870912\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes":           "9223372036854771712\n",
			"/sys/fs/cgroup/cpu/docker/ab/memory.limit_in_bytes":    "1\n",
		}, Limit{512 << 20, true, "/sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes"}},
		"version 1, the group itself is mounted": {"4:memory:/docker/ab\n", "34 24 0:30 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n"},
			Limit{512 << 20, true, "/sys/fs/cgroup/memory/memory.limit_in_bytes"}},
		"both versions at once": {"4:memory:/s\n0::/s\n", mount1 + mount2, map[string]string{
			"/sys/fs/cgroup/memory/s/memory.limit_in_bytes": "536870912\n", "/sys/fs/cgroup/s/memory.max": "268435456\n",
		}, Limit{256 << 20, true, "/sys/fs/cgroup/s/memory.max"}},
		"a mount point with a blank": {"0::/\n", "30 24 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n", map[string]string{"/my groups/memory.max": "1048576"},
			Limit{1 << 20, true, "/my groups/memory.max"}},
		"nonsense": {"0:\n\n::::\n", "a b c - \n36 35 98:0 / - cgroup2\n", map[string]string{"/sys/fs/cgroup/memory.max": "much\n"}, Limit{}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, "/proc/self/cgroup", c.cgroup)
			put(t, root, "/proc/self/mountinfo", c.mountinfo)
			for file, content := range c.files {
				put(t, root, file, content)
			}
			if got := groups(root); got != c.want {
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

func TestFindKnowsTheMachine(t *testing.T) {
	l := Find()
	if l.Bytes < 64<<20 || l.Where == "" {
		t.Errorf("on %s: %+v", runtime.GOOS, l)
	}
}
