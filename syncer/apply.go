package syncer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/lifecycle"
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
// only moves its next turns. One that is not there any more ends at once: its walks
// are given up, what it handed to the sink becomes durable, and its status and
// metrics go. One that differs in anything but the order of its lists ends like
// that, and begins anew with what is stored, with what it has spent of its budget
// and with its counters. Apply does not wait for any of this.
func (y *Syncer) Apply(sources []Source, spec Schedule) (Applied, error) {
	y.applying.Lock()
	defer y.applying.Unlock()
	times, err := schedule.New(spec)
	if err != nil {
		return Applied{}, err
	}
	p, err := y.plan(sources)
	if err != nil {
		return Applied{}, err
	}
	y.wanted = sources
	p.applied.Schedule = times.Keep(y.timetable())
	y.carryOut(p, times)
	return p.applied, nil
}

// plan is what Apply is about to do.
type plan struct {
	applied Applied
	sources []*source // those that will be
	begin   []*source // of them
	end     []*source // of those that are
}

// plan makes the sources that are new or changed. It touches nothing that is served.
func (y *Syncer) plan(wanted []Source) (p plan, err error) {
	defer func() {
		if err != nil {
			y.forgetUnserved(p.applied.Added)
		}
	}()
	present := map[string]*source{}
	for _, s := range y.served() {
		present[s.cfg.Name] = s
	}
	seen, shardNames := map[string]bool{}, y.shardNames(wanted)
	for _, cfg := range wanted {
		if err := y.checkSource(cfg, seen); err != nil {
			return p, err
		}
		if !y.opts.Shard.Takes(shardNames[cfg.Name]) {
			continue
		}
		old := present[cfg.Name]
		delete(present, cfg.Name)
		if err := p.place(y, cfg, old); err != nil {
			return p, fmt.Errorf("source %q: %w", cfg.Name, err)
		}
	}
	for _, s := range y.served() {
		if present[s.cfg.Name] != nil {
			p.end = append(p.end, s)
			p.applied.Removed = append(p.applied.Removed, s.cfg.Name)
		}
	}
	for _, s := range p.begin {
		s.Began = len(p.begin)
	}
	return p, nil
}

// checkSource refuses what no source can be.
func (y *Syncer) checkSource(cfg Source, seen map[string]bool) error {
	if cfg.Name == "" || seen[cfg.Name] {
		return fmt.Errorf("source %q: names must be there, and be unique", cfg.Name)
	}
	seen[cfg.Name] = true
	for _, name := range cfg.Streams {
		if !slices.Contains(registry.Names(), name) {
			return fmt.Errorf("source %q: unknown stream %q; known are %q", cfg.Name, name, registry.Names())
		}
	}
	return nil
}

// place puts one source into the plan; old is what is served under its name, or nil.
func (p *plan) place(y *Syncer, cfg Source, old *source) error {
	if old != nil && old.cfg.same(cfg) {
		p.sources = append(p.sources, old)
		return nil
	}
	if old == nil {
		p.applied.Added = append(p.applied.Added, cfg.Name)
	}
	s, err := newSource(y, cfg)
	if err != nil {
		return err
	}
	p.sources, p.begin = append(p.sources, s), append(p.begin, s)
	if old != nil {
		p.end = append(p.end, old)
		p.applied.Changed = append(p.applied.Changed, cfg.Name)
		s.inherit(old)
	} else if old = y.endingOf(cfg.Name); old != nil {
		s.inherit(old)
	}
	return nil
}

// same is true when two sources of one name are served alike.
func (a Source) same(b Source) bool {
	share := func(s Source) float64 {
		if s.BudgetShare == 0 {
			return 1
		}
		return s.BudgetShare
	}
	return a.BaseURL == b.BaseURL && a.Revision == b.Revision && (a.NextKey == nil) == (b.NextKey == nil) &&
		share(a) == share(b) && a.Personal.Equal(b.Personal) && a.ErasesBeyond == b.ErasesBeyond && sameSet(a.Streams, b.Streams) && sameSet(a.Locations, b.Locations)
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// carryOut makes the plan what is.
func (y *Syncer) carryOut(p plan, times schedule.Timetable) {
	for _, s := range p.begin {
		s.link.Key.SetShare(s.cfg.BudgetShare)
	}
	y.mu.Lock()
	y.sources, y.times = p.sources, times
	for _, s := range p.end {
		y.ending[s.cfg.Name] = s
	}
	if y.begin != nil { // else Run begins them
		for _, s := range p.begin {
			y.begin(s)
		}
	}
	y.mu.Unlock()
	for _, s := range p.end {
		cause := errChanged
		if slices.Contains(p.applied.Removed, s.cfg.Name) {
			cause = errRemoved
		}
		y.finish(s, cause)
	}
	y.leases.Nudge()
	if p.applied.Schedule {
		for _, s := range p.sources {
			s.loop.wakeLoop()
		}
	}
}

// finish ends a source that is not served any more; its end is not waited for.
func (y *Syncer) finish(s *source, cause error) {
	name := s.cfg.Name
	s.life.finish(cause)
	y.beside(func() {
		for f := s; f != nil; f = f.previous { // it may have ended while it waited for those
			<-f.life.ended
		}
		y.mu.Lock()
		if y.ending[name] == s {
			delete(y.ending, name)
		}
		y.mu.Unlock()
		if errors.Is(cause, errRemoved) {
			y.applying.Lock()
			defer y.applying.Unlock()
			y.forgetUnserved([]string{name}) // unless it has come back
		}
	})
}

// beside calls f in a goroutine of its own. While [Syncer.Run] is under way, it returns only
// when f has.
func (y *Syncer) beside(f func()) {
	y.mu.RLock()
	defer y.mu.RUnlock()
	isolated := func() { lifecycle.Recovered(y.log, "the end of a source", f) }
	if y.begin == nil {
		go isolated()
		return
	}
	y.running.Go(isolated)
}

// endingOf is the source of a name that is served no more and still at work, or nil.
func (y *Syncer) endingOf(name string) *source {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.ending[name]
}

func (y *Syncer) serves(name string) bool {
	return slices.ContainsFunc(y.served(), func(s *source) bool { return s.cfg.Name == name })
}

// forgetUnserved drops the budgets and the counters of sources that are not served, and at
// work no more. The caller holds applying: neither must go while its source comes.
func (y *Syncer) forgetUnserved(names []string) {
	for _, name := range names {
		if !y.serves(name) && y.endingOf(name) == nil {
			y.opts.Ledger.Forget(name)
			y.metrics.forget(name)
		}
	}
}
