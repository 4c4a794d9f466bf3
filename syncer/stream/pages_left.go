package stream

import "github.com/larder-sync/larder/internal/api"

// RequestsLeft is how many pages are still to come when total live rows are known
// to exist, rows of them have come, and removed tombstones between them.
func RequestsLeft(total, rows, removed uint64) uint64 {
	left := uint64(1) // the page that says it is the last
	if total > rows {
		left = total - rows
	}
	if rows > 0 {
		left += left * removed / rows
	}
	return (left + api.PageLimit - 1) / api.PageLimit
}
