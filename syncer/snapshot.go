package syncer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/write"
)

// snapshotMemory is what a stream without a cursor knows of its last list.
type snapshotMemory struct {
	stored  sinks.Checkpoint // Position is a listing
	doubted bool             // the next list is stored whatever stored says
}

// listing is what is stored of a list that is replaced as a whole: whether it has
// changed can be told after a restart too, and what vanished from it. The ids are
// the source's own: another key of the same restaurant may see other locations.
type listing struct {
	Digest string   `json:"digest"`
	IDs    []string `json:"ids"`
}

func readListing(position string) (listing, error) {
	var l listing
	if position == "" {
		return l, nil
	}
	if err := json.Unmarshal([]byte(position), &l); err != nil {
		return l, fmt.Errorf("stored listing: %w", err)
	}
	return l, nil
}

// replace asks for a list without a cursor and replaces what is stored by it
// (DESIGN R10).
func (st *stream) replace(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkSnapshot, func(ctx context.Context) error {
		list, err := st.def.whole(ctx, st.source.link.fresh)
		if err != nil {
			return err
		}
		return st.replaceWith(ctx, page{rows: list.Rows, at: st.source.at(list.Date)})
	})
}

// doubt has the next list stored although it is the one that was stored last: a full
// resync is asked for when it is not known what is left of that.
func (st *stream) doubt() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.snapshot.doubted = true
}

// replaceWith stores the changed rows of a whole list and buries those that
// vanished from it. An unchanged list writes nothing.
func (st *stream) replaceWith(ctx context.Context, p page) error {
	started := time.Now()
	p.rows = st.mine(p.rows)
	st.source.syncer.metrics.pages.WithLabelValues(st.source.cfg.Name, st.def.name, sinks.WalkSnapshot).Inc()
	st.mu.Lock()
	cp, doubted := st.snapshot.stored, st.snapshot.doubted
	st.mu.Unlock()
	before, err := readListing(cp.Position)
	if err != nil {
		st.source.log.Warn("the stored list is not readable, the list is stored anew", "stream", st.def.name, "err", err)
	}
	digest := digestOf(p.rows)
	if digest == before.Digest && !doubted {
		st.writer.Count(Counts{Requests: 1, Pages: 1, Unchanged: uint64(len(p.rows))})
		return nil
	}
	in := st.writer.Begin(st.writer.NextWalk(), len(p.rows))
	in.All, in.Rewrite = true, doubted
	in.Counts.Requests, in.Counts.Pages = 1, 1
	ids := st.readWhole(in, p)
	st.bury(in, before.IDs, ids, p.at)
	position, err := json.Marshal(listing{Digest: digest, IDs: ids})
	if err != nil {
		return fmt.Errorf("listing: %w", err)
	}
	in.Commit.Checkpoint = &sinks.Checkpoint{
		Source: st.source.cfg.Name, Stream: st.def.name, Walk: sinks.WalkSnapshot, Business: in.Commit.Business,
		Position: string(position), Done: true, Pages: 1, Rows: uint64(len(p.rows)), StartedAt: started, UpdatedAt: p.at,
	}
	run := in.Counts
	in.Commit.Run = &sinks.Run{
		Source: st.source.cfg.Name, Stream: st.def.name, Walk: sinks.WalkSnapshot, StartedAt: started, FinishedAt: time.Now(),
		Requests: 1, Pages: 1, Rows: run.Upserts, Unchanged: run.Unchanged, Tombs: run.Tombstones, Quarantined: run.Quarantined,
	}
	return st.storeWhole(ctx, in)
}

// readWhole maps every row; it returns the ids that the list has, those of rows
// that could not be understood included: they have not vanished.
func (st *stream) readWhole(in *write.Intake, p page) []string {
	m := st.def.plan.NewMapper()
	first := st.source.syncer.versions.Take(len(p.rows))
	ids := make([]string, 0, len(p.rows))
	bad := map[string]bool{}
	for i, raw := range p.rows {
		t := in.Row(m, raw, first+uint64(i), p.at, write.Place{})
		if t.ID != "" {
			ids = append(ids, t.ID)
		}
		if t.Bad {
			bad[t.Key] = true
		}
	}
	st.releaseOthers(in, bad)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// releaseOthers closes the open entries whose rows are not bad in this list: they
// are good now, or are not there any more.
func (st *stream) releaseOthers(in *write.Intake, bad map[string]bool) {
	for _, key := range st.writer.Quarantined() {
		if bad[key] || slices.Contains(in.Commit.Released, key) {
			continue
		}
		in.Release(key)
	}
}

// bury adds tombstones for the ids that the list had and has no more, unless
// another key of the same restaurant still lists them.
func (st *stream) bury(in *write.Intake, before, now []string, at time.Time) {
	for _, id := range before {
		if _, still := slices.BinarySearch(now, id); still || st.source.siblingLists(st.def.name, id) {
			continue
		}
		in.Bury(id, reasonGone, st.source.syncer.versions.Take(1), at)
	}
}

func (st *stream) storeWhole(ctx context.Context, in *write.Intake) error {
	if err := st.writer.Store(ctx, in); err != nil {
		return err
	}
	st.writer.Prune(forever, in.Walk())
	st.mu.Lock()
	st.snapshot.stored, st.snapshot.doubted = *in.Commit.Checkpoint, false
	if in.Rewrite {
		st.broughtSince = in.Commit.Checkpoint.StartedAt
	}
	st.mu.Unlock()
	return nil
}

// forever is later than any updated_at.
var forever = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// mine leaves out the locations that the configuration does not name.
func (st *stream) mine(rows [][]byte) [][]byte {
	if st.def.name != streamLocations || len(st.source.cfg.Locations) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(raw []byte) bool {
		var row struct {
			ID string `json:"id"`
		}
		return unmarshal(raw, &row) == nil && row.ID != "" && !slices.Contains(st.source.cfg.Locations, row.ID)
	})
}

// digestOf is the same for the same rows in any order.
func digestOf(rows [][]byte) string {
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, bytes.Compare)
	h := sha256.New()
	for _, r := range sorted {
		h.Write(r) // a hash.Hash never returns an error
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// siblingLists is true when another source of the same restaurant lists the id.
func (s *source) siblingLists(stream, id string) bool {
	for _, other := range s.siblings() {
		for _, st := range other.streams {
			if st.def.name == stream && st.lists(id) {
				return true
			}
		}
	}
	return false
}

func (st *stream) lists(id string) bool {
	st.mu.Lock()
	position := st.snapshot.stored.Position
	st.mu.Unlock()
	l, err := readListing(position)
	return err == nil && slices.Contains(l.IDs, id)
}
