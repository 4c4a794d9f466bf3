package credentials

import (
	"slices"
	"strings"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/syncer"
)

// ScopeError means that a key may not read what the configuration wants of it.
type ScopeError struct{ lacks string }

func (e *ScopeError) Error() string { return e.lacks }

// ExitCode is that of the API's refusal.
func (e *ScopeError) ExitCode() int { return exit.API }

// Lacking is what a source's key lacks, as larder check tells it (see [syncer.Lacks]).
func Lacking(s *config.Source, streams []syncer.AskedStream, needed map[string][]string) error {
	_, lacks := OnAndLacking(streams, needed)
	switch {
	case syncer.Lacks(false, streams):
		return &ScopeError{"the key may read nothing that is configured (" + strings.Join(lacks, ", ") + ")"}
	case syncer.Lacks(len(s.Streams) > 0, streams):
		return &ScopeError{"configured streams that the key may not read: " + strings.Join(lacks, ", ")}
	}
	return nil
}

// OnAndLacking names the streams that are on, and those that the key may not read with what they
// need.
func OnAndLacking(streams []syncer.AskedStream, needed map[string][]string) (on, lacks []string) {
	for _, st := range streams {
		switch {
		case st.NoScope:
			lacks = append(lacks, st.Name+" (needs "+strings.Join(needed[st.Name], " or ")+")")
		case !st.Off:
			on = append(on, st.Name)
		}
	}
	return on, lacks
}

// StreamsOf are the configured streams, as a key with these scopes reads them.
func StreamsOf(s *config.Source, scopes []string, needed map[string][]string) []syncer.AskedStream {
	var all []syncer.AskedStream
	for _, name := range config.Streams {
		if len(s.Streams) > 0 && !slices.Contains(s.Streams, name) {
			continue
		}
		may := len(needed[name]) == 0 || slices.ContainsFunc(needed[name], func(scope string) bool { return slices.Contains(scopes, scope) })
		all = append(all, syncer.AskedStream{Name: name, NoScope: !may})
	}
	return all
}

// NeededScopes are the scopes of which a key needs any one, by stream.
func NeededScopes() (map[string][]string, error) {
	all, err := syncer.Scopes()
	if err != nil {
		return nil, err
	}
	needed := map[string][]string{}
	for _, st := range all {
		needed[st.Stream] = st.Scopes
	}
	return needed, nil
}
