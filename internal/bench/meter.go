package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/larder-sync/larder/sinks/engine/writer"
)

// meter measures what a daemon costs while something goes on.
type meter struct {
	r *report
	s *service
	d *daemon
}

// usage is what a daemon has cost since its start, and what its service has counted.
type usage struct {
	at                   time.Time
	all, daemon, writer  time.Duration  // of the processor; the reader has the rest
	events               map[string]int // of the writer's engine
	requests, duplicates int
}

// The engine's counters.
const (
	inserts    = "InsertQuery"
	selects    = "SelectQuery"
	inserted   = "InsertedRows"
	merged     = "MergedRows"
	merges     = "Merge"
	fileSyncs  = "FileSync"
	folderSync = "DirectorySync"
)

func (m *meter) usage(ctx context.Context) (u usage, err error) {
	u = usage{at: time.Now(), events: map[string]int{}}
	if u.all, err = m.d.cpu(); err != nil {
		return u, err
	}
	if u.daemon, err = cpu([]int{m.d.cmd.Process.Pid}); err != nil {
		return u, err
	}
	family := family(m.d.cmd.Process.Pid)
	if i := slices.IndexFunc(family, isWriter); i >= 0 {
		if u.writer, err = cpu(family[i : i+1]); err != nil {
			return u, err
		}
	}
	c, err := m.s.counters(ctx)
	if err != nil {
		return u, err
	}
	u.requests, u.duplicates = c.Stats.Requests, c.Stats.DuplicatePages
	rows, err := m.d.stored(ctx, "SELECT event, value FROM system.events")
	for _, row := range rows {
		if u.events[row[0]], err = strconv.Atoi(row[1]); err != nil {
			return u, err
		}
	}
	return u, err
}

// since returns a counter's growth.
func (u usage) since(before usage) func(event string) int {
	return func(event string) int { return u.events[event] - before.events[event] }
}

// isWriter reports whether a process is the engine that takes rows.
func isWriter(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err == nil && strings.Contains(string(line), fmt.Sprintf(`"Role":%q`, writer.Role))
}

// measureOn measures what is done from now on.
func (m *meter) measureOn(ctx context.Context, name string, do func() error) error {
	before, err := m.usage(ctx)
	if err != nil {
		return err
	}
	return m.measure(ctx, name, before, do)
}

// measure reports what a daemon has used since before, once something is done.
func (m *meter) measure(ctx context.Context, name string, before usage, do func() error) error {
	highest, watching := int64(0), errgroup.Group{}
	watched, stop := context.WithCancel(ctx)
	defer stop()
	watching.Go(func() error {
		for wait(watched, time.Second) == nil {
			if now, err := m.d.memory("VmRSS"); err == nil { // else a process has just ended
				highest = max(highest, now)
			}
		}
		return nil
	})
	if err := do(); err != nil {
		return err
	}
	after, err := m.usage(ctx)
	if err != nil {
		return err
	}
	stop()
	_ = watching.Wait() // it returns none
	resident, err := m.d.memory("VmRSS")
	if err != nil {
		return err
	}
	anonymous, err := m.d.memory("RssAnon")
	if err != nil {
		return err
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	metrics, err := size(ctx, "http://"+m.d.web+"/metrics")
	if err != nil {
		return err
	}
	status, err := size(ctx, "http://"+m.d.web+"/status.json")
	if err != nil {
		return err
	}
	minutes, event := after.at.Sub(before.at).Minutes(), after.since(before)
	all, daemon, writer := after.all-before.all, after.daemon-before.daemon, after.writer-before.writer
	m.r.row(name+": seconds; load", "%.0f; %s", minutes*60, strings.Fields(string(load))[0])
	m.r.row(name+": CPU-seconds; a minute; of that the daemon, the writer, the reader", "%.1f; %.1f; %.1f, %.1f, %.1f",
		all.Seconds(), all.Seconds()/minutes, daemon.Seconds()/minutes, writer.Seconds()/minutes, max(0, all-daemon-writer).Seconds()/minutes)
	m.r.row(name+": RSS of all processes; highest; without the page cache", "%d; %d; %d MB", resident/1e6, max(highest, resident)/1e6, anonymous/1e6)
	m.r.row(name+": INSERTs, SELECTs, merges, fsyncs a minute", "%.0f, %.0f, %.0f, %.0f", float64(event(inserts))/minutes,
		float64(event(selects))/minutes, float64(event(merges))/minutes, float64(event(fileSyncs)+event(folderSync))/minutes)
	m.r.row(name+": rows inserted a minute; rows merged for one inserted", "%.0f; %.1f", float64(event(inserted))/minutes,
		float64(event(merged))/float64(max(event(inserted), 1)))
	m.r.row(name+": requests a minute; pages asked for again", "%.0f; %d", float64(after.requests-before.requests)/minutes, after.duplicates-before.duplicates)
	m.r.row(name+": /metrics; /status.json", "%d; %d KB", metrics/1000, status/1000)
	return nil
}

// size is how many bytes an answer has.
func size(ctx context.Context, url string) (bytes int64, err error) {
	err = ask(ctx, http.MethodGet, url, "", func(answer io.Reader) (err error) {
		bytes, err = io.Copy(io.Discard, answer)
		return err
	})
	return bytes, err
}

// cpu is the processor's time that processes have had: unlike the time that passes, it
// hardly depends on what else runs on the machine.
func cpu(processes []int) (used time.Duration, err error) {
	for _, pid := range processes {
		var t unix.Timespec
		// The clock of a process is named by its id, see clock_getcpuclockid(3).
		if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil { //nolint:gosec // ids have 22 bits
			return 0, fmt.Errorf("read the processor's time of process %d: %w", pid, err)
		}
		used += time.Duration(t.Nano())
	}
	return used, nil
}

// family are a process and those that it has started.
func family(pid int) []int {
	all := []int{pid}
	entries, _ := os.ReadDir("/proc") // without it there is no engine either
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields, err := statOf(child); err == nil && fields[1] == strconv.Itoa(pid) {
			all = append(all, child)
		}
	}
	return all
}

// statOf are the fields of /proc/<pid>/stat behind the name.
func statOf(pid int) ([]string, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:])), nil
}

// percentile is the p-th percentile (0 to 100), by nearest rank.
func percentile[T cmp.Ordered](all []T, p float64) (none T) {
	if len(all) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(all))
	rank := int(p/100*float64(len(sorted))+0.5) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}
