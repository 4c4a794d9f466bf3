package list

import (
	"time"

	"github.com/larder-sync/larder/internal/api"
)

// Page is one page of a list, and what its walk notes beside it.
type Page struct {
	api.Page
	at time.Time // when it was answered: see [stream.Stream.AnsweredAt]

	versions uint64 // the first of the versions reserved for its rows
	reserved int
	took     time.Duration
}
