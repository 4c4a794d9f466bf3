package stream

import (
	"context"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
)

// Lanes are the ways of a source's streams to the API, one for each lane of its budget
// (DESIGN §6, B4).
type Lanes struct {
	Key       *budget.Key
	Fresh     *api.Client // incremental walks and snapshots
	Reconcile *api.Client // totals of yesterday and today, and what heals
	Deep      *api.Client // totals of many days
	Backfill  *api.Client // all that takes long
}

// AwaitDeep waits until the limits have room for a question of a deep run.
func (l *Lanes) AwaitDeep(ctx context.Context) error { return l.Key.Await(ctx, budget.Deep, true) }

// Expect is how long so many requests of a backfill will take.
func (l *Lanes) Expect(requests int) time.Duration {
	return l.Key.Forecast(requests, budget.Backfill, false)
}

// ExpectDeep is how long so many questions of a deep run will take.
func (l *Lanes) ExpectDeep(questions int) time.Duration {
	return l.Key.Forecast(questions, budget.Deep, true)
}
