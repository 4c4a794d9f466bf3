package syncer

import (
	"bytes"
	"errors"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// page is one answer of a list.
type page struct {
	rows [][]byte  // as received
	next string    // the cursor behind it
	more bool      // has_more
	at   time.Time // by the service's clock

	bytes   int
	release func() // nil: nothing is to be released
}

// done says that the rows are not needed any more.
func (p *page) done() {
	if p.release != nil {
		p.release()
	}
}

// intake is rows on their way to the sink: the commit, and what the stream must
// remember once the sink has taken it. Every writer of a stream goes through one,
// so that a row that is stored already is not written again.
type intake struct {
	stream  *stream
	walk    uint64
	all     bool      // remember every row, whatever its updated_at
	rewrite bool      // write every row, good or bad, so that its version says when it was last seen
	floor   time.Time // else those from here on
	commit  *sinks.Commit
	counts  Counts

	known      func(mapping.DriftItem) bool
	notes      []note
	bad        map[string]uint64 // what entered quarantine, by sinks.Quarantined.Key
	nameless   []nameless        // bad rows without an id
	afterwards func()
}

// note is what the stream will remember of a row.
type note struct {
	id string
	w  written
}

// placed is what is known of a row that is not in its JSON.
type placed struct {
	id       string // for rows without an id of their own
	location string // for tables with a location column of their own
}

// taken is what became of a row.
type taken struct {
	id        string
	key       string // of its quarantine entry, when it is bad
	updatedAt time.Time
	tombstone bool
	fresh     bool // written now, not known before
	bad       bool
}

func (st *stream) intake(walk uint64, rows int) *intake {
	c := st.source.commit(st.def.name)
	c.Batch = sinks.NewBatch(st.def.plan.Table(), rows)
	return &intake{stream: st, walk: walk, commit: c, bad: map[string]uint64{}, known: st.knownDrift}
}

// knownDrift tells what was reported before.
func (st *stream) knownDrift(d mapping.DriftItem) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.drift.Has(d)
}

// row maps one row into the commit: as a live row, a tombstone or a quarantine
// entry; or not at all, when it was last written just like this.
func (in *intake) row(m *mapping.Mapper, raw []byte, version uint64, at time.Time, p placed) taken {
	m.Known = in.known
	res, err := m.Append(in.commit.Batch, raw, in.stream.def.context(p)...)
	if err != nil {
		return in.refuse(err, raw, version, at, p)
	}
	id := res.ID
	if id == "" {
		id = p.id
	}
	t := taken{id: id, updatedAt: res.UpdatedAt, tombstone: res.Tombstone != nil}
	in.drifted(res.Drift, id, at)
	stamp := stampOf(res.UpdatedAt)
	if !in.news(id, raw, version, stamp, t.tombstone) {
		in.commit.Batch.Rollback()
		in.counts.Unchanged++
		return t
	}
	t.fresh = true
	if t.tombstone {
		in.tombstone(res.Tombstone, raw, version, at)
		return t
	}
	err = in.commit.Batch.EndRow(sinks.Row{ID: id, Version: version, FetchedAt: at, Raw: raw})
	if err != nil {
		return in.refuse(err, raw, version, at, placed{id: id})
	}
	in.counts.Upserts++
	return t
}

func stampOf(updated time.Time) int64 {
	if updated.IsZero() {
		return unstamped
	}
	return updated.UnixMicro()
}

// news tells whether a row has to be written, and takes down what to remember of
// it. A good row closes its open quarantine entries.
func (in *intake) news(id string, raw []byte, version uint64, stamp int64, tombstone bool) bool {
	st := in.stream
	st.mu.Lock()
	defer st.mu.Unlock()
	w := written{version: version, stamp: stamp, walk: in.walk}
	remember := in.all || stamp != unstamped && stamp >= in.floor.UnixMicro() || stamp == unstamped && tombstone
	if _, known := st.seen.rows[id]; remember || known {
		w.hash = st.seen.hash(raw)
		if st.seen.unchanged(id, w.hash, version, in.walk) && (!in.rewrite || st.seen.rows[id].version > version) {
			return false
		}
		in.notes = append(in.notes, note{id, w})
	}
	if st.bad.maybe(id) {
		in.release(id)
	}
	return true
}

func (in *intake) tombstone(t *mapping.Tombstone, raw []byte, version uint64, at time.Time) {
	in.commit.Tombstones = append(in.commit.Tombstones, sinks.Tombstone{
		ID: t.ID, Version: version, FetchedAt: at, Reason: t.Reason, DeletedAt: t.DeletedAt, Raw: raw,
	})
	in.counts.Tombstones++
}

// reasonGone marks a row that vanished from a list without a tombstone.
const reasonGone = "gone"

// bury adds a tombstone that Larder found out by itself.
func (in *intake) bury(id, reason string, version uint64, at time.Time) {
	in.forget(id, reason, version)
	in.commit.Tombstones = append(in.commit.Tombstones, sinks.Tombstone{ID: id, Version: version, FetchedAt: at, Reason: reason, DeletedAt: at})
	in.counts.Tombstones++
}

// smallPage is what a page may keep in memory without being counted.
const smallPage = 64 << 10

// detach copies the rows that are written of a page, when they are the smaller part
// of it: each would else keep the whole page in memory until it is durable, where the
// sink counts its own bytes only.
func (in *intake) detach(page int) {
	c, kept := in.commit, 0
	raws := make([]*[]byte, 0, len(c.Batch.Rows)+len(c.Tombstones)+len(c.Quarantine))
	for i := range c.Batch.Rows {
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

// forget makes a row that is remembered be written again when it comes back just as
// it was.
func (in *intake) forget(id, reason string, version uint64) {
	st := in.stream
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, known := st.seen.rows[id]; known {
		w := written{hash: st.seen.hash([]byte(reason)), version: version, stamp: unstamped, walk: in.walk}
		in.notes = append(in.notes, note{id, w})
	}
}

// refuse puts a row that could not be understood into quarantine (DESIGN R8).
func (in *intake) refuse(err error, raw []byte, version uint64, at time.Time, p placed) taken {
	id, field, reason := p.id, "", err.Error()
	if bad, ok := errors.AsType[*mapping.RowError](err); ok {
		field, reason = bad.Field, bad.Reason
		if bad.Value != "" {
			reason += ": " + bad.Value
		}
		if bad.ID != "" {
			id = bad.ID
		}
	}
	return in.quarantine(id, field, reason, raw, version, at)
}

// quarantine keeps a bad row whole. The same bad row again is not stored again.
func (in *intake) quarantine(id, field, reason string, raw []byte, version uint64, at time.Time) taken {
	t := taken{id: id, bad: true}
	st := in.stream
	st.mu.Lock()
	hash := st.seen.hash(raw)
	key := sinks.Quarantined{ID: id, Raw: raw}.Key()
	t.key = key
	if id == "" {
		in.nameless = append(in.nameless, nameless{key, updatedAt(raw)})
	}
	same := st.bad.same(key, hash) && !in.rewrite || st.seen.rows[id].version > version
	st.mu.Unlock()
	if same {
		in.counts.Unchanged++
		return t
	}
	t.fresh = true
	in.bad[key] = hash
	in.notes = append(in.notes, note{key, written{hash: hash, version: version, stamp: unstamped, walk: in.walk}})
	in.commit.Quarantine = append(in.commit.Quarantine, sinks.Quarantined{
		ID: id, Field: field, Reason: reason, Raw: raw, Version: version, FetchedAt: at,
	})
	in.counts.Quarantined++
	return t
}

// release closes an open entry.
func (in *intake) release(key string) {
	in.commit.Released = append(in.commit.Released, key)
}

// drifted reports unknown fields and values, once each (DESIGN R9).
func (in *intake) drifted(items []mapping.DriftItem, id string, at time.Time) {
	st := in.stream
	for _, d := range items {
		st.mu.Lock()
		known := st.drift.Has(d)
		if !known {
			st.drift.Add(d.Key())
		}
		st.mu.Unlock()
		if known {
			continue
		}
		in.commit.Drift = append(in.commit.Drift, sinks.Drift{Path: d.Path, Kind: d.Kind, Example: string(d.Example), RowID: id, SeenAt: at})
	}
}

// brings tells whether there is anything to write.
func (in *intake) brings() bool {
	c := in.commit
	return len(c.Batch.Rows) > 0 || len(c.Tombstones)+len(c.Quarantine)+len(c.Released)+len(c.Drift) > 0
}

// written remembers what the sink has taken, and counts it.
func (in *intake) written() {
	st := in.stream
	st.mu.Lock()
	for _, n := range in.notes {
		st.seen.record(n.id, n.w)
	}
	for _, key := range in.commit.Released {
		st.bad.close(key)
	}
	for key, hash := range in.bad {
		st.bad.put(key, hash)
	}
	st.rows += in.counts.Upserts + in.counts.Tombstones
	st.mu.Unlock()
	if in.afterwards != nil {
		in.afterwards()
	}
	in.counted()
}

// passedBy counts a page of which nothing is written.
func (in *intake) passedBy() {
	c := in.counts
	in.stream.count(func(all *Counts) { all.add(Counts{Requests: c.Requests, Pages: c.Pages, Unchanged: c.Unchanged}) })
}

// counted adds the rows to the stream's counts and to the metrics.
func (in *intake) counted() {
	st, m := in.stream, in.stream.source.syncer.metrics
	source, name := st.source.cfg.Name, st.def.name
	m.took(source, name, rowUpsert, in.counts.Upserts)
	m.took(source, name, rowTombstone, in.counts.Tombstones)
	m.took(source, name, rowUnchanged, in.counts.Unchanged)
	m.took(source, name, rowQuarantined, in.counts.Quarantined)
	st.count(func(c *Counts) { c.add(in.counts) })
}
