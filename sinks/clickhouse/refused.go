package clickhouse

import (
	"errors"
	"slices"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
)

// sift stores the rows and tombstones of commits that the warehouse takes, and moves the
// others to its quarantine. A commit that is sifted again after a failure is written again
// from its beginning, which changes nothing.
func (f *flusher) sift(commits []*queued) error {
	for _, item := range commits {
		refused, err := f.siftPart(item, item.commit)
		if err != nil {
			return err
		}
		c := *item.commit
		c.Batch, c.Tombstones = nil, nil // durable by now
		c.Quarantine = append(slices.Clip(c.Quarantine), refused...)
		c.Released = slices.DeleteFunc(slices.Clone(c.Released), func(key string) bool {
			return slices.ContainsFunc(refused, func(q sinks.Quarantined) bool { return q.Key() == key })
		})
		item.commit = &c
		if c.Refused != nil && len(refused) > 0 {
			c.Refused(refused)
		}
	}
	return nil
}

// siftPart writes some rows and tombstones of a commit, in ever smaller parts where they are
// refused, and returns those that are refused alone.
func (f *flusher) siftPart(item *queued, part *sinks.Commit) ([]sinks.Quarantined, error) {
	steps, err := f.planRows(f.abort, []*queued{{commit: part}})
	if err == nil {
		_, err = f.runSteps(steps, []*queued{item})
	}
	if !connection.RefusesValues(err) {
		return nil, err
	}
	halves := split(part)
	if halves == nil {
		return []sinks.Quarantined{refusedRow(part, err)}, nil
	}
	var refused []sinks.Quarantined
	for _, half := range halves {
		more, err := f.siftPart(item, half)
		if err != nil {
			return nil, err
		}
		refused = append(refused, more...)
	}
	return refused, nil
}

// split divides rows and tombstones in two; nil means that there is only one.
func split(c *sinks.Commit) []*sinks.Commit {
	rows, tombstones := 0, len(c.Tombstones)
	if c.Batch != nil {
		rows = len(c.Batch.Rows)
	}
	part := func(batch *sinks.Batch, tombstones []sinks.Tombstone) *sinks.Commit {
		return &sinks.Commit{Source: c.Source, Business: c.Business, Stream: c.Stream, Batch: batch, Tombstones: tombstones}
	}
	switch {
	case rows > 0 && tombstones > 0:
		return []*sinks.Commit{part(c.Batch, nil), part(nil, c.Tombstones)}
	case rows > 1:
		return []*sinks.Commit{part(c.Batch.Slice(0, rows/2), nil), part(c.Batch.Slice(rows/2, rows), nil)}
	case tombstones > 1:
		return []*sinks.Commit{part(nil, c.Tombstones[:tombstones/2]), part(nil, c.Tombstones[tombstones/2:])}
	}
	return nil
}

// refusedRow is the quarantine entry of the only row or tombstone of a part.
func refusedRow(part *sinks.Commit, err error) sinks.Quarantined {
	reason := "the warehouse refuses it"
	if refusal, ok := errors.AsType[*connection.StatementError](err); ok {
		reason += ": " + refusal.Text
	}
	if len(part.Tombstones) > 0 {
		t := part.Tombstones[0]
		return sinks.Quarantined{ID: t.ID, Reason: reason, Raw: t.Raw, Version: t.Version, FetchedAt: t.FetchedAt}
	}
	r := part.Batch.Rows[0]
	return sinks.Quarantined{ID: r.ID, Reason: reason, Raw: r.Raw, Version: r.Version, FetchedAt: r.FetchedAt}
}
