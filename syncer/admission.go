package syncer

import (
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/stream"
)

// identify takes over an answer of /me: the key, its limits, and what it may read. A location that
// is deactivated leaves /me while its rows can stay listed (docs/rules.md, Open readings): if its rows
// were mirrored, it is inactive, and not unknown.
func (s *source) identify(answer api.Document[types.Me]) stream.Identity {
	s.AnswerTime(answer.Date)
	s.link.Accept(answer.Value)
	me := answer.Value
	key := stream.Identity{
		Business: me.Business.ID, BusinessName: me.Business.Name, Mode: me.App.Mode,
		Scopes: me.Scopes, Locations: slices.Compact(slices.Sorted(slices.Values(me.LocationIDs))), All: me.AllLocations,
	}
	was := s.Identity()
	for _, l := range s.cfg.Locations {
		switch {
		case slices.Contains(me.LocationIDs, l):
		case slices.Contains(was.Locations, l), slices.Contains(was.Inactive, l),
			slices.ContainsFunc(s.lists, func(st *list.List) bool { return st.Followed(l) }):
			key.Inactive = append(key.Inactive, l)
		default:
			key.Unknown = append(key.Unknown, l)
		}
	}
	s.IdentifyAs(key)
	return key
}

// offReason is why a stream does not run with a key, empty when it does.
func offReason(st *stream.Stream, key stream.Identity) string {
	switch {
	case !st.Configured():
		return "not among the configured streams"
	case st.LacksScope():
		return "key lacks " + strings.Join(st.Def.Scopes, " or ") + ": ask the restaurant to grant it, or leave the stream out of the configuration"
	case len(st.Source.OnlyLocations) > 0 && len(st.Kind.WantedLocations(key)) == 0:
		return "none of the configured locations is among the key's"
	}
	return ""
}
