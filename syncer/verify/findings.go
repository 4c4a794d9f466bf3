package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

func (v *verification) finding(kind, id string) Finding {
	return Finding{Kind: kind, Source: v.stream.Source.Name, Stream: v.stream.Def.Name, ID: id}
}

// The bounds of what is reported of one row.
const (
	maxFields = 20
	maxBytes  = 2000
)

// differs reports the differences of one row.
func (v *verification) differs(id string, found []mapping.Difference) {
	v.locked(func() { v.result.Differences++ })
	hint := v.hint(found)
	for i, d := range found {
		f := v.finding(FoundDifference, id)
		f.Hint = hint
		if i == maxFields {
			f.Field = fmt.Sprintf("%d more fields", len(found)-i)
			v.pass.tell(f)
			return
		}
		f.Field, f.Column, f.API, f.Mirror = d.Field, d.Column, excerpt(d.API), excerpt(d.Mirror)
		v.pass.tell(f)
	}
}

const (
	hintResync  = "no incremental walk brings this; a full resync does: larder sync --full"
	hintTotals  = "days before yesterday, and single locations, are asked for again in the nightly deep run, days before the last 92 in the next full resync; larder reconcile --from and --to asks for them at once"
	hintColumns = "the typed columns are not what the stored row says; a full resync writes them anew (larder sync --full), and what differs then is a mistake of Larder: please report it"
)

// hint is what heals a difference.
func (v *verification) hint(found []mapping.Difference) string {
	switch {
	case !slices.ContainsFunc(found, func(d mapping.Difference) bool { return !d.Column }):
		return hintColumns
	case v.unserved:
		return fmt.Sprintf("no process serves source %s, so that what changed since its last walk differs as well: let larder run or larder sync bring it, then verify again; if it differs then: %s", v.stream.Source.Name, v.heals)
	case v.far:
		return fmt.Sprintf("the next two turns of %s by schedule are off or too far away and were not waited for: let larder sync bring what has changed, then verify again; if it differs then: %s", v.stream.Def.Name, v.heals)
	default:
		return v.heals
	}
}

// excerpt cuts a long value, which becomes a text.
func excerpt(value string) json.RawMessage {
	if len(value) > maxBytes {
		value = mapping.Literal(text.Short(value, maxBytes))
	}
	if value == "" {
		return nil
	}
	return json.RawMessage(value)
}

// differences compares what the API says of a row with what is stored.
func (v *verification) differences(a answer, stored *sinks.StoredRow) (found []mapping.Difference) {
	live := a.raw != nil && a.tombstone == nil
	switch {
	case stored == nil && (a.raw == nil || a.optional):
		return nil
	case stored == nil && a.tombstone != nil && len(v.stream.Source.OnlyLocations) > 0:
		return nil // of a row of any location
	case stored == nil:
		return wholeRow(a.state(), "absent")
	case live && stored.Removed:
		return wholeRow(a.state(), removed(stored.Reason))
	case live:
		return v.comparer.Differences(a.raw, stored, a.context...)
	case a.elsewhere:
		return nil
	case !stored.Removed:
		return wholeRow(a.state(), "live")
	case a.raw == nil:
		return nil // live on neither side
	}
	if t := a.tombstone; t.Reason != stored.Reason {
		found = append(found, mapping.Difference{Field: "reason", API: mapping.Literal(t.Reason), Mirror: mapping.Literal(stored.Reason)})
	}
	if t := a.tombstone; !t.DeletedAt.Equal(stored.DeletedAt) {
		found = append(found, mapping.Difference{Field: "deleted_at", API: instant(t.DeletedAt), Mirror: instant(stored.DeletedAt)})
	}
	return found
}

func removed(reason string) string { return "removed: " + reason }

func (a answer) state() string {
	switch {
	case a.raw == nil:
		return "absent"
	case a.tombstone != nil:
		return removed(a.tombstone.Reason)
	default:
		return "live"
	}
}

func wholeRow(api, mirror string) []mapping.Difference {
	return []mapping.Difference{{API: mapping.Literal(api), Mirror: mapping.Literal(mirror)}}
}

func instant(at time.Time) string {
	if at.IsZero() {
		return "null"
	}
	return mapping.Literal(at.UTC().Format(mapping.InstantColumn))
}
