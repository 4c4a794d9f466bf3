package warehouse

import (
	"strings"
	"testing"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/lifecycle"
)

func TestMemoryOfTheEngine(t *testing.T) {
	const where = "/sys/fs/cgroup/memory.max"
	container := func(n int64) memoryLimit { return memoryLimit{bytes: n, container: true, where: where} }
	for name, c := range map[string]struct {
		limit      memoryLimit
		configured int64
		want       int64
		says       []string // also of the error
	}{
		"a container":                    {container(512 << 20), 0, 256 << 20, []string{"256 MiB of 512 MiB", where}},
		"a small container":              {container(256 << 20), 0, 128 << 20, []string{"128 MiB of 256 MiB"}},
		"the smallest container":         {container(256 << 20), 0, 128 << 20, nil},
		"too small by default":           {container(255 << 20), 0, 0, []string{"255 MiB", where, "needs 256 MiB", "raise the limit"}},
		"far too small":                  {container(128 << 20), 0, 0, []string{"128 MiB", where, "needs 256 MiB", "raise the limit"}},
		"chosen in a container":          {container(1 << 30), 600 << 20, 600 << 20, []string{"600 MiB (warehouse.memory) of 1.0 GiB", where}},
		"chosen, and more than there is": {container(512 << 20), 2 << 30, 0, []string{"warehouse.memory: 2.0 GiB of the 512 MiB", where, "at most 400 MiB"}},
		"a machine":                      {memoryLimit{bytes: 8 << 30, where: "the machine's memory"}, 0, 2 << 30, []string{"2.0 GiB of 8.0 GiB (the machine's memory)"}},
		"a small machine":                {memoryLimit{bytes: 256 << 20, where: "the machine's memory"}, 0, 128 << 20, nil},
		"chosen on a machine":            {memoryLimit{bytes: 8 << 30, where: "the machine's memory"}, 3 << 30, 3 << 30, []string{"3.0 GiB (warehouse.memory) of 8.0 GiB"}},
		"unknown":                        {memoryLimit{}, 0, 2 << 30, []string{"could not be found out"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := planMemory(c.limit, c.configured)
			text := p.String()
			if c.want == 0 {
				if err == nil || lifecycle.ExitCode(err) != lifecycle.ExitUsage {
					t.Fatalf("%s, error %v, want one of the configuration", text, err)
				}
				text = err.Error()
			} else if err != nil || p.engine != c.want {
				t.Fatalf("%d bytes, error %v, want %d", p.engine, err, c.want)
			}
			for _, s := range c.says {
				if !strings.Contains(text, s) {
					t.Errorf("%q lacks %q", text, s)
				}
			}
			if err == nil && c.limit.container && (p.heap < leastHeap || p.engine+p.heap+leastAround > c.limit.bytes || p.queue > p.heap/4) {
				t.Errorf("engine %s, heap %s, queue %s of %s", config.Size(p.engine), config.Size(p.heap), config.Size(p.queue), config.Size(c.limit.bytes))
			}
		})
	}
}

// More memory makes larger INSERTs, up to what the engine's own limit can hold.
func TestMemoryOfTheQueue(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		limit              memoryLimit
		configured, wanted int64
	}{
		{memoryLimit{bytes: 1024 * mib}, 0, 48 * mib},
		{memoryLimit{bytes: 4096 * mib}, 0, 64 * mib},
		{memoryLimit{bytes: 64 << 30}, 0, 96 * mib},
		{memoryLimit{bytes: 64 << 30}, 128 * mib, 48 * mib},
		{memoryLimit{bytes: 64 << 30}, 256 * mib, 64 * mib},
		{memoryLimit{}, 0, 48 * mib},
		{memoryLimit{bytes: 512 * mib, container: true}, 0, 32 * mib},
		{memoryLimit{bytes: 8 << 30, container: true}, 0, 96 * mib},
		{memoryLimit{bytes: 8 << 30, container: true}, 200 * mib, 50 * mib},
	} {
		p, err := planMemory(c.limit, c.configured)
		if err != nil || p.queue != c.wanted {
			t.Errorf("%s, warehouse.memory %s: %s may wait, error %v, want %s", config.Size(c.limit.bytes), config.Size(c.configured), config.Size(p.queue), err, config.Size(c.wanted))
		}
	}
}

// Who writes has two thirds of the engine's memory beside a reader, and neither less than works.
func TestMemoryOfWriterAndReader(t *testing.T) {
	for size, want := range map[int64][2]int64{
		256 << 20: {}, // the kernel ended the reader there again and again
		511 << 20: {},
		512 << 20: {(256 << 20) - (256<<20)/3, 128 << 20},
		3 << 30:   {1 << 30, 512 << 20}, // 1.5 GiB
	} {
		o, limit := Opener{Config: &config.Config{}}, memoryLimit{bytes: size, container: true}
		p, err := o.memoryWithin(limit)
		if err != nil || p.writer() != p.engine || p.reader != 0 {
			t.Errorf("%s: the writer has %s, error %v", config.Size(size), config.Size(p.writer()), err)
		}
		o.Config.Warehouse.HTTPListen = "127.0.0.1:8123"
		p, err = o.memoryWithin(limit)
		if want == [2]int64{} {
			if lifecycle.ExitCode(err) != lifecycle.ExitUsage || !strings.Contains(err.Error(), "warehouse.http_listen needs 512 MiB") {
				t.Errorf("%s: %v", config.Size(size), err)
			}
			continue
		}
		if err != nil || [2]int64{p.writer(), p.reader} != want {
			t.Errorf("%s: the writer has %s, the reader %s, error %v", config.Size(size), config.Size(p.writer()), config.Size(p.reader), err)
		}
	}
}
