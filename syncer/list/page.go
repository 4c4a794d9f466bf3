package list

import (
	"time"

	"github.com/larder-sync/larder/internal/api"
)

// Page is one page of a list, and what its walk notes beside it.
type Page struct {
	api.Page
	at   time.Time // by the service's clock, to the second of its Date header
	came time.Time // the same, as fine as it is known

	versions uint64 // the first of the versions reserved for its rows
	reserved int
	took     time.Duration
}
