package app

import (
	"cmp"
	"errors"
	"slices"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/status"
)

// judgeScopes makes scopes that a key lacks a failure of its source, in a pass of everything. The
// error is about a stream that was selected by name and that no source could read.
func judgeScopes[S status.Outcomer](c *config.Config, sources []status.SourceOutcome[S], named []string) error {
	var all []status.StreamOutcome
	for i := range sources {
		s := &sources[i]
		var own []status.StreamOutcome
		for _, st := range s.Streams {
			own = append(own, st.Outcome())
		}
		all = append(all, own...)
		at := slices.IndexFunc(c.Sources, func(configured config.Source) bool { return configured.Name == s.Source })
		if len(named) > 0 || s.Err != nil || at < 0 {
			continue
		}
		if err := credentials.CheckScopes(&c.Sources[at], own); err != nil {
			s.Fail(status.StateForbidden, err)
		}
	}
	for _, name := range named {
		if err := offEverywhere(name, all); err != nil {
			return err
		}
	}
	return nil
}

// offEverywhere is the error of a stream that is off in every source that has it; nil when one reads it.
func offEverywhere(name string, all []status.StreamOutcome) error {
	off, code := "", lifecycle.ExitUsage
	for _, o := range all {
		if o.Stream != name {
			continue
		}
		if o.Off == "" || o.OrderingOff {
			return nil
		}
		off = cmp.Or(off, o.Off)
		if o.NoScope {
			code = lifecycle.ExitAPI
		}
	}
	if off == "" {
		return nil
	}
	return &lifecycle.ExitError{Err: errors.New("stream " + name + " is off: " + off), Code: code}
}
