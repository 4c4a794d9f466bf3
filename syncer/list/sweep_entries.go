package list

import (
	"context"
	"fmt"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/write"
)

// entries are the open quarantine entries of a stream at the end of a full resync,
// which stores every bad row again: by their versions, those whose rows came and
// those whose rows did not.
type entries struct {
	seen   map[string]bool // came, by key
	unseen []string        // did not come
}

func (sw *sweep) readEntries(ctx context.Context) error {
	st := sw.stream
	open, err := st.Source.Sink.Quarantine(ctx, st.Source.Name, st.Def.Name)
	if err != nil {
		return fmt.Errorf("read the quarantine of %s: %w", st.Def.Name, err)
	}
	e := entries{seen: map[string]bool{}}
	for _, q := range open {
		if q.Version >= sw.Query.Below {
			e.seen[q.Key()] = true
		} else {
			e.unseen = append(e.unseen, q.Key())
		}
	}
	sw.entries = e
	return nil
}

// closeEntries closes the quarantine entries of rows that the service has no more:
// no walk would bring them again. Where the API has a route for them, a few are
// asked for first, each full resync.
func (sw *sweep) closeEntries(ctx context.Context) error {
	st := sw.stream
	var answers []*answer
	var gone []string
	asked := 0
	for _, key := range sw.entries.unseen {
		_, nameless := sinks.ContentHash(key)
		if nameless || st.Def.One == nil { // the list has the row no more as it was
			gone = append(gone, key)
			continue
		}
		if asked++; asked > AskFirst {
			continue
		}
		a, err := st.askFor(ctx, st.Source.Lanes.Backfill, key)
		if err != nil {
			return err
		}
		answers = append(answers, a)
	}
	return st.store(ctx, func(in *write.Intake) {
		in.Rewrite = true
		for _, a := range answers {
			if st.take(in, a); a.reason != "" {
				gone = append(gone, a.id)
			}
		}
		for _, key := range gone {
			in.Release(key)
		}
		sw.run.Requests += in.Counts.Requests
	})
}
