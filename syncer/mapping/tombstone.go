package mapping

import (
	"cmp"
	"slices"
	"time"
)

// Tombstone is a row deleted in the service (docs/openapi.yaml, Tombstone). Only its id is needed. A
// deletion that is not applied leaves an order in the sales that is no sale any more. So a
// field that cannot be read counts as unknown and is reported as drift. The row is removed
// all the same.
type Tombstone struct {
	ID        string
	DeletedAt time.Time // zero when unknown
	UpdatedAt time.Time // zero when unknown
	Reason    string    // "deleted" when the row gives none
}

// reasons are those that the API's description names.
var reasons = []string{"deleted", "cancelled", "unpaid"}

// deleted reads the field that tells tombstones from live rows.
func (m *Mapper) deleted() error {
	value, err := m.value()
	switch {
	case err != nil:
		return err
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
	m.beginRow(m.raw)
	t := &Tombstone{Reason: "deleted"}
	seen := map[string]bool{}
	err := m.members(func(quoted []byte) error {
		name, _ := m.text(quoted)
		path := m.path("", name)
		value, err := m.value()
		if err != nil {
			return err
		}
		switch path {
		case "id", "deleted":
			if seen[path] {
				return m.bad(nil, "there twice")
			}
			if seen[path] = true; path == "id" {
				t.ID, err = m.id(value)
			}
		case "deleted_at":
			t.DeletedAt = m.instant(path, value)
		case "updated_at":
			t.UpdatedAt = m.instant(path, value)
		case "reason":
			t.Reason = m.reason(value)
		default:
			m.note(path, DriftField, m.kept(value))
		}
		return err
	})
	if err == nil && t.ID == "" {
		err = m.missing("id")
	}
	if err == nil {
		err = m.end()
	}
	return Result{ID: t.ID, Tombstone: t, UpdatedAt: t.UpdatedAt, Drift: m.drift}, err
}

// reason reads why the row was removed; one that the API's description does not name is kept.
func (m *Mapper) reason(value []byte) string {
	var text []byte
	if value[0] == '"' {
		text, _ = m.text(value)
	}
	if value[0] != 'n' && !slices.Contains(reasons, string(text)) {
		m.note("reason", DriftValue, m.kept(value))
	}
	return cmp.Or(string(text), "deleted")
}

// instant reads an instant; one that is none, or that cannot be stored, is unknown.
func (m *Mapper) instant(name string, value []byte) time.Time {
	if value[0] == 'n' {
		return time.Time{}
	}
	if value[0] == '"' {
		text, _ := m.text(value)
		if micros, finer, reason := parseInstant(text); reason == "" {
			if finer {
				m.note(name, DriftDigits, m.kept(value))
			}
			return time.UnixMicro(micros).UTC()
		}
	}
	m.note(name, DriftValue, m.kept(value))
	return time.Time{}
}
