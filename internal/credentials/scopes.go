package credentials

import (
	"errors"
	"slices"
	"strings"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// Lacking names the streams that a source's key reads, and those for which it lacks the scope, with
// what they need. The error is what the key should read and cannot (see [status.Lacks]).
func Lacking(s *config.Source, streams []status.StreamOutcome) (on, lacks []string, err error) {
	needs := map[string]string{}
	for _, d := range registry.MustAll() {
		needs[d.Name] = strings.Join(d.Scopes, " or ")
	}
	for _, o := range streams {
		switch {
		case o.NoScope:
			lacks = append(lacks, o.Stream+" (needs "+needs[o.Stream]+")")
		case o.Off == "" || o.OrderingOff:
			on = append(on, o.Stream)
		}
	}
	switch {
	case len(status.Lacks(false, streams)) > 0:
		err = errors.New("the key may read nothing that is configured (" + strings.Join(lacks, ", ") + ")")
	case len(status.Lacks(len(s.Streams) > 0, streams)) > 0:
		err = errors.New("configured streams that the key may not read: " + strings.Join(lacks, ", "))
	}
	return on, lacks, err
}

// StreamsOf are the configured streams, as a key with these scopes reads them.
func StreamsOf(s *config.Source, scopes []string) (all []status.StreamOutcome) {
	for _, d := range registry.MustAll() {
		if len(s.Streams) == 0 || slices.Contains(s.Streams, d.Name) {
			all = append(all, status.StreamOutcome{Stream: d.Name, NoScope: !d.Allowed(scopes)})
		}
	}
	return all
}
