package stream

import "github.com/larder-sync/larder/internal/api"

// RequestsLeft is how many pages are still to come when total live rows are known
// to exist, rows of them have come, and removed tombstones between them.
func RequestsLeft(total, rows, removed uint64) uint64 {
	remaining := uint64(1) // the page that says it is the last
	if total > rows {
		remaining = total - rows
	}
	if rows > 0 {
		remaining += remaining * removed / rows
	}
	return (remaining + api.PageLimit - 1) / api.PageLimit
}
