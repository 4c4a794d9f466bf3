package syncer

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// Applied is what [Syncer.Apply] has changed, of what this process's shard takes.
type Applied struct {
	Added, Removed, Changed []string // sources, in the order of the configuration
	Schedule                bool
}

// Nothing reports no change.
func (a Applied) Nothing() bool {
	return len(a.Added)+len(a.Removed)+len(a.Changed) == 0 && !a.Schedule
}

// Apply makes these the sources and the schedule, whether or not [Syncer.Run] is
// under way. On an error nothing has changed.
//
// A source that is as it was goes on undisturbed, walks and all; a changed schedule
// only moves its next turns. The life of one that is not there any more ends at once: its
// walks are given up, what it handed to the sink becomes durable, and its status and
// metrics go. The life of one that differs in anything ends like that, and the next one begins
// with what is stored, with what was spent of its budget and with its counters. Apply does not wait for any of this.
func (y *Syncer) Apply(sources []Source, spec Schedule) (Applied, error) {
	y.applying.Lock()
	defer y.applying.Unlock()
	times, err := schedule.New(spec)
	if err != nil {
		return Applied{}, err
	}
	applied, err := y.place(sources)
	if err != nil {
		return Applied{}, err
	}
	y.wanted = sources
	if applied.Schedule = !reflect.DeepEqual(times, *y.times.Load()); applied.Schedule {
		y.times.Store(&times)
		for _, s := range y.served() {
			s.wakeLoop()
		}
	}
	return applied, nil
}

// place has this process serve what its shard takes of the sources, and nothing else. On an error
// nothing has changed. The caller holds applying.
func (y *Syncer) place(wanted []Source) (applied Applied, err error) {
	var mine []Source
	beginning := 0 // those that begin together are spread
	seen, shardNames := map[string]bool{}, y.shardNames(wanted)
	for _, cfg := range wanted {
		if err := checkSource(cfg, seen); err != nil {
			return Applied{}, err
		}
		if y.takes(shardNames[cfg.Name]) {
			mine = append(mine, cfg)
			if y.supervisorOf(cfg.Name) == nil {
				beginning++
			}
		}
	}
	order := make([]*supervisor, len(mine))
	for i, cfg := range mine {
		v, added, changed := y.supervisorOf(cfg.Name), false, false
		if v == nil {
			c := &counters{metrics: y.metrics, written: map[string]uint64{}}
			v = &supervisor{
				syncer: y, name: cfg.Name, counters: c, users: semaphore.NewWeighted(allUsers), cfg: cfg, life: newSource(y, cfg, beginning, c),
			}
			added = true
		} else {
			added, changed = v.configure(cfg)
		}
		if added {
			applied.Added = append(applied.Added, cfg.Name)
		} else if changed {
			applied.Changed = append(applied.Changed, cfg.Name)
		}
		order[i] = v
	}
	y.configured.Store(int64(len(wanted)))
	membership := membershipOf(wanted)
	y.membership.Store(&membership)
	y.mu.Lock()
	before := y.order
	y.order = order
	for _, v := range order {
		if y.all[v.name] == nil && y.serve != nil {
			y.serve(v)
		}
		y.all[v.name] = v
	}
	y.mu.Unlock()
	for _, v := range before {
		if !slices.Contains(order, v) {
			v.remove()
			applied.Removed = append(applied.Removed, v.name)
		}
	}
	y.leases.Nudge()
	return applied, nil
}

// checkSource refuses what no source can be.
func checkSource(cfg Source, seen map[string]bool) error {
	if cfg.Name == "" || seen[cfg.Name] {
		return fmt.Errorf("source %q: names must be there, and be unique", cfg.Name)
	}
	seen[cfg.Name] = true
	for _, name := range cfg.Streams {
		if !slices.Contains(registry.Names(), name) {
			return fmt.Errorf("source %q: unknown stream %q; known are %q", cfg.Name, name, registry.Names())
		}
	}
	if _, err := api.New(api.Options{BaseURL: cfg.BaseURL, Key: cfg.Key}); err != nil {
		return fmt.Errorf("source %q: %w", cfg.Name, err)
	}
	return nil
}

// same reports whether two sources of one name are served alike.
func (a Source) same(b Source) bool {
	return a.BaseURL == b.BaseURL && a.Revision == b.Revision && (a.NextKey == nil) == (b.NextKey == nil) &&
		cmp.Or(a.BudgetShare, 1) == cmp.Or(b.BudgetShare, 1) && a.Personal.Equal(b.Personal) && a.ErasesBeyond == b.ErasesBeyond &&
		slices.Equal(a.Streams, b.Streams) && slices.Equal(a.Locations, b.Locations)
}

// drop forgets a source that was removed and is at work no more, with its budget and its
// counters. It reports false when the source is there again.
func (y *Syncer) drop(v *supervisor) bool {
	y.applying.Lock()
	defer y.applying.Unlock()
	if !v.isRemoved() {
		return false
	}
	y.mu.Lock()
	delete(y.all, v.name)
	y.mu.Unlock()
	y.opts.Ledger.Forget(v.name)
	y.metrics.forget(v.name)
	y.leases.Nudge() // to give it back
	return true
}
