package memsink

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/sinktest"
)

// Row is the stored state of a row.
type Row struct {
	Source    string
	ID        string
	Version   uint64
	FetchedAt time.Time
	Raw       string
	Deleted   bool
	Reason    string
	DeletedAt time.Time
	UpdatedAt time.Time // of the tombstone
	Tombstone string    // its JSON
	Day       int64     // business_day in days since 1970; 0 when the table has none
	Location  string    // location_id; empty when it or its column is not there
}

// stored is a row with where its typed columns are; a tombstone that stands alone
// has none.
type stored struct {
	Row
	batch *sinks.Batch
	at    int
	// edited are columns that were changed afterwards.
	edited  map[string]json.RawMessage
	sale    *sale    // what a sales order counts for, once it was asked for
	refunds *[]share // of a removed order, once they were asked for
}

// columns are the typed columns of a row that is no lone tombstone.
func (r *stored) columns() map[string]json.RawMessage {
	columns := sinktest.Columns(r.batch, r.at)
	maps.Copy(columns, r.edited)
	return columns
}

// Entry is a quarantined row.
type Entry struct {
	sinks.Quarantined
	Source, Stream string
	Open           bool
}

// reported is an unknown field or value that a row had.
type reported struct{ source, stream, row, key string }

// orders is the table that the figures of days are computed from.
const orders = "sales_orders"

// Store is what survives a crash.
type Store struct {
	mu     sync.Mutex
	tables map[string]map[string]*stored // by table, then business NUL id
	sums   sums
	// ordersChanged counts what may change the sums.
	ordersChanged uint64
	checkpoints   map[string]sinks.Checkpoint
	statuses      map[string]sinks.StreamStatus
	business      map[string]string
	entries       []Entry
	drift         []reported
	forgotten     map[string][]string // order ids, by business
	runs          []sinks.Run
	verdicts      map[verdictKey]sinks.Verdict
	commits       int
	processes     map[string]process
	claims        map[claimKey]time.Time // since when
	watch         func(c *sinks.Commit, durable bool)
	refuse        string // the id of rows that are refused for their values
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		tables:      map[string]map[string]*stored{},
		processes:   map[string]process{},
		claims:      map[claimKey]time.Time{},
		checkpoints: map[string]sinks.Checkpoint{},
		statuses:    map[string]sinks.StreamStatus{},
		business:    map[string]string{},
		forgotten:   map[string][]string{},
		verdicts:    map[verdictKey]sinks.Verdict{},
	}
}

// Watch has f called after each commit that is stored: durable, or with its rows
// only, as a flush leaves it that is cut in its middle. Call it before the store is
// used.
func (s *Store) Watch(f func(c *sinks.Commit, durable bool)) { s.watch = f }

// Refuse has every row and tombstone with an id refused for its values; "" refuses none.
func (s *Store) Refuse(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = id
}

// sift moves what is refused to the quarantine of its commit.
func (s *Store) sift(c *sinks.Commit) *sinks.Commit {
	var refused []sinks.Quarantined
	enter := func(version uint64, at time.Time, raw []byte) {
		refused = append(refused, sinks.Quarantined{ID: s.refuse, Reason: "the warehouse refuses it", Raw: raw, Version: version, FetchedAt: at})
	}
	if s.refuse == "" {
		return c
	}
	for _, t := range c.Tombstones {
		if t.ID == s.refuse {
			enter(t.Version, t.FetchedAt, t.Raw)
		}
	}
	if c.Batch != nil {
		for _, r := range c.Batch.Rows {
			if r.ID == s.refuse {
				enter(r.Version, r.FetchedAt, r.Raw)
			}
		}
	}
	if len(refused) == 0 {
		return c
	}
	kept := *c
	kept.Quarantine = append(slices.Clip(c.Quarantine), refused...)
	if c.Refused != nil {
		c.Refused(refused)
	}
	return &kept
}

func (s *Store) apply(c *sinks.Commit, withState bool) {
	s.store(c, withState)
	if s.watch != nil {
		s.watch(c, withState)
	}
}

func (s *Store) store(c *sinks.Commit, withState bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c = s.sift(c)
	s.applyRows(c)
	s.applyTombstones(c)
	s.applyQuarantine(c)
	for _, d := range c.Drift {
		s.drift = append(s.drift, reported{c.Source, c.Stream, d.RowID, d.Key()})
	}
	if withState {
		s.applyState(c)
	}
}

func (s *Store) applyRows(c *sinks.Commit) {
	if c.Batch == nil {
		return
	}
	day := c.Batch.Table.Column("business_day")
	for i, r := range c.Batch.Rows {
		row := &stored{batch: c.Batch, at: i, Row: Row{Source: c.Source, ID: r.ID, Version: r.Version, FetchedAt: r.FetchedAt, Raw: string(r.Raw),
			Location: locationOf(c.Batch, i)}}
		if day >= 0 {
			row.Day = c.Batch.Vectors[day].Ints[i]
		}
		s.put(c.Batch.Table.Name, c.Business, row)
	}
}

// locationOf is the location_id of a row; empty for null, or where the table has
// no such column.
func locationOf(b *sinks.Batch, row int) string {
	column := b.Table.Column("location_id")
	if column < 0 {
		return ""
	}
	v, begin := &b.Vectors[column], uint64(0)
	if row > 0 {
		begin = v.Ends[row-1]
	}
	return string(v.Bytes[begin:v.Ends[row]])
}

func (s *Store) applyTombstones(c *sinks.Commit) {
	for _, t := range c.Tombstones {
		row := &stored{Row: Row{Source: c.Source, ID: t.ID, Version: t.Version, FetchedAt: t.FetchedAt, Deleted: true, Reason: t.Reason, DeletedAt: t.DeletedAt,
			UpdatedAt: t.UpdatedAt, Tombstone: string(t.Raw)}}
		if old := s.tables[c.Stream][c.Business+"\x00"+t.ID]; old != nil {
			row.Raw, row.Day, row.Location, row.batch, row.at = old.Raw, old.Day, old.Location, old.batch, old.at
		}
		s.put(c.Stream, c.Business, row)
	}
}

func (s *Store) put(table, business string, row *stored) {
	rows := s.tables[table]
	if rows == nil {
		rows = map[string]*stored{}
		s.tables[table] = rows
	}
	if table == orders {
		s.ordersChanged++
	}
	key := business + "\x00" + row.ID
	if row.ID == s.refuse && row.ID != "" {
		return
	}
	if old := rows[key]; old == nil || old.Version <= row.Version {
		rows[key] = row
	}
}

func (s *Store) applyQuarantine(c *sinks.Commit) {
	released := map[string]bool{}
	for _, key := range c.Released {
		released[key] = true
	}
	for i := range s.entries {
		e := &s.entries[i]
		if released[e.Key()] && e.Source == c.Source && e.Stream == c.Stream {
			e.Open = false
		}
	}
	for _, q := range c.Quarantine {
		s.enter(Entry{Quarantined: q, Source: c.Source, Stream: c.Stream, Open: true})
	}
}

// enter stores an entry over the one that a warehouse would have stored it over:
// that of the same row, or for rows without an id that of the same bytes.
func (s *Store) enter(e Entry) {
	for i := range s.entries {
		old := &s.entries[i]
		if old.Source == e.Source && old.Stream == e.Stream && old.ID == e.ID && (e.ID != "" || bytes.Equal(old.Raw, e.Raw)) {
			*old = e
			return
		}
	}
	s.entries = append(s.entries, e)
}

func (s *Store) applyState(c *sinks.Commit) {
	s.commits++
	if c.Business != "" {
		s.business[c.Source] = c.Business
	}
	for _, v := range c.Verdicts {
		s.verdicts[verdictKey{c.Business, c.Source, v.Location, v.Day, v.Subject}] = v
	}
	if cp := c.Checkpoint; cp != nil {
		s.checkpoints[cp.Source+"\x00"+cp.Stream+"\x00"+cp.Walk] = *cp
	}
	if c.Run != nil {
		s.runs = append(s.runs, *c.Run)
	}
	if c.Status != nil {
		s.statuses[c.Status.Source+"\x00"+c.Status.Stream] = *c.Status
	}
}

func (s *Store) state(source string) sinks.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := sinks.State{Business: s.business[source], Quarantined: map[string][]string{}}
	for _, cp := range s.checkpoints {
		if cp.Source == source {
			st.Checkpoints = append(st.Checkpoints, cp)
		}
	}
	for _, e := range s.entries {
		if e.Source == source && e.Open && len(st.Quarantined[e.Stream]) <= sinks.MaxOpen {
			st.Quarantined[e.Stream] = append(st.Quarantined[e.Stream], e.Key())
		}
	}
	for _, d := range s.drift {
		if d.source == source {
			st.Drift = append(st.Drift, d.stream+"\x00"+d.key)
		}
	}
	for _, status := range s.statuses {
		if status.Source == source {
			st.Statuses = append(st.Statuses, status)
		}
	}
	return st
}

// Rows returns a table's rows of one business by id, tombstones included.
func (s *Store) Rows(table, business string) map[string]Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Row{}
	for key, r := range s.tables[table] {
		if b, id, _ := strings.Cut(key, "\x00"); b == business {
			out[id] = r.Row
		}
	}
	return out
}

// Row returns one row, zero when it is not there.
func (s *Store) Row(table, business, id string) Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.tables[table][business+"\x00"+id]; r != nil {
		return r.Row
	}
	return Row{}
}

// Entries returns every quarantine entry, closed ones included.
func (s *Store) Entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries)
}

// Open returns how many entries are open, the same row's counted once.
func (s *Store) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[string]bool{}
	for _, e := range s.entries {
		if e.Open {
			open[e.Source+"\x00"+e.Stream+"\x00"+e.Key()] = true
		}
	}
	return len(open)
}

// Drift returns the reported drift as source, stream and [sinks.Drift.Key], NUL between.
func (s *Store) Drift() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.drift {
		all = append(all, d.source+"\x00"+d.stream+"\x00"+d.key)
	}
	return all
}

// Runs returns the stored runs in order.
func (s *Store) Runs() []sinks.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.runs)
}

// Commits returns how many commits have become durable.
func (s *Store) Commits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commits
}

// Checkpoint returns a stored checkpoint.
func (s *Store) Checkpoint(source, stream, walk string) (sinks.Checkpoint, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cp, ok := s.checkpoints[source+"\x00"+stream+"\x00"+walk]
	return cp, ok
}

// Status returns the stored status of a stream.
func (s *Store) Status(source, stream string) sinks.StreamStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statuses[source+"\x00"+stream]
}
