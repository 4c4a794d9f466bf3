package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// group is a control group of our own that limits memory, of either version.
type group struct {
	dir          string
	limit, swaps string // its files
}

// errNoGroups says that this machine lets us make no control group.
var errNoGroups = errors.New("no control group that limits memory can be made here (it takes root, and /sys/fs/cgroup writable): run it where one can")

// newGroup makes a group below /sys/fs/cgroup.
func newGroup(limit int64) (*group, error) {
	name := "larder-bench-" + strconv.Itoa(os.Getpid())
	for _, g := range []*group{
		{filepath.Join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes", ""},
		{filepath.Join("/sys/fs/cgroup", name), "memory.max", "memory.swap.max"},
	} {
		if _, err := os.Stat(filepath.Dir(g.dir)); err != nil || os.Mkdir(g.dir, 0o700) != nil {
			continue
		}
		if err := g.write(g.limit, strconv.FormatInt(limit, 10)); err != nil {
			if err := g.remove(); err != nil {
				return nil, err
			}
			continue
		}
		if g.swaps == "" {
			return g, nil
		}
		if err := g.write(g.swaps, "0"); err != nil && !errors.Is(err, fs.ErrNotExist) { // a machine without swap has no such file
			return nil, errors.Join(fmt.Errorf("limit swap: %w", err), g.remove())
		}
		return g, nil
	}
	return nil, errNoGroups
}

func (g *group) write(name, value string) error {
	return os.WriteFile(filepath.Join(g.dir, name), []byte(value), 0)
}

// number is a number in a file of the group, with a key where it has several.
func (g *group) number(name, key string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), key); ok {
			return strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", name, key)
}

// killed is how many processes of the group the kernel has ended.
func (g *group) killed() (int64, error) {
	if g.swaps == "" {
		return g.number("memory.oom_control", "oom_kill ")
	}
	return g.number("memory.events", "oom_kill ")
}

// anonymous is the memory of the group that no file backs: what cannot be dropped.
func (g *group) anonymous() (int64, error) {
	if g.swaps == "" {
		return g.number("memory.stat", "rss ")
	}
	return g.number("memory.stat", "anon ")
}

// remove removes the group, which must hold no process any more.
func (g *group) remove() error { return os.Remove(g.dir) }
