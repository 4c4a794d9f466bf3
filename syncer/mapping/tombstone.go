package mapping

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Tombstone is a row deleted in the service (api.md, "Tombstone"). All it needs is
// an id: a removal that is not noticed leaves a sale that is none, so whatever else
// is not understood counts as unknown, is reported as drift, and stops no burial.
type Tombstone struct {
	ID        string
	DeletedAt time.Time // zero when unknown
	UpdatedAt time.Time // zero when unknown
	Reason    string    // "deleted" when the row gives none
}

// reasons are those that api.md names.
var reasons = []string{"deleted", "cancelled", "unpaid"}

// deleted reads the field that tells tombstones from live rows.
func (m *Mapper) deleted() error {
	value, err := m.dec.ReadValue()
	switch {
	case err != nil:
		return m.syntax(err)
	case value[0] == 't':
		return errDeleted
	case value[0] == 'f':
		return nil
	default:
		return m.bad(value, "want true or false")
	}
}

// tombstone reads the row again, as a tombstone.
func (m *Mapper) tombstone() (Result, error) {
	m.drift = m.drift[:0]
	m.read(m.raw, jsontext.AllowDuplicateNames(true))
	t := &Tombstone{Reason: "deleted"}
	err := m.readTombstone(t)
	if err == nil {
		err = m.end()
	}
	if err != nil {
		return Result{}, m.identified(err)
	}
	return Result{ID: t.ID, Tombstone: t, UpdatedAt: t.UpdatedAt, Drift: m.drift}, nil
}

func (m *Mapper) readTombstone(t *Tombstone) error {
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	came := map[string]bool{}
	for m.dec.PeekKind() != '}' {
		name, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		path := m.path("", m.text(name))
		if path == "id" || path == "deleted" {
			if came[path] {
				return m.bad(nil, "there twice")
			}
			came[path] = true
		}
		value, err := m.dec.ReadValue()
		if err != nil {
			return m.syntax(err)
		}
		if err := m.tombstoneField(t, path, value); err != nil {
			return err
		}
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return m.syntax(err)
	}
	if t.ID == "" {
		return m.missing("id")
	}
	return nil
}

func (m *Mapper) tombstoneField(t *Tombstone, name string, value jsontext.Value) (err error) {
	switch name {
	case "id":
		if t.ID, err = m.textOf(value); err == nil && t.ID == "" {
			err = m.bad(value, "want a string that is not empty")
		}
		if len(t.ID) > maxID {
			err = m.bad(value, tooLong)
		}
	case "deleted":
	case "deleted_at":
		t.DeletedAt = m.instantOf(name, value)
	case "updated_at":
		t.UpdatedAt = m.instantOf(name, value)
	case "reason":
		m.reason(t, value)
	default:
		m.report(name, DriftField, value)
	}
	return err
}

func (m *Mapper) textOf(value jsontext.Value) (string, error) {
	if value[0] != '"' {
		return "", m.bad(value, "want a string")
	}
	return string(m.text(value)), nil
}

// reason reads why the row was removed; one that api.md does not name is kept.
func (m *Mapper) reason(t *Tombstone, value jsontext.Value) {
	if value[0] == 'n' {
		return
	}
	if value[0] == '"' {
		if text := m.text(value); len(text) > 0 {
			t.Reason = string(text)
		}
	}
	if value[0] != '"' || !slices.Contains(reasons, string(m.text(value))) {
		m.report("reason", DriftValue, value)
	}
}

// instantOf reads an instant; one that is none, or that cannot be stored, is
// unknown.
func (m *Mapper) instantOf(name string, value jsontext.Value) time.Time {
	if value[0] == 'n' {
		return time.Time{}
	}
	if value[0] == '"' {
		if micros, reason := parseInstant(m.text(value)); reason == "" {
			return time.UnixMicro(micros).UTC()
		}
	}
	m.report(name, DriftValue, value)
	return time.Time{}
}
