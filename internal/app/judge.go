package app

import (
	"cmp"
	"errors"
	"slices"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// judgeScopes makes what the keys lack failures of their sources, in a pass of everything. The
// error is that of a stream that was asked for by name and that no source could read.
func judgeScopes[S status.Outcomer](c *config.Config, sources []status.SourceOutcome[S], named []string) error {
	if len(named) == 0 {
		needed, unknown := credentials.NeededScopes()
		for i := range sources {
			if s := &sources[i]; s.Err == nil {
				if err := errors.Join(unknown, lacking(c, s, needed)); err != nil {
					s.Fail(status.StateForbidden, err)
				}
			}
		}
	}
	for _, name := range named {
		served, off, scope := false, "", false
		for i := range sources {
			for j := range sources[i].Streams {
				if o := sources[i].Streams[j].Outcome(); o.Stream == name {
					served = served || o.Off == "" || o.OrderingOff
					off, scope = cmp.Or(off, o.Off), scope || o.NoScope
				}
			}
		}
		if !served && off != "" {
			return &UnservedError{Stream: name, Reason: off, Scope: scope}
		}
	}
	return nil
}

// lacking is what a source's key lacks.
func lacking[S status.Outcomer](c *config.Config, s *status.SourceOutcome[S], needed map[string][]string) error {
	var streams []syncer.AskedStream
	for _, st := range s.Streams {
		o := st.Outcome()
		streams = append(streams, syncer.AskedStream{Name: o.Stream, Off: o.Off != "" && !o.OrderingOff, NoScope: o.NoScope})
	}
	i := slices.IndexFunc(c.Sources, func(configured config.Source) bool { return configured.Name == s.Source })
	if i < 0 {
		return nil
	}
	return credentials.Lacking(&c.Sources[i], streams, needed)
}
