package api

import (
	"cmp"
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// Raw is one JSON value exactly as received. Rows of one answer share that
// answer's memory: keeping one row keeps the page; writing to one is wrong.
type Raw = []byte

// PageLimit is the most rows of a page (docs/openapi.yaml, limit).
const PageLimit = 200

// List is a cursor list of the API: rows and tombstones ([types.Tombstone]).
type List struct{ route route }

// ListAt is the cursor list of a path.
func ListAt(path string) List { return List{route{path: path}} }

// SalesOrders is the list of paid orders, which has a range mode too.
var SalesOrders = ListAt("/sales/orders")

// ListQuery selects rows of a list. Following a cursor, the filters must stay
// as they were (docs/openapi.yaml, Lists with a cursor).
type ListQuery struct {
	// UpdatedSince, when not zero, asks for rows changed at or after it,
	// tombstones included. On /sales/orders that is mirror mode.
	UpdatedSince   time.Time
	IncludeDeleted bool
	LocationID     string // empty: every location the key may use
	Cursor         string // empty: the first page
	Limit          int    // 0: PageLimit
	// From and To select range mode of /sales/orders, days inclusive, at most
	// 92. They cannot be combined with UpdatedSince.
	From, To types.Date
}

// Page is one page of a list.
type Page struct {
	Rows       []Raw
	NextCursor string // empty: none given
	HasMore    bool
	// PassedBy, of online orders: the page is full of orders that changed at this instant, and
	// others that did cannot be asked for.
	PassedBy time.Time
	Received
}

// Route is the list's name in errors and metrics, "GET /products".
func (l List) Route() string { return l.route.name() }

// Page asks for one page, which is the caller's to release.
func (l List) Page(ctx context.Context, c *Client, q ListQuery) (Page, error) {
	page, k, err := get(ctx, c, target{route: l.route}, q.encoded(), parsePage)
	page.Received = k.Received
	return page, err
}

// Pages hands out the list's pages from q.Cursor on, as [Follow] does.
func (l List) Pages(ctx context.Context, c *Client, q ListQuery) iter.Seq2[Page, error] {
	return Follow(ctx, q.Cursor, func(ctx context.Context, cursor string) (Page, error) {
		q.Cursor = cursor
		return l.Page(ctx, c, q)
	}, nil)
}

func (q ListQuery) encoded() query {
	deleted, since := "", ""
	if q.IncludeDeleted {
		deleted = "true"
	}
	if !q.UpdatedSince.IsZero() {
		since = micros(q.UpdatedSince).Format(time.RFC3339Nano)
	}
	return query("").with("cursor", q.Cursor).with("from", string(q.From)).with("include_deleted", deleted).
		with("limit", strconv.Itoa(cmp.Or(q.Limit, PageLimit))).with("location_id", q.LocationID).with("to", string(q.To)).with("updated_since", since)
}

// query is the query of an address, encoded, its parameters in alphabetical order as [net/url.Values] has them.
type query []byte

// with adds a parameter, unless its value is empty.
func (q query) with(name, value string) query {
	switch {
	case value == "":
		return q
	case len(q) == 0:
		q = make(query, 0, 128)
	default:
		q = append(q, '&')
	}
	return append(append(append(q, name...), '='), url.QueryEscape(value)...)
}
