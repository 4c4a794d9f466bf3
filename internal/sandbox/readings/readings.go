// Package readings is the choices between what the API's description leaves open. Contents: the choices alone.
package readings

import "time"

// Readings choose between readings that the API's description leaves open. The zero value is
// the likeliest reading of each.
type Readings struct {
	// RangeByChange lists range mode in order of change, not of created_at.
	RangeByChange bool
	// NeverPaidTombstones lists orders that never were sales in mirror mode, as
	// tombstones of ids never seen.
	NeverPaidTombstones bool
	// NullUpdatedAt makes every n-th category, product and ingredient a row that
	// has no updated_at until it changes; 0 for none. They are left out of walks
	// with updated_since.
	NullUpdatedAt int
	// NullTombstones gives every tombstone of those lists, and every fourth of
	// orders removed after New, a null updated_at and deleted_at; they come in
	// every walk that shows tombstones.
	NullTombstones bool
	// StampDelay lets live changes show up to so long after their stamp; at most
	// two minutes.
	StampDelay time.Duration
	// StampPrecision truncates instants: 1s lets hundreds of rows share one
	// updated_at. Default 1ms; 100ns and 1ns write 7 and 9 decimals.
	StampPrecision time.Duration
	// LongFloats writes percentages and rates with as many decimals as a binary
	// float that was calculated with.
	LongFloats bool
	// SharedIDs gives the rows of all restaurants the same ids.
	SharedIDs bool
	// StrangeIDs makes ids with slashes, percent signs, quotes, spaces, emoji,
	// and ids that differ only in case.
	StrangeIDs bool
	// InactiveRowsHidden takes the rows of an inactive location out of the lists
	// and the sales; otherwise only /locations and /me lose it.
	InactiveRowsHidden bool
	// NewMapKeys adds a payment method, an order type and a channel that the API's description
	// does not know, in orders, in the maps of the daily totals and in products.
	NewMapKeys bool
	// TightestByLimit reports the limit with the smallest figure in
	// X-RateLimit-*, not the one with the least remaining.
	TightestByLimit bool
	// LooseRange allows to = from + 92 days; otherwise a range has at most 92
	// days, both ends counted.
	LooseRange bool
	// ShortPages answers at most so many rows a page, whatever limit is asked for;
	// 0 for as many as asked. The API's description says how many a page has at most, not that it
	// is full.
	ShortPages int
	// RemovedRefunds counts the refunds of orders that are no sale any more on the days
	// they were made.
	RemovedRefunds bool
	// GrossPerProduct rounds the gross of /sales/products once per row, not per line.
	GrossPerProduct bool
	// EmptyPages are so many pages without rows behind each page that has some, each under
	// a cursor of its own, as of a service that filters what it has read; 0 for none.
	EmptyPages int
	// OrderingOff switches online ordering off (ordering.status disabled).
	OrderingOff bool
}

// MaxStampDelay is the lookback that the API's description asks of clients; a change stamped
// further in the past could be missed by any of them.
const MaxStampDelay = 2 * time.Minute
