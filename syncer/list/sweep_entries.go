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
	defer st.Forgotten.Storing()()
	in := st.Writer.Begin(st.Writer.NextWalk(), 1)
	asked := 0
	for _, key := range sw.entries.unseen {
		gone := true // of a row without an id, which the list has no more as it was
		if _, nameless := sinks.ContentHash(key); !nameless {
			var err error
			if gone, err = sw.entryGone(ctx, in, key, asked); err != nil {
				return err
			}
			asked++
		}
		if gone {
			in.Release(key)
		}
	}
	sw.spend(in)
	if in.Empty() {
		in.CountRows()
		return nil
	}
	return st.Writer.Store(ctx, in)
}

// entryGone is true when the entry of the i-th row that did not come is to be
// closed: the service has the row no more, or has it at a location that the
// configuration leaves out. A row that is there after all is stored.
func (sw *sweep) entryGone(ctx context.Context, in *write.Intake, id string, i int) (bool, error) {
	st := sw.stream
	switch {
	case st.Def.One == nil:
		return true, nil
	case i >= AskFirst:
		return false, nil
	}
	reason, _, err := st.Full.Confirm(ctx, st.Source.Lanes.Backfill, in, id)
	return reason != "", err
}
