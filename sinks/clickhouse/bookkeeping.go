package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// Larder's own tables, as schema/tables/0100_bookkeeping lays them out.
var (
	checkpointTable = &sinks.Table{Name: "checkpoints", Columns: []sinks.Column{
		{Name: "business_id"}, {Name: "source"}, {Name: "stream"}, {Name: "walk"},
		{Name: "watermark", Kind: sinks.Instant, Nullable: true}, {Name: "pending", Kind: sinks.Instant, Nullable: true},
		{Name: "since", Kind: sinks.Instant, Nullable: true}, {Name: "cursor"}, {Name: "position"},
		{Name: "done", Kind: sinks.Bool}, {Name: "pages", Kind: sinks.Int}, {Name: "rows", Kind: sinks.Int},
		{Name: "tombstones", Kind: sinks.Int}, {Name: "first_version", Kind: sinks.Int},
		{Name: "started_at", Kind: sinks.Instant, Nullable: true}, {Name: "updated_at", Kind: sinks.Instant},
	}}
	runTable = &sinks.Table{Name: "runs", Columns: []sinks.Column{
		{Name: "business_id"}, {Name: "source"}, {Name: "stream"}, {Name: "walk"},
		{Name: "started_at", Kind: sinks.Instant}, {Name: "finished_at", Kind: sinks.Instant},
		{Name: "requests", Kind: sinks.Int}, {Name: "pages", Kind: sinks.Int}, {Name: "rows", Kind: sinks.Int},
		{Name: "unchanged", Kind: sinks.Int}, {Name: "tombstones", Kind: sinks.Int},
		{Name: "quarantined", Kind: sinks.Int}, {Name: "error"},
	}}
	statusTable = &sinks.Table{Name: "statuses", Columns: []sinks.Column{
		{Name: "business_id"}, {Name: "source"}, {Name: "stream"}, {Name: "state"}, {Name: "detail"},
		{Name: "changed_at", Kind: sinks.Instant},
	}}
	quarantineTable = &sinks.Table{Name: "quarantine", Columns: []sinks.Column{
		{Name: "business_id"}, {Name: "source"}, {Name: "stream"}, {Name: "row_id"}, {Name: "content"},
		{Name: "field"}, {Name: "reason"}, {Name: "raw"}, {Name: "fetched_at", Kind: sinks.Instant},
		{Name: "_version", Kind: sinks.Int},
	}}
	driftTable = &sinks.Table{Name: "schema_drift", Columns: []sinks.Column{
		{Name: "business_id"}, {Name: "source"}, {Name: "stream"}, {Name: "kind"}, {Name: "path"},
		{Name: "example"}, {Name: "row_id"}, {Name: "seen_at", Kind: sinks.Instant},
	}}
	proofTable = &sinks.Table{Name: "proofs", Columns: []sinks.Column{
		{Name: "business_id"}, {Name: "source"}, {Name: "location_id"}, {Name: "day", Kind: sinks.Day}, {Name: "subject"},
		{Name: "verdict"}, {Name: "differences.figure", Depth: 1}, {Name: "differences.service", Depth: 1},
		{Name: "differences.mirror", Depth: 1}, {Name: "order_ids", Depth: 1}, {Name: "requests", Kind: sinks.Int},
		{Name: "reason"}, {Name: "healing_tried", Kind: sinks.Bool}, {Name: "found_version", Kind: sinks.Int},
		{Name: "asked_at", Kind: sinks.Instant},
	}}
)

// appendRow appends one row of plain values to a batch: string, bool, int64,
// uint64, []string or time.Time, whose zero is null where the column can be null.
func appendRow(b *sinks.Batch, values ...any) error {
	for i, value := range values {
		v := &b.Vectors[i]
		switch x := value.(type) {
		case string:
			v.AppendText([]byte(x))
		case []string:
			for _, text := range x {
				v.AppendText([]byte(text))
			}
			v.EndList(0)
		case bool:
			v.AppendInt(map[bool]int64{true: 1}[x])
		case int64:
			v.AppendInt(x)
		case uint64:
			v.AppendInt(int64(x))
		case time.Time:
			if x.IsZero() {
				v.AppendZero()
			} else {
				v.AppendInt(x.UnixMicro())
			}
		default:
			return fmt.Errorf("table %s, column %s: %T is no plain value", b.Table.Name, v.Column.Name, value)
		}
	}
	return b.EndRow(sinks.Row{})
}

// checkpointKey is what a checkpoint is stored under.
type checkpointKey struct{ source, stream, walk string }

func keyOf(c *sinks.Checkpoint) checkpointKey { return checkpointKey{c.Source, c.Stream, c.Walk} }

// storedCheckpoints are hashes of the checkpoints known to be stored, so that an equal one is not
// stored again.
type storedCheckpoints struct {
	seed maphash.Seed
	mu   sync.Mutex
	all  map[checkpointKey]uint64
}

func newStoredCheckpoints() *storedCheckpoints {
	return &storedCheckpoints{seed: maphash.MakeSeed(), all: map[checkpointKey]uint64{}}
}

func (s *storedCheckpoints) set(c sinks.Checkpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[keyOf(&c)] = s.hash(c)
}

func (s *storedCheckpoints) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.all)
}

func (s *storedCheckpoints) has(c sinks.Checkpoint) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.all[keyOf(&c)]
	return ok && stored == s.hash(c)
}

// hash covers every field but UpdatedAt.
func (s *storedCheckpoints) hash(c sinks.Checkpoint) uint64 {
	c.UpdatedAt = time.Time{}
	for _, t := range []*time.Time{&c.Watermark, &c.Pending, &c.Since, &c.StartedAt} {
		*t = t.UTC().Round(0) // equal instants are equal values then
	}
	return maphash.Comparable(s.seed, c)
}

func (s *storedCheckpoints) remember(commits []*queued) {
	for _, item := range commits {
		if item.commit.Checkpoint != nil {
			s.set(*item.commit.Checkpoint)
		}
	}
}

// latest keeps the last value of each key, in the order of those.
func latest[K comparable, V any](commits []*queued, pick func(*sinks.Commit) *V, key func(*V) K) []*queued {
	var kept []*queued
	seen := map[K]bool{}
	for _, item := range slices.Backward(commits) {
		v := pick(item.commit)
		if v == nil || seen[key(v)] {
			continue
		}
		seen[key(v)] = true
		kept = append(kept, item)
	}
	slices.Reverse(kept)
	return kept
}

func (f *flusher) planCheckpoints(ctx context.Context, commits []*queued) ([]step, error) {
	b := sinks.NewBatch(checkpointTable, len(commits))
	last := latest(commits, func(c *sinks.Commit) *sinks.Checkpoint { return c.Checkpoint }, keyOf)
	for _, item := range last {
		c := item.commit.Checkpoint
		if f.stored.has(*c) {
			continue
		}
		business := cmp.Or(c.Business, item.commit.Business)
		if err := appendRow(b, business, c.Source, c.Stream, c.Walk, c.Watermark, c.Pending, c.Since, c.Cursor, c.Position,
			c.Done, c.Pages, c.Rows, c.Tombstones, c.FirstVersion, c.StartedAt, c.UpdatedAt); err != nil {
			return nil, err
		}
	}
	return f.insertPlain(ctx, "checkpoints", b)
}

func (f *flusher) planRuns(ctx context.Context, commits []*queued) ([]step, error) {
	b := sinks.NewBatch(runTable, 0)
	for _, item := range commits {
		r := item.commit.Run
		if r == nil {
			continue
		}
		if err := appendRow(b, item.commit.Business, r.Source, r.Stream, r.Walk, r.StartedAt, r.FinishedAt,
			r.Requests, r.Pages, r.Rows, r.Unchanged, r.Tombs, r.Quarantined, r.Error); err != nil {
			return nil, err
		}
	}
	return f.insertPlain(ctx, "runs", b)
}

func (f *flusher) planStatuses(ctx context.Context, commits []*queued) ([]step, error) {
	b := sinks.NewBatch(statusTable, 0)
	type key struct{ source, stream string }
	last := latest(commits, func(c *sinks.Commit) *sinks.StreamStatus { return c.Status },
		func(st *sinks.StreamStatus) key { return key{st.Source, st.Stream} })
	for _, item := range last {
		st := item.commit.Status
		if err := appendRow(b, item.commit.Business, st.Source, st.Stream, st.State, st.Detail, st.ChangedAt); err != nil {
			return nil, err
		}
	}
	return f.insertPlain(ctx, "statuses", b)
}

func (f *flusher) planDrift(ctx context.Context, commits []*queued) ([]step, error) {
	b := sinks.NewBatch(driftTable, 0)
	for _, item := range commits {
		for _, d := range item.commit.Drift {
			if err := appendRow(b, item.commit.Business, item.commit.Source, item.commit.Stream,
				d.Kind, d.Path, d.Example, d.RowID, d.SeenAt); err != nil {
				return nil, err
			}
		}
	}
	return f.insertPlain(ctx, "drift", b)
}

// planVerdicts writes verdicts in the order of the commits: of one day and subject the
// last stands.
func (f *flusher) planVerdicts(ctx context.Context, commits []*queued) ([]step, error) {
	b := sinks.NewBatch(proofTable, 0)
	for _, item := range commits {
		for _, v := range item.commit.Verdicts {
			if err := appendVerdict(b, item.commit, v); err != nil {
				return nil, err
			}
		}
	}
	return f.insertPlain(ctx, "verdicts", b)
}

func appendVerdict(b *sinks.Batch, c *sinks.Commit, v sinks.Verdict) error {
	day, err := time.Parse(time.DateOnly, v.Day)
	if err != nil {
		return fmt.Errorf("verdict of source %s: day %q: %w", c.Source, v.Day, err)
	}
	var figures, service, mirror []string
	for _, d := range v.Differences {
		figures, service, mirror = append(figures, d.Figure), append(service, d.Service), append(mirror, d.Mirror)
	}
	return appendRow(b, c.Business, c.Source, v.Location, day.Unix()/secondsPerDay, v.Subject,
		v.Verdict, figures, service, mirror, v.OrderIDs, v.Requests, v.Reason, v.HealingTried, v.FoundVersion, v.AskedAt)
}

const secondsPerDay = 24 * 60 * 60

// entryKey is what a quarantine entry is stored under; content is the row's JSON
// when it has no id.
type entryKey struct{ source, stream, id, content string }

// releasedKey is what an entry is released under: [sinks.Quarantined.Key].
type releasedKey struct{ source, stream, key string }

func (k releasedKey) line() string {
	id, content := k.key, ""
	if hash, ok := sinks.ContentHash(k.key); ok {
		id, content = "", hash
	}
	return strings.Join([]string{tsv(k.source), tsv(k.stream), tsv(id), content}, "\t") + "\n"
}

// contentHash is the hash of an entry's content key in SQL; empty for one with an id.
const contentHash = "if(row_id = '', lower(hex(SHA256(content))), '')"

// planQuarantine writes the entries of all commits and then closes those whose
// last word is that they are released.
func (f *flusher) planQuarantine(ctx context.Context, commits []*queued) ([]step, error) {
	b := sinks.NewBatch(quarantineTable, 0)
	released := map[releasedKey]bool{}
	for _, item := range commits {
		c := item.commit
		for i := range c.Quarantine {
			q := &c.Quarantine[i]
			key := entryKey{source: c.Source, stream: c.Stream, id: q.ID}
			if q.ID == "" {
				key.content = string(q.Raw)
			}
			delete(released, releasedKey{c.Source, c.Stream, q.Key()})
			if err := appendRow(b, c.Business, c.Source, c.Stream, q.ID, key.content, q.Field, q.Reason, string(q.Raw),
				q.FetchedAt, q.Version); err != nil {
				return nil, err
			}
		}
		for _, key := range c.Released {
			released[releasedKey{c.Source, c.Stream, key}] = true
		}
	}
	steps, err := f.insertPlain(ctx, "quarantine", b)
	if err != nil || len(released) == 0 {
		return steps, err
	}
	return append(steps, f.releaseStep(released)), nil
}

// releaseStep closes open entries. The closed entry has the version of the open one,
// and of equal versions the last insert wins; a later entry opens it again.
func (f *flusher) releaseStep(released map[releasedKey]bool) step {
	lines := make([]string, 0, len(released))
	for key := range released {
		lines = append(lines, key.line())
	}
	slices.Sort(lines)
	table := f.sink.warehouse.Table("quarantine")
	sql := fmt.Sprintf(`INSERT INTO %[1]s (business_id, source, stream, row_id, content, field, reason, raw, fetched_at, released_at, _version)
SELECT business_id, source, stream, row_id, content, field, reason, raw, fetched_at, now64(6, 'UTC'), _version
FROM %[1]s FINAL
WHERE (source, stream, row_id, %[3]s) IN (SELECT source, stream, row_id, content FROM format(TSV, 'source String, stream String, row_id String, content String', %[2]s))
    AND released_at IS NULL`, table, schema.Literal(strings.Join(lines, "")), contentHash)
	return step{what: "quarantine", table: "quarantine", rows: len(released), run: func(ctx context.Context) (int64, error) {
		return int64(len(sql)), f.sink.warehouse.Exec(ctx, sql, statementSettings)
	}}
}
