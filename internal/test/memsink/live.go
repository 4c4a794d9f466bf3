package memsink

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// ErrDown is the error of reads while the warehouse is down.
var ErrDown = fmt.Errorf("memory: %w", sinks.ErrUnreachable)

// available returns nil when the warehouse answers, else [ErrDown] or [ErrClosed].
func (s *Sink) available() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.down:
		return ErrDown
	}
	return nil
}

// Live returns the live rows that q selects.
func (s *Sink) Live(_ context.Context, q sinks.LiveQuery) ([]sinks.LiveRow, error) {
	if err := s.available(); err != nil {
		return nil, err
	}
	live := s.store.live(q)
	live = slices.DeleteFunc(live, func(r sinks.LiveRow) bool { return q.After != "" && r.ID <= q.After })
	if q.Limit > 0 {
		live = live[:min(q.Limit, len(live))]
	}
	return live, nil
}

// CountLive counts the live rows that q selects.
func (s *Sink) CountLive(_ context.Context, q sinks.LiveQuery) (uint64, error) {
	if err := s.available(); err != nil {
		return 0, err
	}
	return uint64(len(s.store.live(q))), nil
}

func (s *Store) live(q sinks.LiveQuery) []sinks.LiveRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	var live []sinks.LiveRow
	for key, r := range s.tables[q.Table] {
		if business, _, _ := strings.Cut(key, "\x00"); business == q.Business && !r.Deleted && r.selected(q) {
			live = append(live, sinks.LiveRow{ID: r.ID, Location: r.Location, Version: r.Version})
		}
	}
	slices.SortFunc(live, func(a, b sinks.LiveRow) int { return cmp.Compare(a.ID, b.ID) })
	return live
}

func (r *stored) selected(q sinks.LiveQuery) bool {
	if q.Before != "" && r.ID >= q.Before || q.Below > 0 && r.Version >= q.Below || q.Day != "" && dateOf(r.Day) != q.Day {
		return false
	}
	if len(q.NotStatus) > 0 && slices.ContainsFunc(q.NotStatus, func(s string) bool { return string(r.columns()["status"]) == strconv.Quote(s) }) {
		return false
	}
	if !q.CreatedFrom.IsZero() && scalar[time.Time](r.columns(), "created_at").Before(q.CreatedFrom) {
		return false
	}
	if r.batch.Table.Column("location_id") < 0 {
		q.Locations, q.Except = nil, nil
	}
	return r.of(q)
}

// of reports whether a row is one of those that Source, Locations and Except select.
func (r *stored) of(q sinks.LiveQuery) bool {
	if slices.Contains(q.Except, r.Location) {
		return false
	}
	return q.Source == "" && q.Locations == nil || r.Source == q.Source || slices.Contains(q.Locations, r.Location)
}

// Quarantine returns the open entries of a stream.
func (s *Sink) Quarantine(_ context.Context, source, stream string) ([]sinks.Quarantined, error) {
	if err := s.available(); err != nil {
		return nil, err
	}
	var open []sinks.Quarantined
	for _, e := range s.store.Entries() {
		if e.Open && e.Source == source && e.Stream == stream {
			q := e.Quarantined
			if q.ID == "" {
				q.Content = q.Key()
			}
			q.Raw = nil
			open = append(open, q)
		}
	}
	slices.SortStableFunc(open, func(a, b sinks.Quarantined) int { return cmp.Compare(a.Key(), b.Key()) })
	return open, nil
}

// Rows returns stored rows, removed ones too.
func (s *Sink) Rows(_ context.Context, table, business string, ids []string) ([]sinks.StoredRow, error) {
	if err := s.available(); err != nil {
		return nil, err
	}
	if len(ids) > sinks.MaxRowIDs {
		return nil, fmt.Errorf("%d ids in one call", len(ids))
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var rows []sinks.StoredRow
	for _, id := range ids {
		r := s.store.tables[table][business+"\x00"+id]
		if r == nil {
			continue
		}
		row := sinks.StoredRow{ID: r.ID, Version: r.Version, Removed: r.Deleted, Reason: r.Reason, DeletedAt: r.DeletedAt}
		if r.batch != nil {
			row.Raw, row.Columns = []byte(r.Raw), r.columns()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Hashes returns the hashes of stored rows, removed ones too.
func (s *Sink) Hashes(_ context.Context, q sinks.HashQuery) ([]sinks.RowHash, error) {
	if err := s.available(); err != nil {
		return nil, err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var hashes []sinks.RowHash
	for key, r := range s.store.tables[q.Table] {
		business, _, _ := strings.Cut(key, "\x00")
		if business != q.Business || q.IDs != nil && !slices.Contains(q.IDs, r.ID) || q.IDs == nil && (r.ID < q.From || r.ID >= q.Before) {
			continue
		}
		raw := r.Raw
		if r.Deleted {
			raw = r.Tombstone
		}
		hashes = append(hashes, sinks.RowHash{ID: r.ID, Version: r.Version, Removed: r.Deleted, Hash: sinks.HashOf([]byte(raw))})
	}
	return hashes, nil
}
