package syncer

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/schedule"
)

// Shard says which part of the sources a process takes: those whose name, or that of the first
// source of the same restaurant, has its highest rendezvous hash at Index, among Count
// processes. Changing Count moves only the sources that must move.
type Shard struct {
	Index, Count int
}

// Takes reports whether a source of that name belongs to this process. The zero Shard takes
// every source.
func (s Shard) Takes(source string) bool {
	if s.Count <= 1 {
		return true
	}
	best, owner := uint64(0), 0
	for i := range s.Count {
		if h := schedule.Hash(source, strconv.Itoa(i)); i == 0 || h > best {
			best, owner = h, i
		}
	}
	return owner == s.Index
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

// followShards gives up and takes over sources whose restaurant has become known, until ctx
// ends. Every process does so within minutes of the others; leases keep two from serving one
// source meanwhile.
func (y *Syncer) followShards(ctx context.Context) {
	for lifecycle.Pause(ctx, time.Minute) {
		if err := y.readBusinesses(ctx); err != nil {
			continue // the warehouse is away, which others report
		}
		if err := y.reassign(); err != nil {
			y.log.Error("give sources of one restaurant to one process", "err", err)
		}
	}
}

// reassign places the sources anew, by the restaurants that are stored now.
func (y *Syncer) reassign() error {
	if y.opts.Shard.Count <= 1 {
		return nil
	}
	y.applying.Lock()
	defer y.applying.Unlock()
	applied, err := y.place(y.wanted)
	if err != nil || applied.Nothing() {
		return err
	}
	y.log.Info("sources of one restaurant go to one process", "added", applied.Added, "removed", applied.Removed)
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
