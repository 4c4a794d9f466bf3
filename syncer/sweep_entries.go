package syncer

import (
	"context"
	"fmt"
)

// entries are the open quarantine entries of a stream at the end of a full resync,
// which stores every bad row again: by their versions, those whose rows came and
// those whose rows did not.
type entries struct {
	seen   map[string]bool // came, by row id
	unseen []string        // did not come
	// Rows without an id close together only.
	seenAnonymous, unseenAnonymous bool
}

func (sw *sweep) readEntries(ctx context.Context) error {
	st := sw.stream
	open, err := st.source.syncer.opts.Sink.Quarantine(ctx, st.source.cfg.Name, st.def.name)
	if err != nil {
		return fmt.Errorf("read the quarantine of %s: %w", st.def.name, err)
	}
	e := entries{seen: map[string]bool{}}
	for _, q := range open {
		came := q.Version >= sw.query.Below
		switch {
		case q.ID == anonymous && came:
			e.seenAnonymous = true
		case q.ID == anonymous:
			e.unseenAnonymous = true
		case came:
			e.seen[q.ID] = true
		default:
			e.unseen = append(e.unseen, q.ID)
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
	in := st.intake(st.nextWalk(), 1)
	if sw.entries.unseenAnonymous && !sw.entries.seenAnonymous {
		in.release(anonymous)
	}
	for i, id := range sw.entries.unseen {
		gone, err := sw.entryGone(ctx, in, id, i)
		if err != nil {
			return err
		}
		if gone {
			in.release(id)
		}
	}
	sw.run.Requests += in.counts.Requests
	if !in.brings() {
		in.counted()
		return nil
	}
	return st.storeTotals(ctx, in)
}

// entryGone tells whether the i-th row that did not come is to be forgotten. Where
// the configuration names locations it may have moved to another one.
func (sw *sweep) entryGone(ctx context.Context, in *intake, id string, i int) (bool, error) {
	st := sw.stream
	switch {
	case st.def.one == nil:
		return true, nil
	case len(st.source.cfg.Locations) > 0 || i >= askFirst:
		return false, nil
	}
	reason, _, err := st.confirm(ctx, st.source.link.backfill, in, id)
	return reason != "", err
}
