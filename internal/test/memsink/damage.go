package memsink

import (
	"encoding/json"
	"maps"
	"time"
)

// What follows changes rows behind the back of whoever wrote them, as a mistake or
// a person at the warehouse does.

// Edit changes a stored row.
func (s *Store) Edit(table, business, id string, change func(*Row)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := mustRow(s, table, business, id)
	change(&r.Row)
	r.sale, r.refunds = nil, nil
}

// EditColumn makes a typed column of a stored row hold a value, given as JSON.
func (s *Store) EditColumn(table, business, id, column, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := mustRow(s, table, business, id)
	edited := maps.Clone(r.edited)
	if edited == nil {
		edited = map[string]json.RawMessage{}
	}
	edited[column] = json.RawMessage(value)
	r.edited, r.sale, r.refunds = edited, nil, nil
	switch column {
	case "business_day":
		r.Day = daysSince(value)
	case "location_id":
		r.Location = scalar[string](edited, column)
	}
}

// daysSince are the days since 1970 of a day, given as JSON.
func daysSince(value string) int64 {
	day, err := time.Parse(`"`+time.DateOnly+`"`, value)
	if err != nil {
		panic("no day: " + err.Error())
	}
	return day.Unix() / 86400
}

// Lose deletes a row as if it had never been stored.
func (s *Store) Lose(table, business, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mustRow(s, table, business, id)
	delete(s.tables[table], business+"\x00"+id)
}

// Copy stores a row once more under another id.
func (s *Store) Copy(table, business, id, as string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := *mustRow(s, table, business, id)
	r.ID = as
	s.tables[table][business+"\x00"+as] = &r
}

// Release closes the open quarantine entries of a row.
func (s *Store) Release(source, stream, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.entries {
		if e := &s.entries[i]; e.Source == source && e.Stream == stream && e.ID == id {
			e.Open = false
		}
	}
}

// mustRow is a row that is about to be changed.
func mustRow(s *Store, table, business, id string) *stored {
	s.ordersChanged++
	r := s.tables[table][business+"\x00"+id]
	if r == nil {
		panic("no row " + id + " in " + table)
	}
	return r
}
