package memsink

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/larder-sync/larder/sinks"
)

// Personal implements [sinks.Sink].
func (s *Sink) Personal() sinks.Personal { return personalData{s} }

type personalData struct{ sink *Sink }

// Forgotten implements [sinks.Personal].
func (p personalData) Forgotten(_ context.Context, business string) (ids []string, err error) {
	if err := p.sink.available(); err != nil {
		return nil, err
	}
	s := p.sink.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.forgotten[business]), nil
}

// Forget implements [sinks.Personal].
func (p personalData) Forget(_ context.Context, business, _ string, ids []string) error {
	if err := p.sink.available(); err != nil {
		return err
	}
	s := p.sink.store
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten[business] = append(s.forgotten[business], ids...)
	return nil
}

// Versions implements [sinks.Personal]: of rows, the newest.
func (p personalData) Versions(_ context.Context, q sinks.VersionQuery, each func(sinks.RowVersion) error) error {
	if err := p.sink.available(); err != nil {
		return err
	}
	for _, v := range p.sink.store.versions(q) {
		if err := each(v); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) versions(q sinks.VersionQuery) (found []sinks.RowVersion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	selected := func(source, id string) bool {
		return (q.Source == "" || q.Source == source) && (q.IDs == nil || slices.Contains(q.IDs, id))
	}
	if q.Quarantine {
		for _, e := range s.entries {
			if e.Stream == q.Table && s.business[e.Source] == q.Business && selected(e.Source, e.ID) {
				found = append(found, sinks.RowVersion{Source: e.Source, ID: e.ID, Version: e.Version, Raw: bytes.Clone(e.Raw)})
			}
		}
		return found
	}
	for key, r := range s.tables[q.Table] {
		if strings.HasPrefix(key, q.Business+"\x00") && selected(r.Source, r.ID) && r.batch != nil && r.filled(q.Filled) {
			found = append(found, sinks.RowVersion{Source: r.Source, ID: r.ID, Version: r.Version, Raw: []byte(r.Raw), Tombstone: []byte(r.Tombstone)})
		}
	}
	return found
}

// filled is true when one of the columns is not null; without columns, always.
func (r *stored) filled(columns []string) bool {
	values := r.columns()
	return len(columns) == 0 || slices.ContainsFunc(columns, func(name string) bool {
		var list []json.RawMessage
		if json.Unmarshal(values[name], &list) == nil && list != nil {
			return slices.ContainsFunc(list, func(v json.RawMessage) bool { return string(v) != "null" })
		}
		return string(values[name]) != "null"
	})
}

// CountFilled implements [sinks.Personal].
func (p personalData) CountFilled(_ context.Context, table, business, source string, columns []string) (int, error) {
	return len(p.sink.store.versions(sinks.VersionQuery{Table: table, Business: business, Source: source, Filled: columns})), p.sink.available()
}

// Redact implements [sinks.Personal].
func (p personalData) Redact(_ context.Context, r sinks.Redaction) error {
	if err := p.sink.available(); err != nil {
		return err
	}
	s := p.sink.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, v := range r.Versions {
		if r.Quarantine {
			s.redactEntry(r.Table, v)
			continue
		}
		row := s.tables[r.Table][r.Business+"\x00"+v.ID]
		if row == nil || row.Version != v.Version || row.Source != v.Source {
			continue
		}
		if err := row.redact(r, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) redactEntry(stream string, v sinks.RowVersion) {
	if v.ID == "" {
		s.entries = slices.DeleteFunc(s.entries, func(e Entry) bool {
			return e.Stream == stream && e.Source == v.Source && e.ID == "" && e.Version == v.Version
		})
		return
	}
	for i := range s.entries {
		if e := &s.entries[i]; e.Stream == stream && e.Source == v.Source && e.ID == v.ID && e.Version == v.Version {
			e.Raw = v.Raw
		}
	}
}

func (r *stored) redact(by sinks.Redaction, i int) error {
	r.Raw, r.Tombstone = string(by.Versions[i].Raw), string(by.Versions[i].Tombstone)
	edited := map[string]json.RawMessage{}
	for name, value := range r.edited {
		edited[name] = value
	}
	for _, name := range by.Null {
		edited[name] = json.RawMessage("null")
		var list []json.RawMessage
		if json.Unmarshal(r.columns()[name], &list) == nil && list != nil {
			text, err := json.Marshal(make([]any, len(list)))
			if err != nil {
				return err
			}
			edited[name] = text
		}
	}
	for name, values := range by.Texts {
		edited[name] = json.RawMessage("null")
		if values[i] != "" {
			text, err := json.Marshal(values[i])
			if err != nil {
				return err
			}
			edited[name] = text
		}
	}
	r.edited = edited
	return nil
}

// Recover implements [sinks.Personal]: a Redact is never cut in its middle here.
func (p personalData) Recover(context.Context) error { return p.sink.available() }

// EraseDrift implements [sinks.Personal].
func (p personalData) EraseDrift(_ context.Context, business, source, stream string, ids []string) error {
	if err := p.sink.available(); err != nil {
		return err
	}
	s := p.sink.store
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drift = slices.DeleteFunc(s.drift, func(d reported) bool {
		return d.stream == stream && s.business[d.source] == business && (source == "" || d.source == source) && (ids == nil || slices.Contains(ids, d.row))
	})
	return nil
}

// Detached implements [sinks.Personal]: there are no parts.
func (p personalData) Detached(context.Context, string) (int, error) { return 0, p.sink.available() }
