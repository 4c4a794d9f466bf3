package write

import (
	"bytes"
	"errors"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// The reasons of tombstones that Larder writes by itself.
const (
	ReasonGone     = "gone"      // the row vanished from a list without a tombstone
	ReasonNoAccess = "no_access" // it is of a location that the key has lost
)

// Intake is the rows of one page on their way to the sink: the commit, and what the
// writer will remember once the sink has taken it.
type Intake struct {
	All     bool      // remember every row, whatever its updated_at
	Rewrite bool      // write every row, good or bad, so that its version says when it was last seen
	Floor   time.Time // without All: remember the rows from here on
	Commit  *sinks.Commit
	Counts  Counts
	// AfterTaken is called when the sink has taken the commit; it may be nil.
	AfterTaken func()

	writer  *Writer
	walk    uint64
	rows    int                          // about how many come
	known   func(mapping.DriftItem) bool // reported
	drift   mapping.Seen                 // what the commit reports
	notes   []note
	bad     []badRow         // what entered quarantine
	opens   int              // of bad, those without an entry
	refused map[string]entry // what the sink has refused, by its key
}

// note is what the writer will remember of a row.
type note struct {
	id string
	w  written
}

// RowContext is what is known of a row that is not in its JSON.
type RowContext struct {
	ID      string   // for rows without an id of their own
	Columns []string // the values of the table's columns that are not fields of the row
}

// Row is what became of a row.
type Row struct {
	ID        string
	Key       string // of its quarantine entry, when it is bad
	UpdatedAt time.Time
	Tombstone bool
	Fresh     bool // written now, not known before
	Bad       bool
}

// Row maps one row into the commit: as a live row, a tombstone or a quarantine entry; or
// not at all, when it was last written just like this.
func (in *Intake) Row(m *mapping.Mapper, raw []byte, version uint64, at time.Time, p RowContext) Row {
	if row, ok := in.repeated(m, raw); ok {
		in.Counts.Unchanged++
		return row
	}
	if in.Commit.Batch == nil { // a page at rest needs none, and the vectors of a table's columns take 16 KB
		in.Commit.Batch = sinks.NewBatch(in.writer.opts.Table, in.rows)
	}
	m.Known = in.known
	res, err := m.Append(in.Commit.Batch, raw, p.Columns...)
	if err != nil {
		return in.refuse(err, raw, version, at, p.ID)
	}
	id := res.ID
	if id == "" {
		id = p.ID
	}
	row := Row{ID: id, UpdatedAt: res.UpdatedAt, Tombstone: res.Tombstone != nil}
	in.Drifted(res.Drift, id, at)
	if !in.news(id, raw, version, res.UpdatedAt, row.Tombstone) {
		in.Commit.Batch.Rollback()
		in.Counts.Unchanged++
		return row
	}
	row.Fresh = true
	if t := res.Tombstone; t != nil {
		in.Commit.Tombstones = append(in.Commit.Tombstones, sinks.Tombstone{
			ID: t.ID, Version: version, FetchedAt: at, Reason: t.Reason, DeletedAt: t.DeletedAt, UpdatedAt: t.UpdatedAt, Raw: raw,
		})
		in.Counts.Tombstones++
		return row
	}
	err = in.Commit.Batch.EndRow(sinks.Row{ID: id, Version: version, FetchedAt: at, Raw: raw})
	if err != nil {
		return in.refuse(err, raw, version, at, id)
	}
	in.Counts.Upserts++
	return row
}

// repeated returns what is known of a row that was last written with these bytes, without mapping it: the
// lookback brings the last rows of a list in every walk. A row that was bad has no stamp, and is mapped.
func (in *Intake) repeated(m *mapping.Mapper, raw []byte) (Row, bool) {
	wr := in.writer
	if !in.All || in.Rewrite {
		return Row{}, false
	}
	id := m.ID(raw)
	wr.mu.Lock()
	defer wr.mu.Unlock()
	w, known := wr.memory.rows[id]
	if !known || w.stamp == unstamped || w.hash != wr.memory.hash(raw) {
		return Row{}, false
	}
	w.walk = in.walk
	wr.memory.rows[id] = w
	return Row{ID: id, UpdatedAt: time.UnixMicro(w.stamp).UTC()}, true
}

// news reports whether a row has to be written, and takes down what to remember of it. A
// good row closes its open quarantine entry.
//
// What a walk brings whose versions are taken long before its answer may be newer than its
// version, and lose to an older state that is not remembered any more. The next incremental walk
// brings it again, and must write it (see [VersionClock]): so its bytes are not remembered.
func (in *Intake) news(id string, raw []byte, version uint64, updated time.Time, tombstone bool) bool {
	wr := in.writer
	wr.mu.Lock()
	defer wr.mu.Unlock()
	w := written{version: version, stamp: unstamped, walk: in.walk}
	remember := in.All || updated.IsZero() && tombstone
	if !updated.IsZero() {
		w.stamp = updated.UnixMicro()
		remember = remember || w.stamp >= in.Floor.UnixMicro()
	}
	if _, known := wr.memory.rows[id]; remember || known {
		hash := wr.memory.hash(raw)
		if wr.memory.unchanged(id, hash, version, in.walk) && (!in.Rewrite || wr.memory.newer(id, version)) {
			return false
		}
		if version > wr.memory.forgotten {
			w.hash = hash
		}
		in.notes = append(in.notes, note{id, w})
	} else {
		wr.memory.forget(version)
	}
	if wr.mayBeOpen(id) {
		in.Release(id)
	}
	return true
}

// Remove adds a tombstone of a row that Larder itself found to be gone, with the reason. The
// service has sent none. A row that is remembered is written again when it comes back as it was.
func (in *Intake) Remove(id, reason string, version uint64, at time.Time) {
	wr := in.writer
	wr.mu.Lock()
	if _, known := wr.memory.rows[id]; known {
		w := written{hash: wr.memory.hash([]byte(reason)), version: version, stamp: unstamped, walk: in.walk}
		in.notes = append(in.notes, note{id, w})
	}
	wr.mu.Unlock()
	in.Commit.Tombstones = append(in.Commit.Tombstones, sinks.Tombstone{ID: id, Version: version, FetchedAt: at, Reason: reason, DeletedAt: at})
	in.Counts.Tombstones++
}

// refuse puts a row that could not be understood into quarantine (docs/rules.md R8).
func (in *Intake) refuse(err error, raw []byte, version uint64, at time.Time, id string) Row {
	field, reason := "", err.Error()
	say := "it cannot be stored"
	if bad, ok := errors.AsType[*mapping.RowError](err); ok {
		field, reason, say = bad.Field, bad.Explained(), bad.Reason
		if bad.ID != "" {
			id = bad.ID
		}
	}
	return in.Quarantine(id, field, reason, say, raw, version, at)
}

// Quarantine keeps a bad row whole; say is the reason without any value of the row. The
// same bad row again is not stored again.
func (in *Intake) Quarantine(id, field, reason, say string, raw []byte, version uint64, at time.Time) Row {
	wr := in.writer
	row := Row{ID: id, Key: sinks.Quarantined{ID: id, Raw: raw}.Key(), Bad: true}
	now := time.Now()
	wr.mu.Lock()
	hash := wr.memory.hash(raw)
	before, open := wr.entries[row.Key]
	if open {
		before.seen = now
		wr.entries[row.Key] = before
	}
	same := open && before.hash == hash && !in.Rewrite || wr.memory.newer(id, version)
	wr.mu.Unlock()
	if same {
		in.Counts.Unchanged++
		return row
	}
	row.Fresh = true
	if !open {
		in.opens++
	}
	in.bad = append(in.bad, badRow{row.Key, id, field, say, entry{hash, UpdatedAt(raw), now}})
	in.notes = append(in.notes, note{row.Key, written{hash: hash, version: version, stamp: unstamped, walk: in.walk}})
	in.Commit.Quarantine = append(in.Commit.Quarantine, sinks.Quarantined{
		ID: id, Field: field, Reason: reason, Raw: raw, Version: version, FetchedAt: at,
	})
	in.Counts.Quarantined++
	return row
}

// Release closes an open quarantine entry.
func (in *Intake) Release(key string) {
	in.Commit.Released = append(in.Commit.Released, key)
}

// Opens is how many entries the commit opens. A full resync stores those again that are open.
func (in *Intake) Opens() int { return in.opens }

// reported reports whether drift is in this commit, or in one that the sink has taken. Of two walks
// at once both may report it, which the view shows once.
func (in *Intake) reported(d mapping.DriftItem) bool {
	wr := in.writer
	wr.mu.Lock()
	defer wr.mu.Unlock()
	return wr.drift.Has(d) || in.drift.Has(d)
}

// Drifted reports unknown fields and values, and digits that were cut, once each (docs/rules.md R9).
func (in *Intake) Drifted(items []mapping.DriftItem, id string, at time.Time) {
	for _, d := range items {
		if in.reported(d) {
			continue
		}
		in.drift.Add(d.Key())
		in.Commit.Drift = append(in.Commit.Drift, sinks.Drift{Path: d.Path, Kind: d.Kind, Example: string(d.Example), RowID: id, SeenAt: at})
	}
}

// smallPage is what a page may keep in memory without being counted, in bytes.
const smallPage = 64 << 10

// Detach copies the rows that are written of a page of so many bytes, when they are the
// smaller part of it. Each would else keep the whole page in memory until it is durable,
// where the sink counts its own bytes only.
func (in *Intake) Detach(page int) {
	c, kept := in.Commit, 0
	raws := make([]*[]byte, 0, in.live()+len(c.Tombstones)+len(c.Quarantine))
	for i := range in.live() {
		raws = append(raws, &c.Batch.Rows[i].Raw)
	}
	for i := range c.Tombstones {
		raws = append(raws, &c.Tombstones[i].Raw)
	}
	for i := range c.Quarantine {
		raws = append(raws, &c.Quarantine[i].Raw)
	}
	for _, raw := range raws {
		kept += len(*raw)
	}
	if page < smallPage || kept >= page/2 {
		return
	}
	for _, raw := range raws {
		*raw = bytes.Clone(*raw)
	}
}

// live is how many live rows there are to write.
func (in *Intake) live() int {
	if in.Commit.Batch == nil {
		return 0
	}
	return len(in.Commit.Batch.Rows)
}

// Empty is true when there is nothing to write.
func (in *Intake) Empty() bool {
	c := in.Commit
	return in.live()+len(c.Tombstones)+len(c.Quarantine)+len(c.Released)+len(c.Drift) == 0
}

// Remember remembers what the sink has taken, and counts it.
func (in *Intake) Remember() {
	wr := in.writer
	wr.mu.Lock()
	for _, n := range in.notes {
		wr.memory.record(n.id, n.w)
	}
	for _, key := range in.Commit.Released {
		if _, open := wr.entries[key]; open {
			wr.unlogged.closed++
			delete(wr.entries, key)
		}
	}
	for _, r := range in.bad {
		if _, open := wr.entries[r.key]; !open {
			wr.unlogged.open(r)
		}
		wr.remember(r.key, r.entry)
	}
	for key, e := range in.refused { // the flush was faster, and a key may be released above
		wr.remember(key, e)
	}
	wr.mu.Unlock()
	in.CountRows()
}

// refusedBySink notes the rows that the warehouse refuses: their entries are open.
func (in *Intake) refusedBySink(rows []sinks.Quarantined) {
	wr := in.writer
	wr.mu.Lock()
	defer wr.mu.Unlock()
	if in.refused == nil {
		in.refused = make(map[string]entry, len(rows))
	}
	for _, q := range rows {
		key := q.Key()
		in.refused[key] = entry{updated: UpdatedAt(q.Raw)}
		wr.remember(key, in.refused[key])
		wr.unlogged.open(badRow{id: q.ID, reason: "the warehouse refuses it; view quarantine has its reason"})
	}
}

// CountPage counts a page of which nothing is written.
func (in *Intake) CountPage() {
	c := in.Counts
	in.writer.Count(Counts{Requests: c.Requests, Pages: c.Pages, Unchanged: c.Unchanged})
}

// CountRows adds the rows to the stream's counts and to the metrics.
func (in *Intake) CountRows() {
	in.writer.opts.Counted(in.Counts)
	in.writer.Count(in.Counts)
}
