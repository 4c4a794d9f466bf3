package credentials

import (
	"errors"
	"slices"
	"strings"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// ByScope names the streams that a key reads, and those for which it lacks the scope, with the scopes
// that they need.
func ByScope(streams []status.StreamOutcome) (on, lacking []string) {
	needs := map[string]string{}
	for _, d := range registry.All() {
		needs[d.Name] = strings.Join(d.Scopes, " or ")
	}
	for _, o := range streams {
		switch {
		case o.NoScope:
			lacking = append(lacking, o.Stream+" (needs "+needs[o.Stream]+")")
		case o.Off == "" || o.OrderingOff:
			on = append(on, o.Stream)
		}
	}
	return on, lacking
}

// CheckScopes fails when a source's key cannot read what it should (see [status.Lacks]).
func CheckScopes(s *config.Source, streams []status.StreamOutcome) error {
	_, lacking := ByScope(streams)
	switch {
	case len(status.Lacks(false, streams)) > 0:
		return errors.New("the key may read nothing that is configured (" + strings.Join(lacking, ", ") + ")")
	case len(status.Lacks(len(s.Streams) > 0, streams)) > 0:
		return errors.New("configured streams that the key may not read: " + strings.Join(lacking, ", "))
	}
	return nil
}

// StreamsOf are the configured streams, as a key with these scopes reads them.
func StreamsOf(s *config.Source, scopes []string) (all []status.StreamOutcome) {
	for _, d := range registry.All() {
		if len(s.Streams) == 0 || slices.Contains(s.Streams, d.Name) {
			all = append(all, status.StreamOutcome{Stream: d.Name, NoScope: !d.Allowed(scopes)})
		}
	}
	return all
}
