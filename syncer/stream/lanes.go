package stream

import (
	"context"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/syncer/status"
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

// Forecast adds to the progress of a walk of a whole list how many pages are still to come, and how
// long they take. between is how many tombstones and left-out rows came so far among its rows; as many
// are expected among the rest.
func (l *Lanes) Forecast(p *status.Progress, between uint64, pace *Pace) {
	rows := uint64(1) // the page that says it is the last
	if p.TotalRows > p.Rows {
		rows = p.TotalRows - p.Rows
	}
	if p.Rows > 0 {
		rows += rows * between / p.Rows
	}
	p.RequestsLeft = (rows + api.PageLimit - 1) / api.PageLimit
	p.ExpectedLeft = status.Seconds(max(l.Key.Forecast(int(p.RequestsLeft), budget.Backfill, false), pace.Left(p.RequestsLeft)))
}

// ExpectDeep is how long so many questions of a deep run will take.
func (l *Lanes) ExpectDeep(questions int) time.Duration {
	return l.Key.Forecast(questions, budget.Deep, true)
}
