package syncer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// KeyCheck is what the API says about one source's key, for `larder check`.
// Nothing of it is stored.
type KeyCheck struct {
	Source string
	// State is StateRunning when the key works; else that of a source in trouble,
	// with what to do in Detail.
	State, Detail string
	Me            api.Me
	// NextKey: the first key was refused, the next one works.
	NextKey bool
	// Streams that would run, and those that would not with the reason.
	Streams []string
	Off     map[string]string
	Err     error
}

// Check asks /me for the named sources, all when names is empty, and writes
// nothing to the sink. The error is about the names; what is wrong with a source
// stands in its check.
func (y *Syncer) Check(ctx context.Context, names []string) ([]KeyCheck, error) {
	sources, err := y.selected(Selection{Sources: names})
	if err != nil {
		return nil, err
	}
	checks := make([]KeyCheck, len(sources))
	var asked sync.WaitGroup
	for i, s := range sources {
		asked.Go(func() { checks[i] = s.check(ctx) })
	}
	asked.Wait()
	for i, s := range sources {
		s.judge(&checks[i], checks)
	}
	return checks, nil
}

func (s *source) check(ctx context.Context) KeyCheck {
	c := KeyCheck{Source: s.cfg.Name, State: status.StateRunning, Off: map[string]string{}}
	me, err := s.me(ctx)
	if err != nil {
		t := stream.Diagnose(err)
		c.State, c.Detail, c.Err = t.State, t.Detail, err
		return c
	}
	c.Me, c.NextKey = me.Value, s.link.Tried() != s.cfg.Key()
	return c
}

// judge says what the answer to a check means, beside those of the other sources.
func (s *source) judge(c *KeyCheck, all []KeyCheck) {
	if c.Err != nil {
		return
	}
	key := s.identify(c.Me)
	for _, other := range all {
		if key.Beside == "" && other.Source != c.Source && other.Me.Business.ID == key.Business && s.seesSomeLocations(key) {
			key.Beside = other.Source
		}
	}
	if len(key.Unknown) > 0 {
		c.State, c.Detail = status.StateFailing, unknownLocations(key)
		c.Err = &stream.MisfitError{Text: c.Detail}
	}
	for _, st := range s.streams {
		if reason := s.offReason(st, key); reason != "" {
			c.Off[st.Common().Def.Name] = reason
		} else {
			c.Streams = append(c.Streams, st.Common().Def.Name)
		}
	}
}

// identify reads what the syncer needs to know off an answer of /me.
func (s *source) identify(me api.Me) stream.Identity {
	key := stream.Identity{
		Business: me.Business.ID, BusinessName: me.Business.Name, Mode: me.App.Mode,
		Scopes: me.Scopes, Locations: me.LocationIDs, All: me.AllLocations,
	}
	key.Beside = s.beside(key)
	for _, l := range s.cfg.Locations {
		switch {
		case slices.Contains(me.LocationIDs, l):
		case s.followedBefore(l):
			key.Inactive = append(key.Inactive, l)
		default:
			key.Unknown = append(key.Unknown, l)
		}
	}
	return key
}

// followedBefore is true when rows of a location were mirrored by the source. A
// location that is deactivated leaves /me while its rows can stay listed (DESIGN
// §5, open readings).
func (s *source) followedBefore(location string) bool {
	key := s.Identity()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(key.Locations, location) || slices.Contains(key.Inactive, location) ||
		slices.ContainsFunc(s.stored.Checkpoints, func(cp sinks.Checkpoint) bool {
			return strings.HasSuffix(cp.Stream, "@"+location)
		})
}

// offReason is why a stream does not run with a key, empty when it does.
func (s *source) offReason(f follower, key stream.Identity) string {
	st := f.Common()
	switch {
	case !st.Configured():
		return "not among the configured streams"
	case st.LacksScope(key):
		return "key lacks " + strings.Join(st.Def.Scopes, " or ") + ": ask the restaurant to grant it, or leave the stream out of the configuration"
	case len(f.WantedLocations(key)) == 0 && !key.LocationsOnly():
		return "none of the configured locations is among the key's"
	case st.Def.WholeOnly && len(s.OnlyLocations) > 0:
		return "its rows do not tell locations apart, and the configuration names some"
	case st.Def.WholeOnly && key.LocationsOnly():
		return fmt.Sprintf("its rows do not tell locations apart, the key sees some locations only, and source %q is of the same restaurant: to have them, give one source a key that sees all locations", key.Beside)
	}
	return ""
}
