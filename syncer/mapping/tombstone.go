package mapping

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// tombstoneReader reads a row again, as a tombstone.
type tombstoneReader struct{ mapper *Mapper }

// Tombstone is a row deleted in the service (api.md, "Tombstone"). Only its id is needed. A
// deletion that is not applied leaves an order in the sales that is no sale any more. So a
// field that cannot be read counts as unknown and is reported as drift. The row is removed
// all the same.
type Tombstone struct {
	ID        string
	DeletedAt time.Time // zero when unknown
	UpdatedAt time.Time // zero when unknown
	Reason    string    // "deleted" when the row gives none
}

// reasons are those that api.md names.
var reasons = []string{"deleted", "cancelled", "unpaid"}

// deleted reads the field that tells tombstones from live rows.
func (r *tombstoneReader) deleted() error {
	value, err := r.mapper.dec.ReadValue()
	switch {
	case err != nil:
		return r.mapper.syntax(err)
	case value[0] == 't':
		return errDeleted
	case value[0] == 'f':
		return nil
	default:
		return r.mapper.bad(value, "want true or false")
	}
}

// tombstone reads the row again, as a tombstone.
func (r *tombstoneReader) tombstone() (Result, error) {
	r.mapper.drift.items = r.mapper.drift.items[:0]
	r.mapper.read(r.mapper.raw, decodeOptions(r.mapper.raw)...)
	t := &Tombstone{Reason: "deleted"}
	err := r.readTombstone(t)
	if err == nil {
		err = r.mapper.end()
	}
	if err != nil {
		return Result{}, r.mapper.identity.identified(err)
	}
	return Result{ID: t.ID, Tombstone: t, UpdatedAt: t.UpdatedAt, Drift: r.mapper.drift.items}, nil
}

func (r *tombstoneReader) readTombstone(t *Tombstone) error {
	if _, err := r.mapper.dec.ReadToken(); err != nil {
		return r.mapper.syntax(err)
	}
	came := map[string]bool{}
	for r.mapper.dec.PeekKind() != '}' {
		name, err := r.mapper.dec.ReadValue()
		if err != nil {
			return r.mapper.syntax(err)
		}
		path := r.mapper.drift.path("", r.mapper.text(name))
		if path == "id" || path == "deleted" {
			if came[path] {
				return r.mapper.bad(nil, "there twice")
			}
			came[path] = true
		}
		value, err := r.mapper.dec.ReadValue()
		if err != nil {
			return r.mapper.syntax(err)
		}
		if err := r.tombstoneField(t, path, value); err != nil {
			return err
		}
	}
	if _, err := r.mapper.dec.ReadToken(); err != nil {
		return r.mapper.syntax(err)
	}
	if t.ID == "" {
		return r.mapper.missing("id")
	}
	return nil
}

func (r *tombstoneReader) tombstoneField(t *Tombstone, name string, value jsontext.Value) (err error) {
	switch name {
	case "id":
		t.ID, err = r.idOf(value)
	case "deleted":
	case "deleted_at":
		t.DeletedAt = r.instantOf(name, value)
	case "updated_at":
		t.UpdatedAt = r.instantOf(name, value)
	case "reason":
		r.reason(t, value)
	default:
		r.mapper.drift.report(name, DriftField, value)
	}
	return err
}

func (r *tombstoneReader) idOf(value jsontext.Value) (string, error) {
	if value[0] != '"' {
		return "", r.mapper.bad(value, "want a string")
	}
	text, whole := r.mapper.wholeText(value)
	switch {
	case len(text) == 0:
		return "", r.mapper.bad(value, "want a string that is not empty")
	case len(text) > maxID:
		return "", r.mapper.bad(value, tooLong)
	case !whole:
		return "", r.mapper.bad(value, halfSurrogate)
	}
	return string(text), nil
}

// reason reads why the row was removed; one that api.md does not name is kept.
func (r *tombstoneReader) reason(t *Tombstone, value jsontext.Value) {
	if value[0] == 'n' {
		return
	}
	if value[0] == '"' {
		if text := r.mapper.text(value); len(text) > 0 {
			t.Reason = string(text)
		}
	}
	if value[0] != '"' || !slices.Contains(reasons, string(r.mapper.text(value))) {
		r.mapper.drift.report("reason", DriftValue, value)
	}
}

// instantOf reads an instant; one that is none, or that cannot be stored, is
// unknown.
func (r *tombstoneReader) instantOf(name string, value jsontext.Value) time.Time {
	if value[0] == 'n' {
		return time.Time{}
	}
	if value[0] == '"' {
		if micros, finer, reason := parseInstant(r.mapper.text(value)); reason == "" {
			if finer {
				r.mapper.drift.report(name, DriftDigits, value)
			}
			return time.UnixMicro(micros).UTC()
		}
	}
	r.mapper.drift.report(name, DriftValue, value)
	return time.Time{}
}
