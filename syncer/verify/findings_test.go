package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/stream"
)

// What the API shows of a row and what is stored of it, for rows that are not live on both sides;
// those are compared by [mapping.Comparer].
func TestWhatIsADifference(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	live := answer{id: "a", raw: []byte(`{"id":"a"}`)}
	removed := answer{id: "a", raw: []byte(`{"id":"a","deleted":true}`), tombstone: &mapping.Tombstone{Reason: "deleted", DeletedAt: at}}
	stored := func(change func(*sinks.StoredRow)) *sinks.StoredRow {
		r := &sinks.StoredRow{ID: "a"}
		change(r)
		return r
	}
	alive := stored(func(*sinks.StoredRow) {})
	removedRow := stored(func(r *sinks.StoredRow) { r.Removed, r.Reason, r.DeletedAt = true, "deleted", at })
	for name, c := range map[string]struct {
		api       answer
		stored    *sinks.StoredRow
		locations []string // of the configuration
		want      string   // field: what the API shows, what is stored
	}{
		"neither":                                 {answer{}, nil, nil, ""},
		"not stored":                              {live, nil, nil, `: "live" "absent"`},
		"not stored, and need not be":             {answer{id: "a", raw: live.raw, optional: true}, nil, nil, ""},
		"not shown":                               {answer{}, alive, nil, `: "absent" "live"`},
		"not shown, and removed":                  {answer{}, removedRow, nil, ""},
		"listed by another source":                {answer{elsewhere: true}, alive, nil, ""},
		"live, and removed":                       {live, removedRow, nil, `: "live" "removed: deleted"`},
		"a tombstone, and live":                   {removed, alive, nil, `: "removed: deleted" "live"`},
		"a tombstone, not stored":                 {removed, nil, nil, `: "removed: deleted" "absent"`},
		"a tombstone of any location, not stored": {removed, nil, []string{"l1"}, ""},
		"removed on both sides":                   {removed, removedRow, nil, ""},
		"removed for another reason": {
			removed, stored(func(r *sinks.StoredRow) { r.Removed, r.Reason, r.DeletedAt = true, "gone", at }), nil, `reason: "deleted" "gone"`,
		},
		"removed at no known time": {
			removed, stored(func(r *sinks.StoredRow) { r.Removed, r.Reason = true, "deleted" }), nil, `deleted_at: "2026-03-01T12:00:00.000000Z" null`,
		},
	} {
		v := &verification{stream: &stream.Stream{Source: &stream.Source{OnlyLocations: c.locations}}}
		var got []string
		for _, d := range v.differences(c.api, c.stored) {
			got = append(got, d.Field+": "+d.API+" "+d.Mirror)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}
