package api

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/larder-sync/larder/internal/api/types"
)

// onlinePageLimit is the most orders of a page (docs/openapi.yaml, /orders).
const onlinePageLimit = 100

// OnlineOrders is the list of the orders placed through a key (docs/openapi.yaml, /orders), read as
// a cursor list: next_updated_since stands in the place of the cursor. It has no tombstones
// and no filter but updated_since.
var OnlineOrders onlineOrders

type onlineOrders struct{}

// Page asks for the orders that changed at or after q.Cursor, or q.UpdatedSince for the
// first page. Rows are what [Options.Keep] keeps of each order. The page is the caller's to
// release.
//
// A next_updated_since that does not move, or that is null behind a full page, does not end
// the list: the newest updated_at of the page takes its place.
func (onlineOrders) Page(ctx context.Context, c *Client, q ListQuery) (Page, error) {
	if c.opts.Keep == nil {
		return Page{}, errNothingKept
	}
	since := q.UpdatedSince
	if q.Cursor != "" {
		at, ok := instant(q.Cursor)
		if !ok {
			return Page{}, errors.New(routeOrders.name() + ": a cursor that is no instant: " + strconv.Quote(q.Cursor))
		}
		since = at
	}
	since = micros(since)
	asked := query("").with("limit", strconv.Itoa(onlinePageLimit)).with("updated_since", since.Format(time.RFC3339Nano))
	sent, k, err := get(ctx, c, target{route: routeOrders}, asked, parseOnline)
	page := Page{Received: k.Received}
	if err != nil {
		return page, err
	}
	for _, row := range sent.Rows {
		page.Rows = append(page.Rows, c.opts.Keep(row))
	}
	next, passed := behind(since, sent.NextCursor, sent.Rows)
	if passed {
		page.PassedBy = since
	}
	if !next.IsZero() {
		page.HasMore, page.NextCursor = true, next.Format(time.RFC3339Nano)
	}
	return page, nil
}

func parseOnline(body []byte) (p Page, err error) {
	v := struct {
		Data rows           `json:"data"`
		Next single[string] `json:"next_updated_since"`
	}{Data: rows{body: body, most: maxRows}}
	if err := parseObject(body, &v); err != nil {
		return p, err
	}
	if v.Data.list == nil {
		return p, errNoData
	}
	if _, ok := instant(v.Next.value); v.Next.value != "" && !ok {
		return p, shapeWrong(0, `"next_updated_since" is no instant`)
	}
	return Page{Rows: v.Data.list, NextCursor: v.Next.value}, nil
}

// instant reads an instant, cut to microseconds.
func instant(text string) (time.Time, bool) {
	at, err := types.Instant(text).Time()
	return micros(at), err == nil
}

// micros cuts an instant to microseconds, as checkpoints store it: a cursor belongs to the
// text of the updated_since that it was given for.
func micros(at time.Time) time.Time { return at.UTC().Truncate(time.Microsecond) }

// errNothingKept is of whoever makes a client: nothing must be read that nobody has decided
// on.
var errNothingKept = errors.New(routeOrders.name() + ": nothing says what is kept of a customer (Options.Keep)")

// behind is where the next page begins, zero when there is none; passed reports whether that
// may leave out orders.
func behind(since time.Time, next string, rows []Raw) (begin time.Time, passed bool) {
	newest := newestStamp(rows)
	at, _ := instant(next) // zero when it is empty: the page is refused of which it is no instant (parseOnline)
	full := len(rows) >= onlinePageLimit
	switch {
	case at.After(since):
		return at, false
	case next == "" && !full:
		return time.Time{}, false
	case newest.After(since):
		return newest, false
	case full:
		// More orders than fit on a page may have this one instant, and there is no asking
		// for the others: what comes after them must come all the same.
		return since.Add(time.Microsecond), true
	}
	return time.Time{}, false // it does not move, and nothing new came
}

// newestStamp is the newest updated_at of rows, zero for none.
func newestStamp(rows []Raw) (newest time.Time) {
	for _, raw := range rows {
		var row struct {
			UpdatedAt string `json:"updated_at"`
		}
		if json.Unmarshal(raw, &row, lenient) != nil {
			continue
		}
		if at, ok := instant(row.UpdatedAt); ok && at.After(newest) {
			newest = at
		}
	}
	return newest
}

// OnlineOrder asks for an order placed through the key, and returns what [Options.Keep] keeps of it.
func (c *Client) OnlineOrder(ctx context.Context, id string) (Row, error) {
	if c.opts.Keep == nil {
		return Row{}, errNothingKept
	}
	raw, k, err := get(ctx, c, target{route: routeOrder, id: id}, nil, parseRow)
	if err != nil {
		return Row{}, err
	}
	k.Release()
	return Row{bytes.Clone(c.opts.Keep(raw)), k.Received}, nil
}
