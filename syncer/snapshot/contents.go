// Package snapshot follows a list without a cursor: it asks for the whole list and replaces
// what is stored of it (DESIGN R10).
//
// What may live here: how such a list is asked for (stream.go), what of it has changed and
// what has vanished from it (contents.go). What may not: how rows become commits (package
// write), and when a turn comes (packages schedule and syncer).
//
// A list is compared with the one that was stored last, by a digest in its checkpoint, so
// that an unchanged list writes nothing, after a restart either. What the stored list had
// and the new one has not is removed as "gone", unless another source of the restaurant
// still lists it. A row that could not be understood has not vanished.
package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/write"
)

// Options make a [Contents]. All are required.
type Options struct {
	Source, Stream string
	Plan           *mapping.Plan
	Writer         *write.Writer
	Versions       *write.VersionClock
	// Elsewhere is true when another source of the restaurant lists the id.
	Elsewhere func(id string) bool
	Logger    *slog.Logger
}

// Contents is one list of one source. One [Contents.Replace] runs at a time.
type Contents struct {
	opts Options

	mu      sync.Mutex
	stored  sinks.Checkpoint // Position is a listing
	doubted bool             // the next list is stored whatever stored says
	brought time.Time        // when a list began to be asked for of which every row was written
}

// New makes a list of which nothing is stored.
func New(opts Options) *Contents { return &Contents{opts: opts} }

// listing is what is stored of a list: whether it has changed is known after a restart
// too, and what vanished from it. The ids are the source's own: another key of the same
// restaurant may see other locations.
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

// IDs are the ids that a snapshot's checkpoint lists.
func IDs(cp sinks.Checkpoint) ([]string, error) {
	l, err := readListing(cp.Position)
	return l.IDs, err
}

// Restore takes over the stored checkpoint.
func (l *Contents) Restore(cp sinks.Checkpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored = cp
}

// Inherit takes over what another list of the same source and stream knows.
func (l *Contents) Inherit(other *Contents) {
	other.mu.Lock()
	stored, doubted := other.stored, other.doubted
	other.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored, l.doubted = stored, doubted
}

// RewriteNext has the next list stored although it is the one that was stored last. A full
// resync asks for that when it is not known what is left of it.
func (l *Contents) RewriteNext() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doubted = true
}

// Has is true when the stored list has the id.
func (l *Contents) Has(id string) bool {
	ids, err := IDs(l.checkpoint())
	return err == nil && slices.Contains(ids, id)
}

// BroughtSince is when the last list was asked for of which every row was written anew;
// zero for none since the start.
func (l *Contents) BroughtSince() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.brought
}

func (l *Contents) checkpoint() sinks.Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stored
}

// Replace stores the changed rows of a whole list, as it was at an instant of the
// service's clock, and removes those that vanished from it.
func (l *Contents) Replace(ctx context.Context, rows [][]byte, at time.Time) error {
	started := time.Now()
	l.mu.Lock()
	stored, doubted := l.stored, l.doubted
	l.mu.Unlock()
	before, err := readListing(stored.Position)
	if err != nil {
		l.opts.Logger.Warn("the stored list is not readable, the list is stored anew", "stream", l.opts.Stream, "err", err)
	}
	digest := digestOf(rows)
	if digest == before.Digest && !doubted {
		l.opts.Writer.Count(write.Counts{Requests: 1, Pages: 1, Unchanged: uint64(len(rows))})
		return nil
	}
	in := l.opts.Writer.Begin(l.opts.Writer.NextWalk(), len(rows))
	in.All, in.Rewrite = true, doubted
	in.Counts.Requests, in.Counts.Pages = 1, 1
	ids := l.read(in, rows, at)
	l.removeMissing(in, before.IDs, ids, at)
	position, err := json.Marshal(listing{Digest: digest, IDs: ids})
	if err != nil {
		return fmt.Errorf("listing: %w", err)
	}
	l.note(in, string(position), len(rows), started, at)
	return l.store(ctx, in)
}

// read maps every row. It returns the ids that the list has, those of rows that could not
// be understood included.
func (l *Contents) read(in *write.Intake, rows [][]byte, at time.Time) []string {
	m := l.opts.Plan.NewMapper()
	first := l.opts.Versions.Take(len(rows))
	ids := make([]string, 0, len(rows))
	bad := map[string]bool{}
	for i, raw := range rows {
		row := in.Row(m, raw, first+uint64(i), at, write.RowContext{})
		if row.ID != "" {
			ids = append(ids, row.ID)
		}
		if row.Bad {
			bad[row.Key] = true
		}
	}
	l.releaseOthers(in, bad)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// releaseOthers closes the open entries whose rows are not bad in this list: they are good
// now, or are not there any more.
func (l *Contents) releaseOthers(in *write.Intake, bad map[string]bool) {
	for _, key := range l.opts.Writer.Quarantined() {
		if bad[key] || slices.Contains(in.Commit.Released, key) {
			continue
		}
		in.Release(key)
	}
}

// removeMissing adds tombstones for the ids that the list had and has no more.
func (l *Contents) removeMissing(in *write.Intake, before, now []string, at time.Time) {
	for _, id := range before {
		if _, still := slices.BinarySearch(now, id); still || l.opts.Elsewhere(id) {
			continue
		}
		in.Remove(id, write.ReasonGone, l.opts.Versions.Take(1), at)
	}
}

// note adds the checkpoint and the run.
func (l *Contents) note(in *write.Intake, position string, rows int, started, at time.Time) {
	in.Commit.Checkpoint = &sinks.Checkpoint{
		Source: l.opts.Source, Stream: l.opts.Stream, Walk: sinks.WalkSnapshot, Business: in.Commit.Business,
		Position: position, Done: true, Pages: 1, Rows: uint64(rows), StartedAt: started, UpdatedAt: at,
	}
	c := in.Counts
	in.Commit.Run = &sinks.Run{
		Source: l.opts.Source, Stream: l.opts.Stream, Walk: sinks.WalkSnapshot, StartedAt: started, FinishedAt: time.Now(),
		Requests: 1, Pages: 1, Rows: c.Upserts, Unchanged: c.Unchanged, Tombs: c.Tombstones, Quarantined: c.Quarantined,
	}
}

func (l *Contents) store(ctx context.Context, in *write.Intake) error {
	if err := l.opts.Writer.Store(ctx, in); err != nil {
		return err
	}
	l.opts.Writer.Prune(forever, in.Walk())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored, l.doubted = *in.Commit.Checkpoint, false
	if in.Rewrite {
		l.brought = in.Commit.Checkpoint.StartedAt
	}
	return nil
}

// forever is later than any updated_at.
var forever = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

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
