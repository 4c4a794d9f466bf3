package app

import (
	"cmp"
	"errors"

	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/syncer"
)

// streamOutcome is what a report tells of a stream that was not read, or was.
type streamOutcome struct {
	stream, off          string // why nothing was read of it; empty when it was
	noScope, orderingOff bool
}

func syncedStreams(s syncer.SourceReport) (all []streamOutcome) {
	for _, st := range s.Streams {
		all = append(all, streamOutcome{st.Stream, st.Off, st.NoScope, st.OrderingOff})
	}
	return all
}

func verifiedStreams(s syncer.SourceVerify) (all []streamOutcome) {
	for _, st := range s.Streams {
		all = append(all, streamOutcome{st.Stream, st.Off, st.NoScope, st.OrderingOff})
	}
	return all
}

// judgeScopes makes what the keys lack errors of their sources, in a pass of everything:
// who names a stream is told about that one, by the error.
func (a *App) judgeScopes(r *syncer.Report, sel syncer.Selection) error {
	var all []streamOutcome
	for i := range r.Sources {
		s := &r.Sources[i]
		streams := syncedStreams(*s)
		a.judgeSource(s.Source, streams, sel, &s.State, &s.Err)
		all = append(all, streams...)
	}
	return unserved(all, sel.Streams)
}

// judgeVerified is judgeScopes for a verification.
func (a *App) judgeVerified(r *syncer.VerifyReport, sel syncer.Selection) error {
	var all []streamOutcome
	for i := range r.Sources {
		s := &r.Sources[i]
		streams := verifiedStreams(*s)
		a.judgeSource(s.Source, streams, sel, &s.State, &s.Err)
		all = append(all, streams...)
	}
	return unserved(all, sel.Streams)
}

func (a *App) judgeSource(name string, outcomes []streamOutcome, sel syncer.Selection, state *string, err *error) {
	if *err != nil || len(sel.Streams) > 0 {
		return
	}
	var streams []syncer.AskedStream
	for _, st := range outcomes {
		streams = append(streams, syncer.AskedStream{Name: st.stream, Off: st.off != "" && !st.orderingOff, NoScope: st.noScope})
	}
	for i := range a.Config.Sources {
		if s := &a.Config.Sources[i]; s.Name == name {
			needed, unknown := credentials.NeededScopes()
			if *err = errors.Join(unknown, credentials.Lacking(s, streams, needed)); *err != nil {
				*state = syncer.StateForbidden
			}
		}
	}
}

// unserved is the error of a stream that was asked for by name and that no source
// could read.
func unserved(outcomes []streamOutcome, named []string) error {
	for _, name := range named {
		served, off, scope := false, "", false
		for _, st := range outcomes {
			if st.stream == name {
				served = served || st.off == "" || st.orderingOff
				off, scope = cmp.Or(off, st.off), scope || st.noScope
			}
		}
		if !served && off != "" {
			return &UnservedError{Stream: name, Reason: off, Scope: scope}
		}
	}
	return nil
}
