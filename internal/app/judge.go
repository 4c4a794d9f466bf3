package app

import (
	"cmp"
	"errors"

	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/syncer"
)

// outcome is what the report of a pass says about a source, whatever kind of pass it was.
type outcome struct {
	source  string
	state   *string
	err     *error
	streams []syncer.StreamOutcome
}

func outcomesOf[S interface{ Outcome() syncer.StreamOutcome }](sources []syncer.SourceOutcome[S]) (all []outcome) {
	for i := range sources {
		s := &sources[i]
		o := outcome{source: s.Source, state: &s.State, err: &s.Err}
		for _, st := range s.Streams {
			o.streams = append(o.streams, st.Outcome())
		}
		all = append(all, o)
	}
	return all
}

// judgeScopes makes what the keys lack errors of their sources, in a pass of everything:
// a command that names a stream fails with the error of that one.
func (a *App) judgeScopes(all []outcome, sel syncer.Selection) error {
	var streams []syncer.StreamOutcome
	for _, o := range all {
		if *o.err == nil && len(sel.Streams) == 0 {
			a.judgeSource(o)
		}
		streams = append(streams, o.streams...)
	}
	return unserved(streams, sel.Streams)
}

func (a *App) judgeSource(o outcome) {
	var streams []syncer.AskedStream
	for _, st := range o.streams {
		streams = append(streams, syncer.AskedStream{Name: st.Stream, Off: st.Off != "" && !st.OrderingOff, NoScope: st.NoScope})
	}
	for i := range a.Config.Sources {
		if s := &a.Config.Sources[i]; s.Name == o.source {
			needed, unknown := credentials.NeededScopes()
			if *o.err = errors.Join(unknown, credentials.Lacking(s, streams, needed)); *o.err != nil {
				*o.state = syncer.StateForbidden
			}
		}
	}
}

// unserved is the error of a stream that was asked for by name and that no source
// could read.
func unserved(outcomes []syncer.StreamOutcome, named []string) error {
	for _, name := range named {
		served, off, scope := false, "", false
		for _, st := range outcomes {
			if st.Stream == name {
				served = served || st.Off == "" || st.OrderingOff
				off, scope = cmp.Or(off, st.Off), scope || st.NoScope
			}
		}
		if !served && off != "" {
			return &UnservedError{Stream: name, Reason: off, Scope: scope}
		}
	}
	return nil
}
