package memsink

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// process is what is stored about a process.
type process struct {
	name               string
	beatAt, aliveSince time.Time
}

type claimKey struct{ source, process string }

// Beat says that a process is alive and what it wants.
func (s *Sink) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	if err := s.way(ctx); err != nil {
		return nil, err
	}
	at := time.Now() // a statement is dated when it begins, and seen when it ends
	if err := s.way(ctx); err != nil {
		return nil, err
	}
	claims := s.store.beat(p, wants, at, s.opts.ClaimTimeout)
	return claims, s.way(ctx)
}

// way is how long a word takes between the process and the warehouse.
func (s *Sink) way(ctx context.Context) error {
	if err := s.unstuck(ctx); err != nil {
		return err
	}
	if s.opts.BeatTime > 0 {
		select {
		case <-time.After(s.opts.BeatTime):
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.available()
}

func (s *Store) beat(p sinks.Process, wants []string, now time.Time, timeout time.Duration) []sinks.Claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.claims, func(k claimKey, _ time.Time) bool {
		return k.process == p.ID && !slices.Contains(wants, k.source)
	})
	if len(wants) > 0 {
		aliveSince := now
		if old, ok := s.processes[p.ID]; ok && now.Sub(old.beatAt) <= timeout {
			aliveSince = old.aliveSince
		}
		s.processes[p.ID] = process{name: p.Name, beatAt: now, aliveSince: aliveSince}
	}
	for _, source := range wants {
		if _, ok := s.claims[claimKey{source, p.ID}]; !ok {
			s.claims[claimKey{source, p.ID}] = now
		}
	}
	return s.alive(time.Now().Add(-timeout))
}

// alive are the claims of the processes that have beaten since.
func (s *Store) alive(since time.Time) []sinks.Claim {
	var claims []sinks.Claim
	for k, made := range s.claims {
		p := s.processes[k.process]
		if p.beatAt.Before(since) {
			continue
		}
		if made.Before(p.aliveSince) {
			made = p.aliveSince
		}
		claims = append(claims, sinks.Claim{Source: k.source, Process: sinks.Process{ID: k.process, Name: p.name}, Since: made, BeatAt: p.beatAt})
	}
	return claims
}

// Age makes what is stored about processes d older.
func (s *Store) Age(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.processes {
		p.beatAt, p.aliveSince = p.beatAt.Add(-d), p.aliveSince.Add(-d)
		s.processes[id] = p
	}
	for k, made := range s.claims {
		s.claims[k] = made.Add(-d)
	}
}
