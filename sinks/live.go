package sinks

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/go-faster/city"
)

// LiveQuery selects live rows of one business in one storage table.
type LiveQuery struct {
	Table, Business string
	Before          string // only ids below it; empty for all
	Day             string // sales orders only: of this business_day, YYYY-MM-DD
	// NotStatus: online orders only, those with another status.
	NotStatus []string
	// CreatedFrom: online orders only, those created then or later.
	CreatedFrom time.Time

	// Whose rows: all of the business when Source is empty and Locations nil; else
	// those that Source wrote last together with those of Locations, whoever
	// wrote them. Rows of Except are left out in any case. Tables without
	// locations know no Locations and no Except; in others the empty text stands
	// for rows that have no location.
	Source    string
	Locations []string
	Except    []string

	// Below is a version: only rows below it count; 0 for all.
	Below uint64

	After string // only ids above it; empty for all
	Limit int    // 0 for all
}

// LiveRow is what is needed of a live row to decide about it.
type LiveRow struct {
	ID       string
	Location string // empty where the row or its table has none
	Version  uint64
}

// LivePages reads live rows as [Sink.Live] does, a page of q.Limit rows at a time, in order
// of id. A row that is stored meanwhile comes when its id is above those read already. The
// first error ends the reading.
func LivePages(ctx context.Context, s Sink, q LiveQuery) iter.Seq2[[]LiveRow, error] {
	return func(yield func([]LiveRow, error) bool) {
		for {
			rows, err := s.Live(ctx, q)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(rows) == 0 || !yield(rows, nil) || len(rows) < q.Limit || q.Limit == 0 {
				return
			}
			q.After = rows[len(rows)-1].ID
		}
	}
}

// MaxRowIDs is how many ids one call of Rows may ask for.
const MaxRowIDs = 1000

// StoredRow is a row as it stands in the warehouse.
type StoredRow struct {
	ID      string
	Version uint64
	Removed bool
	Reason  string // why it was removed
	// DeletedAt is when it was removed, zero when that is not known.
	DeletedAt time.Time
	Raw       []byte // the row as received when it was last live; nil when it never was
	// Columns are the typed columns by name, as JSON: text, decimals (exactly as
	// many digits as the column has), instants (RFC 3339, UTC, six decimals) and
	// days as strings, integers as numbers, maps as objects, lists as arrays.
	Columns map[string]json.RawMessage
}

// RowsByID reads rows as [Sink.Rows] does, of as many ids as there are.
func RowsByID(ctx context.Context, s Sink, table, business string, ids []string) (map[string]*StoredRow, error) {
	stored := make(map[string]*StoredRow, len(ids))
	for chunk := range slices.Chunk(ids, MaxRowIDs) {
		rows, err := s.Rows(ctx, table, business, chunk)
		if err != nil {
			return nil, fmt.Errorf("read the stored rows of %s: %w", table, err)
		}
		for i := range rows {
			stored[rows[i].ID] = &rows[i]
		}
	}
	return stored, nil
}

// HashQuery selects rows of one business in one storage table: those of IDs, or those from From on and
// below Before.
type HashQuery struct {
	Table, Business string
	IDs             []string
	From, Before    string
}

// RowHash is the newest version of a stored row, by a hash of its JSON as received.
type RowHash struct {
	ID      string
	Version uint64
	Removed bool
	Hash    uint64 // [HashOf] the row, or of the tombstone that removed it
}

// HashOf is the hash of a row's JSON.
func HashOf(raw []byte) uint64 { return city.CH64(raw) }

// ClaimTimeout is after how much silence a process is taken to be dead.
const ClaimTimeout = 30 * time.Second

// Process is one run of the program.
type Process struct {
	ID   string // never used again by another run
	Name string // for people: host and process id
}

// Claim is a process's wish to serve a source.
type Claim struct {
	Source  string
	Process Process
	Since   time.Time // when it was made, by the warehouse's clock, or when the process came back from silence
	BeatAt  time.Time // when the process last said that it is alive
}
