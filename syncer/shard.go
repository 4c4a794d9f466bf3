package syncer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/schedule"
)

// Shard says which part of the sources a process takes: those whose name, or that of the first
// source of the same restaurant, has its highest rendezvous hash at Index, among Count
// processes. With Auto it is at the process itself, among the ones that share the warehouse. When
// their number changes, only the sources move that must.
type Shard struct {
	Index, Count int
	Auto         bool
}

// Takes reports whether a source of that name belongs to the process at Index. The zero Shard
// takes every source.
func (s Shard) Takes(source string) bool {
	var processes []string
	for i := range s.Count {
		processes = append(processes, strconv.Itoa(i))
	}
	return len(processes) <= 1 || owner(source, processes) == strconv.Itoa(s.Index)
}

// atOneAddress is how many processes may have the address of this one, which divide the wrong keys
// that it may send. How many do is not known with Auto: the others may run elsewhere.
func (s Shard) atOneAddress() int {
	if s.Auto {
		return 4
	}
	return s.Count
}

// owner is the process with the highest rendezvous hash of a source.
func owner(source string, processes []string) (owner string) {
	highest := uint64(0)
	for i, p := range processes {
		if h := schedule.Hash(source, p); i == 0 || h > highest {
			highest, owner = h, p
		}
	}
	return owner
}

// membershipOf is the name that a process with these sources claims as a member ([lease.Member]).
func membershipOf(sources []Source) string {
	var names []string
	for _, s := range sources {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return fmt.Sprintf("%s, list %016x", lease.Member, schedule.Hash(names...))
}

// takes reports whether a source of that name belongs to this process.
func (y *Syncer) takes(source string) bool {
	members := y.members.Load()
	if !y.opts.Shard.Auto || members == nil {
		return y.opts.Shard.Takes(source)
	}
	return owner(source, *members) == y.opts.Process.ID
}

// processes is among how many processes the sources are divided.
func (y *Syncer) processes() int {
	if members := y.members.Load(); members != nil {
		return len(*members)
	}
	return max(y.opts.Shard.Count, 1)
}

// shardNames are the names by which sources are given to a shard: that of the first source of
// the same restaurant, so that one process counts the requests of all of them. A source whose
// restaurant is not stored yet is assigned by its own name.
func (y *Syncer) shardNames(sources []Source) map[string]string {
	stored, first := *y.mirrored.Load(), map[string]string{}
	for _, s := range sources {
		if b := stored[s.Name]; b != "" && (first[b] == "" || s.Name < first[b]) {
			first[b] = s.Name
		}
	}
	names := map[string]string{}
	for _, s := range sources {
		if names[s.Name] = s.Name; stored[s.Name] != "" {
			names[s.Name] = first[stored[s.Name]]
		}
	}
	return names
}

// shardGauges report how the sources are divided.
func shardGauges(y *Syncer) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "larder_shard_processes", Help: "Processes among which the sources are divided: with shard: auto the ones that are alive and have the same list.",
		}, func() float64 { return float64(y.processes()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "larder_shard_sources", Help: "Configured sources that belong to this process.",
		}, func() float64 { return float64(len(y.supervisors())) }),
	}
}

// claimed are the sources that [Syncer.Run] claims: those that it serves, and removed ones until
// what they wrote is durable. Which it serves is known once all processes have been seen.
func (y *Syncer) claimed() (names []string) {
	if y.opts.Shard.Auto {
		if names = append(names, *y.membership.Load()); y.members.Load() == nil {
			return names
		}
	}
	y.mu.RLock()
	all := slices.Collect(maps.Values(y.all))
	y.mu.RUnlock()
	for _, v := range all {
		if !v.isRemoved() || v.current().leased.Load() {
			names = append(names, v.name)
		}
	}
	return names
}

// join waits until the processes that share the warehouse are known, and takes this one's part of
// the sources.
func (y *Syncer) join(ctx context.Context) error {
	for y.opts.Shard.Auto && y.members.Load() == nil {
		changed, beat := y.readMembers()
		if changed {
			return y.reassign()
		}
		select {
		case <-beat:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// readMembers takes over which processes share the warehouse, as the last beat has found. It returns
// whether they are others than before, and what is closed at the next beat.
func (y *Syncer) readMembers() (changed bool, beat <-chan struct{}) {
	if !y.opts.Shard.Auto {
		return false, nil
	}
	members, beat := y.leases.Members()
	before := y.members.Load()
	if len(members) == 0 || before != nil && slices.Equal(members, *before) {
		return false, beat
	}
	y.members.Store(&members)
	return true, beat
}

// followShards gives up and takes over sources when a process has come or gone, and each minute
// sources whose restaurant has become known, until ctx ends. The processes do so at different
// times: leases keep two from serving one source meanwhile.
func (y *Syncer) followShards(ctx context.Context) {
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	for {
		changed, beat := y.readMembers()
		if !changed {
			select {
			case <-ctx.Done():
				return
			case <-beat:
				continue
			case <-minute.C:
			}
		}
		if err := y.readBusinesses(ctx); err != nil {
			y.log.Debug("the restaurants of the sources stay as they were last read", "err", err)
		}
		if err := y.reassign(); err != nil {
			y.log.Error("divide the sources among the processes", "err", err)
		}
	}
}

// reassign places the sources anew, by the processes and restaurants that are known now.
func (y *Syncer) reassign() error {
	if y.opts.Shard.Count <= 1 && !y.opts.Shard.Auto {
		return nil
	}
	y.applying.Lock()
	defer y.applying.Unlock()
	applied, err := y.place(y.wanted)
	if err != nil || applied.Nothing() {
		return err
	}
	y.log.Info("the sources are divided anew", "processes", y.processes(),
		"added", text.Few(applied.Added), "removed", text.Few(applied.Removed), "sources", len(y.supervisors()))
	return nil
}

// readBusinesses reads which restaurant each source has mirrored.
func (y *Syncer) readBusinesses(ctx context.Context) error {
	all, err := y.opts.Sink.Businesses(ctx)
	if err != nil {
		return fmt.Errorf("read which restaurants the sources have mirrored: %w", err)
	}
	y.mirrored.Store(&all)
	return nil
}
