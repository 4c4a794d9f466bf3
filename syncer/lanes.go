package syncer

import (
	"context"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
)

// lanes are the ways of a source's streams to the API, one for each lane of its budget
// (DESIGN §6, B4).
type lanes struct {
	key       *budget.Key
	fresh     *api.Client // incremental walks and snapshots
	reconcile *api.Client // totals of yesterday and today, and what heals
	deep      *api.Client // totals of many days
	backfill  *api.Client // all that takes long
}

// awaitDeep waits until the limits have room for a question of a deep run.
func (l *lanes) awaitDeep(ctx context.Context) error { return l.key.Await(ctx, budget.Deep, true) }

// expect is how long so many requests of a backfill will take.
func (l *lanes) expect(requests int) time.Duration {
	return l.key.Forecast(requests, budget.Backfill, false)
}

// expectDeep is how long so many questions of a deep run will take.
func (l *lanes) expectDeep(questions int) time.Duration {
	return l.key.Forecast(questions, budget.Deep, true)
}
