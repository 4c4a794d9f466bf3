package sinks_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/sinks"
)

// counting has live rows with the ids 1 to rows, and refuses to read from the id refused on.
type counting struct {
	sinks.Sink
	rows    int
	refused string
	reads   []string // what each read was to come after
}

var errRefused = errors.New("refused")

func (c *counting) Live(_ context.Context, q sinks.LiveQuery) (rows []sinks.LiveRow, err error) {
	c.reads = append(c.reads, q.After)
	if c.refused != "" && q.After >= c.refused {
		return nil, errRefused
	}
	for n := 1; n <= c.rows; n++ {
		if id := fmt.Sprint(n); id > q.After && (q.Limit == 0 || len(rows) < q.Limit) {
			rows = append(rows, sinks.LiveRow{ID: id})
		}
	}
	return rows, nil
}

// TestLivePages reads no page behind the last one, and none behind an error or behind the
// one at which its caller stops.
func TestLivePages(t *testing.T) {
	for name, c := range map[string]struct {
		sink  counting
		limit int
		stop  int // after so many pages; 0 for never
		pages []string
		reads []string
		err   error
	}{
		"nothing":           {limit: 2, reads: []string{""}},
		"a short last page": {sink: counting{rows: 5}, limit: 2, pages: []string{"12", "34", "5"}, reads: []string{"", "2", "4"}},
		"a full last page":  {sink: counting{rows: 4}, limit: 2, pages: []string{"12", "34"}, reads: []string{"", "2", "4"}},
		"no limit":          {sink: counting{rows: 4}, pages: []string{"1234"}, reads: []string{""}},
		"an error":          {sink: counting{rows: 5, refused: "2"}, limit: 2, pages: []string{"12"}, reads: []string{"", "2"}, err: errRefused},
		"stopped":           {sink: counting{rows: 5}, limit: 2, stop: 1, pages: []string{"12"}, reads: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var pages []string
			var failed error
			for rows, err := range sinks.LivePages(t.Context(), &c.sink, sinks.LiveQuery{Limit: c.limit}) {
				if failed = err; err != nil {
					continue
				}
				page := ""
				for _, r := range rows {
					page += r.ID
				}
				if pages = append(pages, page); len(pages) == c.stop {
					break
				}
			}
			if diff := cmp.Diff(c.pages, pages) + cmp.Diff(c.reads, c.sink.reads); diff != "" || !errors.Is(failed, c.err) {
				t.Errorf("%v (-want +got):\n%s", failed, diff)
			}
		})
	}
}

// Rows has what stands of even ids.
func (c *counting) Rows(_ context.Context, _, _ string, ids []string) (rows []sinks.StoredRow, err error) {
	if len(ids) > sinks.MaxRowIDs {
		return nil, errRefused
	}
	for _, id := range ids {
		if n, _ := strconv.Atoi(id); n%2 == 0 {
			rows = append(rows, sinks.StoredRow{ID: id})
		}
	}
	return rows, nil
}

// TestRowsByID reads more rows than one call may ask for.
func TestRowsByID(t *testing.T) {
	var ids []string
	for n := range 2*sinks.MaxRowIDs + 10 {
		ids = append(ids, strconv.Itoa(n))
	}
	rows, err := sinks.RowsByID(t.Context(), &counting{}, "products", "b", ids)
	if err != nil || len(rows) != len(ids)/2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for id, row := range rows {
		if row.ID != id {
			t.Errorf("%q stands for %q", row.ID, id)
		}
	}
}
