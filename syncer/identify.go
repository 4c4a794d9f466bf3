package syncer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
)

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
